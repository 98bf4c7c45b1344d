# SPDX-License-Identifier: Apache-2.0
"""A reset begins at once, and ends two edges of the clock after its cause."""

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from tests.benches.bus import start

STAGES = 2


@cocotb.test()
@cocotb.parametrize(moment=[1, 4, 6, 9])
async def begins_at_once_and_ends_with_the_clock(dut: Any, moment: int) -> None:
    """Whenever in a cycle of 10 ns it begins, no edge of the clock is needed."""
    await start(dut)
    for _ in range(STAGES):
        await RisingEdge(dut.clk_i)
    await ReadOnly()
    assert dut.rst_no.value == 1
    await Timer(moment, "ns")
    dut.rst_ni.value = 0
    await ReadOnly()
    assert dut.rst_no.value == 0
    await Timer(2, "ns")
    dut.rst_ni.value = 1
    for edge in range(1, STAGES + 3):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        assert dut.rst_no.value == (edge >= STAGES), edge


@cocotb.test()
async def never_ends_without_a_clock(dut: Any) -> None:
    """The end of the cause alone changes nothing."""
    clock = Clock(dut.clk_i, 10, unit="ns")
    dut.rst_ni.value = 0
    clock.start()
    await FallingEdge(dut.clk_i)
    clock.stop()
    dut.rst_ni.value = 1
    await Timer(100, "ns")
    assert dut.rst_no.value == 0
