# SPDX-License-Identifier: Apache-2.0
"""Frames of RFC 1662: byte stuffing (4.2) and the 32-bit FCS (C.3), without its header fields."""

from collections.abc import Iterator
from zlib import crc32

FLAG, ESCAPE, ESCAPED = 0x7E, 0x7D, 0x20
CHECK = 4
"""Bytes of the FCS."""


def frame_of(message: bytes) -> bytes:
    """Return a message as it goes over the line, between two flags."""
    stuffed = bytearray([FLAG])
    for byte in message + crc32(message).to_bytes(CHECK, "little"):
        stuffed += bytes([ESCAPE, byte ^ ESCAPED]) if byte in (FLAG, ESCAPE) else bytes([byte])
    stuffed.append(FLAG)
    return bytes(stuffed)


class Deframer:
    """Finds messages in the bytes of a line."""

    def __init__(self) -> None:
        self._frame = bytearray()
        self._escaped = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each message that ends in further bytes; None for a frame that is damaged."""
        for byte in data:
            if byte == FLAG:
                if self._frame:
                    yield self._message()
                self._frame.clear()
                self._escaped = False
            elif byte == ESCAPE:
                self._escaped = True
            else:
                self._frame.append(byte ^ ESCAPED if self._escaped else byte)
                self._escaped = False

    def _message(self) -> bytes | None:
        message, check = self._frame[:-CHECK], self._frame[-CHECK:]
        right = crc32(message).to_bytes(CHECK, "little") == check
        return bytes(message) if right and not self._escaped else None
