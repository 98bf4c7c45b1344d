# SPDX-License-Identifier: Apache-2.0
"""Requantisation at its edges, against the definitions in plain integers."""

import random
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from atoll_sim.engines.reef.arithmetic import requantise
from atoll_sim.engines.reef.decode import Command
from atoll_sim.engines.reef.descriptor import Descriptor, Flag, Opcode

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def half_away(value: Fraction) -> int:
    """Round to the nearest, halves away from zero."""
    magnitude = floor(abs(value) + Fraction(1, 2))
    return magnitude if value >= 0 else -magnitude


def half_up(value: Fraction) -> int:
    """Round to the nearest, halves towards plus infinity, as the doubling high multiply does."""
    return floor(value + Fraction(1, 2))


def wrapped(value: int) -> int:
    return (value - INT32_MIN) % 2**32 + INT32_MIN


def expected(
    total: int, bias: int, multiplier: int, shift: int, zero: int, *, once: bool = False
) -> int:
    left = wrapped(wrapped(total + bias) << max(shift, 0))
    if once:
        scaled = half_up(Fraction(left * multiplier, 2 ** (31 + max(-shift, 0))))
        return min(max(scaled + zero, -128), 127)
    high = half_up(Fraction(left * multiplier, 2**31))
    scaled = half_away(Fraction(high, 2 ** max(-shift, 0)))
    return min(max(scaled + zero, -128), 127)


def computed(
    total: int, bias: int, multiplier: int, shift: int, zero: int, *, once: bool = False
) -> int:
    descriptor = Descriptor(
        opcode=Opcode.FULLY_CONNECTED,
        **dict.fromkeys(("input_address", "output_address"), 0),
        **dict.fromkeys(("weights_address", "parameters_address"), 0),
        **dict.fromkeys(("in_height", "in_width", "in_channels"), 1),
        **dict.fromkeys(("out_height", "out_width", "out_channels"), 1),
        **dict.fromkeys(("kernel_height", "kernel_width"), 1),
        **dict.fromkeys(("stride_down", "stride_across", "depth_multiplier"), 1),
        **dict.fromkeys(("pad_top", "pad_left", "input_zero_point"), 0),
        **dict.fromkeys(("input_row_pitch", "weight_block_bytes", "kernel_row_bytes"), 1),
        output_zero_point=zero,
        activation_min=-128,
        activation_max=127,
        flags=Flag.ONCE * once,
    )
    sums = np.array([[[total]]], np.int64)
    table = np.array([[bias, multiplier, shift, 0]], np.int64)
    return int(requantise(Command.from_bytes(descriptor.encode()), sums, table)[0, 0, 0])


@pytest.mark.parametrize(
    ("total", "bias", "multiplier", "shift", "zero"),
    [
        (1, INT32_MAX, 1 << 30, -25, 0),  # the sum wraps
        (-1, INT32_MIN, 1 << 30, -25, 0),
        (0, 0x5000_0001, 1 << 30, 2, 0),  # the left shift wraps
        (0, 1, 1 << 30, 30, 0),
        (0, 3, 1 << 30, 0, 0),  # halves, of either sign, in the first rounding
        (0, -3, 1 << 30, 0, 0),
        (0, 5, INT32_MAX, -1, 0),  # and in the second
        (0, -5, INT32_MAX, -1, 0),
        (0, INT32_MIN, INT32_MAX, -31, 0),
        (0, INT32_MAX, INT32_MAX, -31, 0),
        (0, 7, 0, -31, -9),  # a multiplier of 0
        (0, INT32_MAX, INT32_MAX, 0, 127),  # the zero point does not wrap
        (0, INT32_MIN, INT32_MAX, 0, -128),
    ],
)
def test_edges(total: int, bias: int, multiplier: int, shift: int, zero: int) -> None:
    case = (total, bias, multiplier, shift, zero)
    assert computed(*case) == expected(*case)
    assert computed(*case, once=True) == expected(*case, once=True)


def test_random_values() -> None:
    rng = random.Random(1)
    for _ in range(2_000):
        shift = rng.randint(-31, 30)
        case = (
            rng.randint(-(2**20), 2**20),
            rng.choice((rng.randint(-999, 999), rng.randint(INT32_MIN, INT32_MAX))),
            rng.randint(2**30, INT32_MAX),
            shift,
            rng.randint(-128, 127),
        )
        assert computed(*case) == expected(*case), case
        assert computed(*case, once=True) == expected(*case, once=True), case
