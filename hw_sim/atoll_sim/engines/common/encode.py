# SPDX-License-Identifier: Apache-2.0
"""A command as the compiler writes it: its fields in their order, and the check of them."""

from binascii import crc_hqx
from dataclasses import fields
from struct import Struct
from typing import ClassVar

from atoll.records import dataclass

DESCRIPTOR_BYTES = 64
_CHECK = slice(2, 4)


def with_check(descriptor: bytes, flipped: int = 0) -> bytes:
    """Return a descriptor with the CRC-16 of its other bytes in bytes 2 and 3, xor `flipped`."""
    data = bytearray(descriptor)
    data[_CHECK] = bytes(2)
    data[_CHECK] = (crc_hqx(data, 0xFFFF) ^ flipped).to_bytes(2, "little")
    return bytes(data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """The fields of one command; an engine's own follow in the order of `layout`.

    Benches also use it to make illegal commands, so it checks nothing but that each value
    fits its bits (`struct.error` otherwise).

    Attributes:
        layout: of opcode, version, check and the engine's own fields.
        check_flipped: bits in which the check is wrong.
    """

    layout: ClassVar[Struct]
    opcode: int
    version: int = 1
    check_flipped: int = 0

    def encode(self) -> bytes:
        """Return the bytes that the engine reads."""
        values = (getattr(self, field.name) for field in fields(self))
        opcode, version, flipped, *own = values
        return with_check(self.layout.pack(opcode, version, 0, *own), flipped)
