# SPDX-License-Identifier: Apache-2.0
"""The model of dot4: what its RTL computes, bit for bit."""

WORD = 0xFFFF_FFFF


class Dot4:
    """A unit without state."""

    def dot4(self, a: int, b: int) -> int:
        """Add the four products of the signed bytes of two words; a word each way."""
        pairs = zip(a.to_bytes(4, "little"), b.to_bytes(4, "little"), strict=True)
        return sum(_signed(one) * _signed(other) for one, other in pairs) & WORD


def _signed(byte: int) -> int:
    return byte - 256 if byte & 0x80 else byte
