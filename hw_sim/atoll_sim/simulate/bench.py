# SPDX-License-Identifier: Apache-2.0
"""The bench inside the model's process: loads the image, lets the clock run, and serves."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import First, Timer

from atoll_sim.model.monitors import Model
from atoll_sim.protocol.records import RESET_CYCLES
from atoll_sim.simulate.serve import Bench
from atoll_sim.trace.run_files import IMAGE, read_work, write_pace, write_record
from atoll_sim.trace.simulation import Stop
from atoll_sim.trace.so_far import Teller

PACE_CYCLES = 1_000_000
"""A bench that waits wakes up after so many cycles to tell how far it is."""


async def run(dut: Any, bench: Bench, teller: Teller) -> Stop:
    """Let the clock run, waking only for events, until there is a reason to stop."""
    work = bench.work
    since = bench.model.cycle()
    while (left := work.max_cycles - bench.model.cycle()) > 0:
        silence = since + work.stall_cycles - bench.model.cycle()
        patience = Timer(min(left, silence, PACE_CYCLES) * work.cycle_time, "ps")
        known = len(bench.events)
        await First(dut.doorbell_o.value_change, patience)
        if (stop := bench.serve()) is not None:
            return stop
        teller.look(bench.so_far, bench.model.cycle)
        if len(bench.events) > known:
            since = bench.model.cycle()
        elif bench.model.cycle() - since >= work.stall_cycles:
            return Stop.STALL
    return Stop.LIMIT


@cocotb.test()
async def run_firmware(dut: Any) -> None:
    """Load the image, release reset, and serve until the firmware leaves."""
    folder = Path.cwd()
    model = Model()
    bench = Bench(model, read_work(folder))
    assert model.load(str(folder / IMAGE)), "the image does not fit the memories"
    dut.rst_ni.value = 0
    await Timer(RESET_CYCLES * bench.work.cycle_time, "ps")
    dut.rst_ni.value = 1
    begin = time.perf_counter()
    teller = Teller(partial(write_pace, folder))
    stop = await run(dut, bench, teller)
    teller.look(bench.so_far, bench.model.cycle, always=True)
    write_record(folder, bench.record(stop, time.perf_counter() - begin))
