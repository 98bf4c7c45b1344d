# SPDX-License-Identifier: Apache-2.0
"""Read what a start of an Ethos-U is told, and its payload, from bytes; judge them together.

Nothing here is shared with what writes them. The words of a start are `MAGIC`; address and bytes of
the payload; how many regions there are; address and bytes of eight; a bit for each that is written;
the CRC-32 of the payload and of the words before.
"""

import struct
from collections.abc import Iterator
from zlib import crc32

from atoll.npu_stream.judge import Region, Role, faults
from atoll.npu_stream.reader import StreamError, operations
from atoll.records import dataclass

MAGIC = b"ETHU"
PAYLOAD = b"COP1"
_WORDS = struct.Struct("<4s3I16I2I")
_HEADER = struct.Struct("<4s7I")
_CONFIGURE, _COMMANDS, _NOTHING = 0x0010_0001, 2, 5
_PRODUCTS = (55, 65, 85)
_WEIGHTS, _SCRATCH = 0, 1


@dataclass(frozen=True, slots=True)
class Start:
    """What a start is told.

    Attributes:
        payload: address and bytes.
        regions: address and bytes of each.
        written: those that the commands may write.
        checksum: of payload and words.
    """

    payload: tuple[int, int]
    regions: tuple[tuple[int, int], ...]
    written: frozenset[int]
    checksum: int
    words: bytes

    def check(self, payload: bytes) -> Iterator[str]:
        """Yield what is wrong with a payload and the regions that it is given."""
        if crc32(self.words, crc32(payload)) != self.checksum:
            yield "commands and addresses are not those that were built: their checksum is another"
        product, stream = _commands(payload)
        if not stream:
            yield f"its payload of {len(payload)} bytes is none that Arm's driver takes"
            return
        regions = {at: Region(self.role(at), size) for at, (_, size) in enumerate(self.regions)}
        try:
            yield from faults(operations(stream, product), regions)
        except StreamError as error:
            yield f"its commands cannot be followed: {error}"

    def role(self, number: int) -> Role:
        """Return what a region holds."""
        if number in self.written:
            return Role.SCRATCH if number == _SCRATCH else Role.OUTPUT
        return Role.CONSTANT if number == _WEIGHTS else Role.INPUT


def read_start(data: bytes) -> Start | None:
    """Read the bytes of a start; None if they are none."""
    if len(data) < _WORDS.size:
        return None
    magic, address, size, count, *rest = _WORDS.unpack_from(data)
    *flat, written, checksum = rest
    regions = (*zip(flat[::2], flat[1::2], strict=True),)
    if magic != MAGIC or not 2 <= count <= len(regions) or written >> count:
        return None
    bits = frozenset(at for at in range(count) if written >> at & 1)
    before = data[: _WORDS.size - 4]
    return Start((address, size), regions[:count], bits, checksum, before)


def is_payload(data: bytes) -> bool:
    """Tell whether bytes begin as a payload does."""
    return data[:4] == PAYLOAD and data[4:8] == _CONFIGURE.to_bytes(4, "little")


def _commands(payload: bytes) -> tuple[int, tuple[int, ...]]:
    """Return the product and the words of a stream; none if it is no payload."""
    if len(payload) < _HEADER.size or len(payload) % 4 or not is_payload(payload):
        return 0, ()
    _, _, config, _, *spare, action = _HEADER.unpack_from(payload)
    words = (len(payload) - _HEADER.size) // 4
    counted = action >> 16 | (action >> 8 & 0xFF) << 16
    product = config >> 28
    if [*spare] != [_NOTHING] * 3 or (action & 0xFF, counted) != (_COMMANDS, words):
        return 0, ()
    if product >= len(_PRODUCTS):
        return 0, ()
    return _PRODUCTS[product], struct.unpack_from(f"<{words}I", payload, _HEADER.size)
