"""One command of the ripple DMA engine as 64 bytes; docs/ripple.md is the contract."""

from dataclasses import dataclass
from struct import Struct

from atoll_sim.engines.common.encode import DESCRIPTOR_BYTES, with_check

DESCRIPTOR_VERSION = 1
COPY = 1

# Words 0; 1 to 3; 4; 5 and 6; 7 to 15.
_LAYOUT = Struct("<BBH 3I 2H 2I 36s")
assert _LAYOUT.size == DESCRIPTOR_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The fields of one command.

    Benches also use it to make illegal commands, so it checks nothing but that each value
    fits its bits (`struct.error` otherwise).
    """

    source: int
    destination: int
    row_bytes: int
    rows: int = 1
    source_pitch: int = 0
    destination_pitch: int = 0
    opcode: int = COPY
    version: int = DESCRIPTOR_VERSION
    check_flipped: int = 0
    reserved_4: int = 0
    reserved_7: bytes = b""

    def encode(self) -> bytes:
        """Return the 64 bytes that the engine reads."""
        fields = _LAYOUT.pack(
            self.opcode,
            self.version,
            0,
            self.source,
            self.destination,
            self.row_bytes,
            self.rows,
            self.reserved_4,
            self.source_pitch,
            self.destination_pitch,
            self.reserved_7,
        )
        return with_check(fields, self.check_flipped)
