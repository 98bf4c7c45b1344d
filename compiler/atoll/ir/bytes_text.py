# SPDX-License-Identifier: Apache-2.0
"""Bytes of constants and states as text that reads back, or as a checksum for people."""

from zlib import crc32

LONG = 64
"""Bytes of a constant from which on a text for people has its checksum."""
ZEROS = "zeros"
CHECKSUM = "crc32"


def bytes_text(data: bytes, size: int) -> str:
    """Return the text that stands for `data` and nothing else, where `size` bytes belong."""
    if data and data.count(0) == len(data) == size:
        return ZEROS
    return f"0x{data.hex()}"


def brief_text(data: bytes, size: int) -> str:
    """Return a text with the checksum of long data instead of the data."""
    text = bytes_text(data, size)
    if len(data) <= LONG or text == ZEROS:
        return text
    return f"{CHECKSUM} 0x{crc32(data):08x}"
