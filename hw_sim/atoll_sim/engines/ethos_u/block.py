"""What a start of the NPU is told: one block of words, which the C driver reads too.

Little-endian words: `MAGIC`; address and bytes of the payload; how many regions there are; then
address and bytes of each of `REGIONS` regions. A region that the stream does not use has 0 bytes.
"""

import struct
from dataclasses import dataclass

MAGIC = int.from_bytes(b"ETHU", "little")
REGIONS = 8
"""Base addresses that an Ethos-U55 or U65 has."""

BLOCK_BYTES = 128
_FORMAT = f"<{4 + 2 * REGIONS}I"
_USED = struct.calcsize(_FORMAT)


@dataclass(frozen=True, slots=True)
class Block:
    """Addresses as the NPU sees them, and sizes in bytes.

    Attributes:
        payload: where Vela's commands are.
        regions: those of the base addresses, in their order; at most `REGIONS`.
    """

    payload: tuple[int, int]
    regions: tuple[tuple[int, int], ...]

    def encoded(self) -> bytes:
        """Return the bytes; regions that are not used are empty, where the first is."""
        spare = ((self.regions[0][0], 0),) * (REGIONS - len(self.regions))
        words = (MAGIC, *self.payload, len(self.regions))
        flat = (word for region in (*self.regions, *spare) for word in region)
        return struct.pack(_FORMAT, *words, *flat).ljust(BLOCK_BYTES, b"\0")


def decoded(data: bytes) -> Block | None:
    """Read a block; None if it is none."""
    magic, address, size, count, *rest = struct.unpack(_FORMAT, data[:_USED])
    if magic != MAGIC or not 1 <= count <= REGIONS or any(data[_USED:]):
        return None
    pairs = [*zip(rest[::2], rest[1::2], strict=True)]
    return Block((address, size), tuple(pairs[:count]))
