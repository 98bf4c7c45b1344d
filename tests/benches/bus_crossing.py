# SPDX-License-Identifier: Apache-2.0
"""A master under one clock, an independent model of a bus under another, nothing lost between."""

from collections import deque
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly
from cocotb.utils import get_sim_time
from tests.benches.clock_pair import PERIOD, ratio, start_pair

REQUESTS = 60
PATIENCE = 4_000


def parameter(name: str) -> int:
    """Return a parameter of the bench's top level."""
    return int(cocotb.plusargs[name])


def answer_to(request: int) -> int:
    """Return what the model of the bus answers."""
    return (request * 0x9E37_79B1 >> 7) & (1 << parameter("AnswerBits")) - 1


class Bus:
    """Takes requests and answers each a cycle later or more, in their order."""

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut = dut
        self.taken: list[int] = []
        self.done: list[int] = []
        self._random = Random(seed)
        self.eager = 1.0
        self.latency = 1
        self._due: deque[tuple[int, int]] = deque()

    async def run(self) -> None:
        """Serve until the bench ends."""
        dut, cycle = self.dut, 0
        dut.bus_rvalid_i.value = 0
        while True:
            await FallingEdge(dut.bus_clk_i)
            dut.bus_ready_i.value = self._random.random() < self.eager
            ripe = bool(self._due) and self._due[0][0] <= cycle
            ripe = ripe and self._random.random() < max(self.eager, 0.5)
            dut.bus_rvalid_i.value = ripe
            if ripe:
                request = self._due.popleft()[1]
                dut.bus_answer_i.value = answer_to(request)
                self.done.append(request)
            await ReadOnly()
            if dut.bus_valid_o.value == 1 and dut.bus_ready_i.value == 1:
                request = int(dut.bus_request_o.value)
                self.taken.append(request)
                self._due.append((cycle + self.latency, request))
            cycle += 1


async def run_master(dut: Any, bus: Bus, requests: list[int], eager: float) -> list[int]:
    """Make all requests, each held until it is taken; return the answers."""
    random, held, sent, idle = Random(len(requests)), False, 0, 0
    answers: list[int] = []
    while len(answers) < len(requests):
        await FallingEdge(dut.mst_clk_i)
        held = held or (sent < len(requests) and random.random() < eager)
        dut.mst_valid_i.value = held
        if held:
            dut.mst_request_i.value = requests[sent]
        await ReadOnly()
        idle += 1
        if dut.mst_rvalid_o.value == 1:
            assert len(answers) < sent, "an answer to nothing"
            assert len(answers) < len(bus.done), "an answer before the bus gave it"
            answers.append(int(dut.mst_answer_o.value))
            idle = 0
        if held and dut.mst_ready_o.value == 1:
            sent, held = sent + 1, False
        assert sent - len(answers) <= parameter("Depth")
        assert idle < PATIENCE, f"no answer after {len(answers)} of {sent}"
    await FallingEdge(dut.mst_clk_i)
    dut.mst_valid_i.value = 0
    return answers


async def prepared(dut: Any, period: int, phase: int) -> Bus:
    """Leave reset with a bus that runs."""
    dut.mst_valid_i.value = dut.bus_ready_i.value = dut.bus_rvalid_i.value = 0
    await start_pair(dut, "mst", "bus", period, phase)
    bus = Bus(dut, period + phase)
    cocotb.start_soon(bus.run())
    return bus


def some_requests(seed: int) -> list[int]:
    """Return requests at random."""
    random = Random(seed)
    return [random.getrandbits(parameter("RequestBits")) for _ in range(REQUESTS)]


@cocotb.test()
@ratio
async def every_request_has_its_answer(dut: Any, period: int, phase: int) -> None:
    """Requests arrive once and in order, under back-pressure, and answers likewise."""
    bus = await prepared(dut, period, phase)
    made: list[int] = []
    for eager, latency, master in ((1.0, 1, 1.0), (0.4, 4, 1.0), (0.8, 2, 0.5)):
        bus.eager, bus.latency = eager, latency
        requests = some_requests(period + phase + len(made))
        answers = await run_master(dut, bus, requests, master)
        made += requests
        assert bus.taken == made
        assert answers == [answer_to(request) for request in requests]


@cocotb.test()
@ratio
async def a_beat_crosses_in_each_cycle_of_the_slower_clock(
    dut: Any, period: int, phase: int
) -> None:
    """Nothing but the slower clock limits the pace once requests follow each other."""
    bus = await prepared(dut, period, phase)
    begin = get_sim_time("ps")
    await run_master(dut, bus, some_requests(period), 1.0)
    beats = (get_sim_time("ps") - begin) / max(PERIOD, period)
    assert beats < REQUESTS + 16, f"{REQUESTS} beats in {beats} cycles"
