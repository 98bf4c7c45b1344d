"""The check that every command carries, made for the hardware to hold it against."""

from binascii import crc_hqx

DESCRIPTOR_BYTES = 64
_CHECK = slice(2, 4)


def with_check(descriptor: bytes, flipped: int = 0) -> bytes:
    """Return a descriptor with the CRC-16 of its other bytes in bytes 2 and 3, xor `flipped`."""
    data = bytearray(descriptor)
    data[_CHECK] = bytes(2)
    data[_CHECK] = (crc_hqx(data, 0xFFFF) ^ flipped).to_bytes(2, "little")
    return bytes(data)
