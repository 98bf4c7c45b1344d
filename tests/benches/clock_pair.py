# SPDX-License-Identifier: Apache-2.0
"""Two clocks without a common measure for benches, and the resets of their sides."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

PERIOD = 10_000
"""Picoseconds of the first clock."""

PERIODS = (10_000, 20_000, 5_000, 14_142, 7_072, 6_180, 31_416, 3_182, 640_000)
"""Picoseconds of the second clock: alike, simple and irrational ratios, and a very slow one."""


async def start_pair(dut: Any, first: str, second: str, period: int, phase: int) -> None:
    """Start the clocks of two sides, the second `phase` picoseconds later, and leave reset.

    Args:
        dut: has ``<side>_clk_i`` and ``<side>_rst_ni`` for both.
        first: side of the clock of `PERIOD`.
        second: the other one.
        period: picoseconds of its clock.
        phase: picoseconds.
    """
    for side in (first, second):
        getattr(dut, f"{side}_rst_ni").value = 0
    Clock(getattr(dut, f"{first}_clk_i"), PERIOD, unit="ps").start()
    if phase:
        await Timer(phase, "ps")
    Clock(getattr(dut, f"{second}_clk_i"), period, unit="ps").start()
    await Timer(2 * max(PERIOD, period), "ps")
    for side in (first, second):
        await FallingEdge(getattr(dut, f"{side}_clk_i"))
        getattr(dut, f"{side}_rst_ni").value = 1


def ratio(function: Any) -> Any:
    """Let a test run at all ratios, each with clocks that begin together and apart."""
    pairs = [(period, phase) for period in PERIODS for phase in (0, 1_234)]
    return cocotb.parametrize((("period", "phase"), pairs))(function)
