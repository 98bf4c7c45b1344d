# SPDX-License-Identifier: Apache-2.0
"""`reef_requantize` against exact integers, at the limits and at random."""

from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from tests.benches.reef_axi import start
from tests.benches.reef_golden import mbqm, rounded_once
from tests.benches.reef_system import parameter

EDGES = (
    *(-(2**31), -(2**31) + 1, -(2**30) - 1, -(2**30), -(2**30) + 1, -3, -2, -1),
    *(0, 1, 2, 3, 2**30 - 1, 2**30, 2**30 + 1, 2**31 - 2, 2**31 - 1),
)
SHIFTS = (-31, -30, -16, -2, -1, 0, 1, 2, 15, 29, 30)


async def scale(
    dut: Any, random: Random, sums: list[int], multipliers: list[int], shifts: list[int]
) -> list[int]:
    """Send one pixel through and return its bytes, taken with random pauses."""
    await FallingEdge(dut.clk_i)
    dut.sums_i.value = sum(value % 2**32 << 32 * lane for lane, value in enumerate(sums))
    dut.multiplier_i.value = sum(m % 2**32 << 32 * lane for lane, m in enumerate(multipliers))
    dut.shift_i.value = sum(s % 64 << 6 * lane for lane, s in enumerate(shifts))
    dut.sums_valid_i.value = 1
    dut.last_lane_i.value = len(sums) - 1
    width = parameter("Requantisers", 8)
    results: list[int] = []
    while len(results) < len(sums):
        dut.bytes_ready_i.value = random.random() < 0.8
        await ReadOnly()
        if dut.bytes_valid_o.value == 1 and dut.bytes_ready_i.value == 1:
            assert int(dut.bytes_group_o.value) * width == len(results)
            last = len(results) + width >= len(sums)
            assert int(dut.bytes_last_o.value) == last
            data = int(dut.bytes_o.value).to_bytes(width, "little")
            results += [int.from_bytes([byte], "little", signed=True) for byte in data]
        await FallingEdge(dut.clk_i)
        dut.sums_valid_i.value = 0
    return results[: len(sums)]


@cocotb.test()
@cocotb.parametrize(
    limits=[(-128, 127), (-128, -128), (127, 127), (-100, 3)],
    zero=[-128, 0, 5, 127],
    once=[False, True],
)
async def scales_like_exact_integers(
    dut: Any, limits: tuple[int, int], zero: int, once: bool
) -> None:
    """Every combination of extremes rounds twice, as gemmlowp does, or once, and clamps."""
    random = Random(f"{cocotb.RANDOM_SEED} {limits} {zero} {once}")
    exactly = rounded_once if once else mbqm
    cases = [(x, m, s) for x in EDGES for m in EDGES for s in SHIFTS]
    cases = random.sample(cases, 400) + [_typical(random) for _ in range(400)]
    for name, value in zip(("minimum_i", "maximum_i"), limits, strict=True):
        getattr(dut, name).value = value % 256
    dut.output_zero_i.value = zero % 256
    dut.once_i.value = int(once)
    await start(dut, sums_valid_i=0, bytes_ready_i=0)
    lanes = parameter("OutputLanes", 8)
    while cases:
        count = min(random.randint(1, lanes), len(cases))
        pixel = [cases.pop() for _ in range(count)]
        exact = [exactly(*case) + zero for case in pixel]
        expected = [min(max(value, limits[0]), limits[1]) for value in exact]
        sums, multipliers, shifts = (list(column) for column in zip(*pixel, strict=True))
        assert await scale(dut, random, sums, multipliers, shifts) == expected, pixel


def _typical(random: Random) -> tuple[int, int, int]:
    """Choose values whose result is small, so that rounding shows."""
    shift = random.randint(-12, 3)
    value = random.randint(-(2**7), 2**7) << max(-shift, 0)
    return value + random.randint(-2, 2), random.randint(2**30, 2**31 - 1), shift
