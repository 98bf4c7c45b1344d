# SPDX-License-Identifier: Apache-2.0
"""Independent AXI peers (cocotbext-axi) for the benches, with random pauses."""

from collections.abc import Iterator
from random import Random
from typing import Any

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

PERIOD_NS = 10


async def start(dut: Any, **inputs: int) -> None:
    """Start the clock with these inputs and leave reset."""
    Clock(dut.clk_i, PERIOD_NS, unit="ns").start()
    for name, value in inputs.items():
        getattr(dut, name).value = value
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 2)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


def pauses(random: Random, share: float) -> Iterator[bool]:
    """Yield for ever whether a channel pauses, `share` of the time, in spells."""
    while True:
        paused = random.random() < share
        for _ in range(random.choice((1, 1, 2, 5))):
            yield paused


def pause_all(random: Random, share: float, *channels: Any) -> None:
    """Let every channel pause at random."""
    for channel in channels:
        channel.set_pause_generator(pauses(Random(random.getrandbits(32)), share))
