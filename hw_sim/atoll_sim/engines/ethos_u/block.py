# SPDX-License-Identifier: Apache-2.0
"""What a start of the NPU is told: one block of words, which the C driver reads too.

Little-endian words: `MAGIC`; address and bytes of the payload; how many regions there are; address
and bytes of each of `REGIONS`; a bit for each that is written; the CRC-32 of the payload and of the
words before. A region that the stream does not use has 0 bytes.
"""

import struct
from zlib import crc32

from atoll.records import dataclass

MAGIC = int.from_bytes(b"ETHU", "little")
REGIONS = 8
"""Base addresses that an Ethos-U has."""

BLOCK_BYTES = 128
_FORMAT = f"<{5 + 2 * REGIONS}I"
_CHECKED = struct.calcsize(_FORMAT)
_USED = _CHECKED + 4


@dataclass(frozen=True, slots=True)
class Block:
    """Addresses as the NPU sees them, and sizes in bytes.

    Attributes:
        payload: where Vela's commands are.
        regions: those of the base addresses, in their order; at most `REGIONS`.
        written: numbers of those that the commands write.
    """

    payload: tuple[int, int]
    regions: tuple[tuple[int, int], ...]
    written: frozenset[int]

    def encode(self, payload: bytes) -> bytes:
        """Return the bytes; regions that are not used are empty, where the first is."""
        spare = ((self.regions[0][0], 0),) * (REGIONS - len(self.regions))
        words = (MAGIC, *self.payload, len(self.regions))
        flat = (word for region in (*self.regions, *spare) for word in region)
        bits = sum(1 << number for number in self.written)
        data = struct.pack(_FORMAT, *words, *flat, bits)
        return (data + struct.pack("<I", crc32(data, crc32(payload)))).ljust(BLOCK_BYTES, b"\0")


def decode(data: bytes) -> Block | None:
    """Read a block; None if it is none. What its checksum says is for whoever has the payload."""
    magic, address, size, count, *rest, bits = struct.unpack(_FORMAT, data[:_CHECKED])
    if magic != MAGIC or not 1 <= count <= REGIONS or any(data[_USED:]):
        return None
    pairs = [*zip(rest[::2], rest[1::2], strict=True)]
    written = frozenset(number for number in range(REGIONS) if bits >> number & 1)
    return Block((address, size), tuple(pairs[:count]), written)


def is_whole(data: bytes, payload: bytes) -> bool:
    """Tell whether a block and its payload are as they were written."""
    found = crc32(data[:_CHECKED], crc32(payload))
    return found == int.from_bytes(data[_CHECKED:_USED], "little")
