# SPDX-License-Identifier: Apache-2.0
"""What a host's object says of the arrays that the application defines.

`atoll_image.records` reads it: texts in JSON, each ended by a zero byte, one for each network
and pool. Linker scripts keep them out of memory.
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256

from atoll.codegen.pool_images import behind
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import ResolvedSoc

SECTION = ".atoll.parameters"


def parameter_record(
    module: IRModule, plan: MemoryPlan, soc: ResolvedSoc, given: Mapping[str, bytes]
) -> bytes:
    """Return what the application defines of each pool, empty if that is nothing.

    Of the constants in the pools `given`: where each is, and the digest of its bytes. Of a
    workspace: its offset from the pool's origin, and its size.
    """
    told: list[dict[str, object]] = []
    for space in plan.problem.pools:
        start, size = behind(space, soc), plan.use[space.name].used
        where = {"network": module.name, "pool": space.name}
        if space.name in given:
            constants = list(_constants(module, plan, space.name, start, given[space.name]))
            told.append({**where, "constants": constants})
        elif size and soc.pool(space.name).provided == "application":
            told.append({**where, "workspace": [start, size]})
    return b"".join(json.dumps(each).encode() + b"\0" for each in told)


def _constants(
    module: IRModule, plan: MemoryPlan, pool: str, start: int, image: bytes
) -> Iterator[list[object]]:
    """Yield name, offset from the pool's origin, size and SHA-256 of each constant of a pool."""
    for constant in module.entry.constants:
        placement = plan.placements[constant.name]
        if placement.pool == pool:
            data = image[placement.offset : placement.offset + constant.size]
            digest = sha256(data).hexdigest()
            yield [constant.name, start + placement.offset, constant.size, digest]
