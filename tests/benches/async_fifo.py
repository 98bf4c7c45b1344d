# SPDX-License-Identifier: Apache-2.0
"""What goes into the queue under one clock comes out under the other: all of it, once, in order."""

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from tests.benches.clock_pair import PERIOD, ratio, start_pair

ENTRIES = 40
SLACK = 6
"""Cycles of either clock that an entry, or its place, may take to be seen on the other side."""


def parameter(name: str) -> int:
    """Return a parameter of the bench's top level."""
    return int(cocotb.plusargs[name])


class Queue:
    """Drives both sides and keeps what must be inside in a queue of its own."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.random = Random(seed)
        self.inside: deque[int] = deque()
        self.most = 0
        self.popped = 0

    async def push(self, count: int, eager: float) -> None:
        """Append `count` entries, each cycle with probability `eager` if there is space."""
        dut = self.dut
        dut.push_i.value = 0
        while count:
            await FallingEdge(dut.push_clk_i)
            dut.push_i.value = 0
            if self.random.random() < eager and dut.full_o.value == 0:
                entry = self.random.getrandbits(parameter("Width"))
                dut.push_i.value = 1
                dut.data_i.value = entry
                self.inside.append(entry)
                self.most = max(self.most, len(self.inside))
                count -= 1
        await FallingEdge(dut.push_clk_i)
        dut.push_i.value = 0

    async def pop(self, count: int, eager: float) -> None:
        """Take `count` entries, each cycle with probability `eager` if there is one."""
        dut = self.dut
        dut.pop_i.value = 0
        while count:
            await FallingEdge(dut.pop_clk_i)
            dut.pop_i.value = 0
            if self.random.random() < eager and dut.valid_o.value == 1:
                assert self.inside, "an entry that nobody appended"
                assert int(dut.data_o.value) == self.inside.popleft(), f"entry {self.popped}"
                dut.pop_i.value = 1
                self.popped += 1
                count -= 1
        await FallingEdge(dut.pop_clk_i)
        dut.pop_i.value = 0


@cocotb.test()
@ratio
async def keeps_everything_in_order(dut: Any, period: int, phase: int) -> None:
    """With both sides eager, either hesitant, and both at random."""
    dut.push_i.value = dut.pop_i.value = 0
    await start_pair(dut, "push", "pop", period, phase)
    queue = Queue(dut, period + phase)
    for push, pop in ((1.0, 1.0), (1.0, 0.2), (0.2, 1.0), (0.5, 0.5)):
        other = cocotb.start_soon(queue.push(ENTRIES, push))
        await queue.pop(ENTRIES, pop)
        await other
        assert not queue.inside
        assert queue.most <= parameter("Depth")


@cocotb.test()
@ratio
async def fills_up_and_empties(dut: Any, period: int, phase: int) -> None:
    """It takes its depth and no more, tells that soon, and is empty soon after the last pop."""
    dut.push_i.value = dut.pop_i.value = 0
    await start_pair(dut, "push", "pop", period, phase)
    queue = Queue(dut, period + phase)
    depth = parameter("Depth")
    for _ in range(3):
        await queue.push(depth, 1.0)
        await ReadOnly()
        assert dut.full_o.value == 1
        await Timer(SLACK * max(PERIOD, period), "ps")
        assert dut.valid_o.value == 1
        assert dut.full_o.value == 1
        await queue.pop(depth, 1.0)
        await ReadOnly()
        assert dut.valid_o.value == 0
        await Timer(SLACK * max(PERIOD, period), "ps")
        assert dut.full_o.value == 0


@cocotb.test()
@ratio
async def a_reset_of_both_sides_empties_it(dut: Any, period: int, phase: int) -> None:
    """Whatever was inside is gone, and what comes later is in order."""
    dut.push_i.value = dut.pop_i.value = 0
    await start_pair(dut, "push", "pop", period, phase)
    queue = Queue(dut, period + phase)
    await queue.push(parameter("Depth") - 1, 0.7)
    dut.push_rst_ni.value = dut.pop_rst_ni.value = 0
    queue.inside.clear()
    await ReadOnly()
    assert (dut.valid_o.value, dut.full_o.value) == (0, 0)
    for side in ("push", "pop"):
        clock = getattr(dut, f"{side}_clk_i")
        await RisingEdge(clock)
        await FallingEdge(clock)
    dut.pop_rst_ni.value = 1
    await FallingEdge(dut.push_clk_i)
    dut.push_rst_ni.value = 1
    other = cocotb.start_soon(queue.push(ENTRIES, 0.8))
    await queue.pop(ENTRIES, 0.8)
    await other
