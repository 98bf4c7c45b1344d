# SPDX-License-Identifier: Apache-2.0
"""What the reef accelerator makes of a row of values: their shares of it (docs/reef.md)."""

import numpy as np
from numpy.typing import NDArray

_INT32_MAX = (1 << 31) - 1
_FORTY_EIGHT_17THS, _THIRTY_TWO_17THS = 1515870810, 1010580540
_ONE = 1 << 29


def shares_of(row: NDArray[np.int8], table: NDArray[np.uint32]) -> bytes:
    """Return the shares, a byte each.

    Args:
        row: int8, 1 to 4095 values.
        table: the exponential of each distance from the greatest value, in its low 31 bits.
    """
    distances = int(row.max()) - row.astype(np.int64)
    powers = table[distances].astype(np.int64) & _INT32_MAX
    total = int(((powers + (1 << 11)) >> 12).sum()) % (1 << 32)
    headroom = min(32 - total.bit_length(), 31)
    inverse = _inverse((total << headroom) % (1 << 32) >> 1)
    places = 35 - headroom
    highs = (powers * inverse + (1 << 30)) >> 31
    shares = np.minimum((highs + (1 << places - 1)) >> places, 255)
    made: NDArray[np.int8] = (shares - 128).astype(np.int8)
    return made.tobytes()


def _inverse(half: int) -> int:
    """Return 2**61 over a number of 31 bits, from a first guess that is a line."""
    guess = _FORTY_EIGHT_17THS + _high(half, -_THIRTY_TWO_17THS)
    for _ in range(3):
        guess = _wrap(guess + 4 * _high(guess, _ONE - _high(half, guess)))
    return 2 * guess if 0 <= guess < 1 << 30 else _INT32_MAX


def _high(left: int, right: int) -> int:
    """Return twice the high half of a product, to nearest, halves up."""
    return (left * right + (1 << 30)) >> 31


def _wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)
