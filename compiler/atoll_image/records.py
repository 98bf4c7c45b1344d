# SPDX-License-Identifier: Apache-2.0
"""What networks in an image say of the arrays that the application defines for them.

Each network's object has it in section ``.atoll.parameters``: texts in JSON, each ended by a zero
byte, one for each pool.
"""

import json
from collections.abc import Iterator

from atoll.records import dataclass
from atoll_image.elf import ElfImage


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant as the network's object has it; the offset is from the pool's origin."""

    name: str
    offset: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a network needs of a pool.

    Attributes:
        constants: those that the application defines, none of a pool of workspaces.
        offset: of its workspace, from the pool's origin.
        size: of its workspace, 0 of a pool of constants.
    """

    network: str
    pool: str
    constants: tuple[Constant, ...] = ()
    offset: int = 0
    size: int = 0


def records(image: ElfImage) -> Iterator[Record | None]:
    """Yield what each network says of each pool, None for what is damaged."""
    for text in filter(None, image.parameters.split(b"\0")):
        try:
            yield _record(text)
        except (ValueError, LookupError, TypeError):
            yield None


def _record(text: bytes) -> Record:
    said = json.loads(text)
    network, pool = str(said["network"]), str(said["pool"])
    if "workspace" in said:
        offset, size = map(int, said["workspace"])
        if offset < 0 or size < 1:
            raise ValueError("a workspace without bytes")
        return Record(network=network, pool=pool, offset=offset, size=size)
    constants = tuple(
        Constant(str(name), int(offset), int(size), str(digest))
        for name, offset, size, digest in said["constants"]
    )
    return Record(network=network, pool=pool, constants=constants)
