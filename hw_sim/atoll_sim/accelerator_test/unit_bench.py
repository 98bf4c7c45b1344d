# SPDX-License-Identifier: Apache-2.0
"""Be the core beside a function unit: ask, take answers, watch that its port keeps the rules."""

import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from atoll_sim.accelerator_test.unit_runs import (
    PACES,
    Answer,
    Call,
    Segment,
    read_task,
    write_runs,
)

RESET_CYCLES = 4
PATIENCE = 2000
"""Cycles without progress after which a unit is given up."""

MOST_FAULTS = 3


@cocotb.test()
async def run_segments(dut: Any) -> None:
    """Do all that the task has."""
    Clock(dut.clk_i, 10, unit="ns").start()
    answers = [await _run(dut, segment) for segment in read_task(Path.cwd())]
    write_runs(Path.cwd(), answers)


async def _run(dut: Any, segment: Segment) -> Answer:
    peer = _Peer(segment)
    await _reset(dut)
    if segment.cut:
        await peer.ask(dut, segment.calls[: segment.cut], leave=True)
        await _reset(dut)
        faults = peer.faults
        peer = _Peer(segment)
        peer.faults += faults
    await peer.ask(dut, segment.calls)
    return Answer(results=tuple(peer.results), cycles=tuple(peer.cycles), faults=tuple(peer.faults))


async def _reset(dut: Any) -> None:
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 0
    for name in ("valid_i", "function_i", "a_i", "b_i", "rready_i"):
        getattr(dut, name).value = 0
    for _ in range(RESET_CYCLES):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


class _Peer:
    """The core's side of the port."""

    def __init__(self, segment: Segment) -> None:
        self._asks, self._takes = PACES[segment.pace]
        self._chance = random.Random(segment.seed)
        self.results: list[int] = []
        self.cycles: list[int] = []
        self.faults: list[str] = []

    async def ask(self, dut: Any, calls: tuple[Call, ...], *, leave: bool = False) -> None:
        """Make calls and take their answers; `leave` as soon as the last one is asked for."""
        asked, taken = 0, 0
        begun: list[int] = []
        asking, held = False, None
        cycle = moved = 0
        while taken < len(calls) and cycle - moved < PATIENCE:
            await FallingEdge(dut.clk_i)
            cycle += 1
            # A request stays until it is accepted
            asking = asking or (asked < len(calls) and self._chance.random() < self._asks)
            dut.valid_i.value = int(asking)
            if asking:
                call = calls[asked]
                dut.function_i.value, dut.a_i.value, dut.b_i.value = call.function, call.a, call.b
            takes = self._chance.random() < self._takes
            dut.rready_i.value = int(takes)
            await ReadOnly()
            if asking and dut.ready_o.value == 1:
                begun.append(cycle)
                asked, asking, moved = asked + 1, False, cycle
                if leave and asked == len(calls):
                    return
            answered = dut.rvalid_o.value == 1
            result = int(dut.result_o.value) if answered else None
            if answered and taken == asked and not (asking and asked < len(calls)):
                self._note(f"cycle {cycle}: an answer that nobody asked for (A4)")
            if held is not None and result != held:
                name = calls[taken].name
                self._note(f"{name}, cycle {cycle}: the answer changes before it is taken (A7)")
            held = None if takes else result
            if answered and takes and taken < asked:
                assert result is not None
                self.results.append(result)
                self.cycles.append(cycle - begun[taken])
                taken, moved = taken + 1, cycle
        if taken < len(calls):
            what = "answers" if asked > taken else "accepts a request"
            self._note(f"{calls[taken].name}, call {taken + 1}: it never {what} (A9)")

    def _note(self, fault: str) -> None:
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)
