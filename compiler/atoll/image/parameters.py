# SPDX-License-Identifier: Apache-2.0
"""The constants that an application defines, held against what the networks in the image say.

Each network's object has a record of them in section ``.atoll.parameters``: texts in JSON, each
ended by a zero byte, with name, offset from the pool's origin, size and SHA-256 of each constant.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from atoll.bsp.linker import POOL_SECTION
from atoll.bsp.names import c_name
from atoll.errors import Fault
from atoll.image.elf import ElfImage
from atoll.resolve.soc import Pool, ResolvedSoc


@dataclass(frozen=True, slots=True)
class _Constant:
    """A constant as the network's object has it; the offset is from the pool's origin."""

    name: str
    offset: int
    size: int
    digest: str


def parameter_faults(soc: ResolvedSoc, image: ElfImage) -> Iterator[Fault]:
    """Yield a fault for each network and pool whose constants are not in the image as they are.

    Args:
        soc: the chip as the core of the image sees it.
        image: what was linked.
    """
    pools = {pool.name: pool for pool in soc.pools}
    for record in filter(None, image.parameters.split(b"\0")):
        try:
            said = json.loads(record)
            network, pool, constants = said["network"], said["pool"], said["constants"]
            expected = [
                _Constant(str(name), int(offset), int(size), str(digest))
                for name, offset, size, digest in constants
            ]
        except (ValueError, LookupError, TypeError):
            yield Fault(
                code="E220",
                message="what the image says of the application's parameters is damaged",
                at=None,
                remedy="link it again, and let no tool change section '.atoll.parameters'",
            )
            continue
        if pool in pools:
            yield from _faults(str(network), pools[pool], expected, image)
        else:
            yield Fault(
                code="E220",
                message=f"network '{network}' has parameters in pool '{pool}', and '{soc.name}'"
                " no such pool",
                at=None,
                remedy="describe the pool, or build the network for this chip",
            )


def _faults(
    network: str, pool: Pool, expected: list[_Constant], image: ElfImage
) -> Iterator[Fault]:
    found = {each: image.loaded(pool.region.origin + each.offset, each.size) for each in expected}
    missing = [each for each in expected if found[each] is None]
    wrong = [
        each
        for each, data in found.items()
        if data is not None and sha256(data).hexdigest() != each.digest
    ]
    for code, what, faulty in (("E220", "missing", missing), ("E221", "wrong", wrong)):
        if faulty:
            first = min(faulty, key=lambda each: each.offset)
            yield Fault(
                code=code,
                message=f"{len(faulty)} of {len(expected)} constants of network '{network}' in pool"
                f" '{pool.name}' are {what}, first '{first.name}', {first.size} B at"
                f" {pool.region.origin + first.offset:#010x}",
                at=pool.at,
                remedy=f"define an array of {_macro(network, pool)}_SIZE bytes in section"
                f" '{pool.section or POOL_SECTION + pool.name}', with the bytes"
                f" {_macro(network, pool)} of the header that this network came with",
            )


def _macro(network: str, pool: Pool) -> str:
    return f"{c_name(network)}_{pool.name}_CONSTANTS".upper()
