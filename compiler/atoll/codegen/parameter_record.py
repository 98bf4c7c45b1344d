# SPDX-License-Identifier: Apache-2.0
"""What a host's object says of the constants that the application defines.

`atoll.image.parameters` reads it: texts in JSON, each ended by a zero byte, one for each network
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
    """Return where each constant of the pools `given` is, and the digest of its bytes."""
    return b"".join(
        json.dumps(
            {
                "network": module.name,
                "pool": space.name,
                "constants": list(_constants(module, plan, space.name, start, given[space.name])),
            }
        ).encode()
        + b"\0"
        for space in plan.problem.pools
        if space.name in given
        for start in (behind(space, soc),)
    )


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
