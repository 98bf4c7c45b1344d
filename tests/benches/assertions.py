# SPDX-License-Identifier: Apache-2.0
"""A few cycles out of reset."""

from typing import Any

import cocotb
from cocotb.triggers import ClockCycles
from tests.benches.bus import start


@cocotb.test()
async def runs(dut: Any) -> None:
    """A failing assertion ends the process."""
    await start(dut)
    await ClockCycles(dut.clk_i, 8)
