# SPDX-License-Identifier: Apache-2.0
"""Run the program on an adapter in RTL, in every part and at every pace; write down how it went."""

import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from atoll_sim.core_test.layout import Part
from atoll_sim.core_test.peer import PACES, Peer, Request
from atoll_sim.core_test.trial import PartRun, Task

RESET_CYCLES = 4
AGAIN = (Part.LOADS_AND_STORES,)
"""Parts that are run with a reset in between, too."""
AFTER_TRAP = 20
"""Cycles in which a core that stands still must stay so."""


@cocotb.test()
async def run_parts(dut: Any) -> None:
    """Run all parts that the task asks for."""
    task = Task.read(Path.cwd())
    Clock(dut.clk_i, 10, unit="ns").start()
    kinds = [*((part, False) for part in Part), *((part, True) for part in AGAIN)]
    made = [
        await _run_part(dut, task, part, pace, again=again)
        for part, again in kinds
        for pace in PACES
    ]
    PartRun.write_all(Path.cwd(), made)


async def _run_part(dut: Any, task: Task, part: Part, pace: str, *, again: bool) -> PartRun:
    """Run one part from reset; `again` resets the core once more in the midst of it."""
    chance = random.Random(f"{task.seed} {part.name} {pace} {again}")
    peer = await _reset(dut, task, part, pace, chance)
    if again:
        cut = chance.randrange(200, 2000)
        await _run(dut, peer, cut)
        faults = peer.faults
        peer = await _reset(dut, task, part, pace, chance)
        peer.faults += faults
    trapped = await _run(dut, peer, task.most_cycles)
    return PartRun(
        part=part,
        pace=pace,
        again=again,
        faults=tuple(peer.faults),
        fetched=peer.fetched,
        accesses=tuple(peer.accesses),
        results=tuple(peer.results),
        waited=tuple(peer.waited),
        left=peer.left,
        trapped=trapped,
        cycles=peer.cycle,
    )


async def _reset(dut: Any, task: Task, part: Part, pace: str, chance: random.Random) -> Peer:
    memories = {origin: bytearray(content) for origin, content in task.memories.items()}
    peer = Peer(part=int(part), beat=task.beat, memories=memories, pace=PACES[pace], chance=chance)
    await FallingEdge(dut.clk_i)
    for name in ("ready_i", "rvalid_i", "rdata_i", "err_i", "irq_i", "rst_ni"):
        getattr(dut, name).value = 0
    for _ in range(RESET_CYCLES):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return peer


async def _run(dut: Any, peer: Peer, cycles: int) -> bool:
    """Run until the program leaves, the core stands still, or so many cycles went by."""
    trapped = 0
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)
        ready, answer = peer.begin()
        dut.ready_i.value = int(ready)
        dut.rvalid_i.value = int(answer is not None)
        if answer is not None:
            dut.rdata_i.value = answer[0]
            dut.err_i.value = int(answer[1])
        dut.irq_i.value = peer.lines
        await ReadOnly()
        request = None
        if dut.valid_o.value == 1:
            request = Request(
                write=bool(dut.we_o.value == 1),
                address=int(dut.addr_o.value),
                enabled=int(dut.be_o.value),
                data=int(dut.wdata_o.value) if dut.we_o.value == 1 else 0,
                fetch=bool(dut.instr_o.value == 1),
            )
        peer.end(request, ready)
        if dut.trap_o.value == 1:
            trapped += 1
        elif trapped:
            peer.faults.append(f"cycle {peer.cycle}: trap_o falls again")
            return True
        if peer.left or trapped > AFTER_TRAP:
            break
    return trapped > 0
