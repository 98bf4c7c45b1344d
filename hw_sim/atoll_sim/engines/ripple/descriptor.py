# SPDX-License-Identifier: Apache-2.0
"""One command of the ripple DMA engine as 64 bytes; docs/ripple.md is the contract."""

from struct import Struct
from typing import ClassVar

from atoll.records import dataclass
from atoll_sim.engines.common import encode

COPY = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor(encode.Descriptor):
    """The fields of one command, as docs/ripple.md lists them."""

    # Words 0; 1 to 3; 4; 5 to 8; 9 to 15.
    layout: ClassVar[Struct] = Struct("<BBH 3I 2H 4I 28s")
    opcode: int = COPY
    source: int
    destination: int
    row_bytes: int
    rows: int = 1
    more_planes: int = 0
    source_pitch: int = 0
    destination_pitch: int = 0
    source_plane: int = 0
    destination_plane: int = 0
    reserved_9: bytes = b""
