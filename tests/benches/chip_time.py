# SPDX-License-Identifier: Apache-2.0
"""On a chip, whose clocks are not cocotb's, a test goes on in the cycle for which it waited."""

from typing import Any

import cocotb
from cocotb.triggers import ReadOnly, Timer
from cocotb.utils import get_sim_time

from atoll_sim.model.monitors import Model

CLOCK, LONG = 10_000, 10**9
"""Picoseconds."""


def now() -> int:
    """Return the time in picoseconds."""
    return round(get_sim_time("ps"))


async def pass_time() -> None:
    """Let a simulation go on, late, that nothing else brings back to the test."""
    await Timer(LONG, "ps")


@cocotb.test()
async def what_begins_at_an_event_begins_there(dut: Any) -> None:
    """Nothing is written, so nothing but the event ends the time step."""
    cocotb.start_soon(pass_time())
    model = Model()
    assert model.load(str(cocotb.plusargs["image"]))
    dut.rst_ni.value = 0
    await Timer(3 * CLOCK, "ps")
    dut.rst_ni.value = 1
    await dut.doorbell_o.value_change
    begin, cycle = now(), model.cycle()
    await ReadOnly()
    assert (now(), model.cycle()) == (begin, cycle)
    await Timer(CLOCK // 4, "ps")
    assert now() == begin + CLOCK // 4
    await Timer(2 * CLOCK, "ps")
    assert (now(), model.cycle()) == (begin + CLOCK // 4 + 2 * CLOCK, cycle + 2)
