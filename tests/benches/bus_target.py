# SPDX-License-Identifier: Apache-2.0
"""A memory on the system bus that hesitates, and fails some accesses."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from tests.benches.bus import DECODE, OKAY, SLAVE, parameter


def expected_response(address: int, writes: bool) -> int:
    """Return how the memory answers an access to the beat with `address`."""
    if address >> 6 & 0xF == 5:
        return DECODE
    return SLAVE if address >> 6 & 0xF == 9 and writes else OKAY


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that the memory took in `cycle`."""

    cycle: int
    address: int
    writes: bool
    enabled: int


class BusTarget:
    """Takes the requests of `dut` and answers them in order, the next cycle or later.

    Attributes:
        contents: bytes by address, 0 at first.
        taken: all requests.
    """

    def __init__(self, dut: Any, random: Random | None = None, latency: int = 1) -> None:
        """Begin; `random` makes it hesitate, otherwise each answer takes `latency` cycles."""
        self.contents: dict[int, int] = {}
        self.taken: list[Taken] = []
        self._dut = dut
        self._random = random
        self._latency = latency
        self._answers: deque[tuple[int, int, int]] = deque()
        cocotb.start_soon(self._run())

    def forget(self) -> None:
        """Forget what is under way, as a reset does."""
        self._answers.clear()

    async def _run(self) -> None:
        dut, cycle = self._dut, 0
        while True:
            await FallingEdge(dut.clk_i)
            cycle += 1
            self._answer(cycle)
            ready = self._random is None or self._random.random() < 0.6
            dut.ready_i.value = int(ready)
            if ready and dut.valid_o.value == 1 and dut.rst_ni.value == 1:
                self._take(cycle)

    def _answer(self, cycle: int) -> None:
        due = bool(self._answers) and self._answers[0][0] <= cycle
        _, response, data = self._answers.popleft() if due else (0, OKAY, 0)
        self._dut.rvalid_i.value = int(due)
        self._dut.resp_i.value = response
        self._dut.rdata_i.value = data

    def _take(self, cycle: int) -> None:
        dut = self._dut
        address, enabled = int(dut.addr_o.value), int(dut.be_o.value)
        writes = dut.we_o.value == 1
        assert address % parameter("DataBytes") == 0
        self.taken.append(Taken(cycle, address, writes, enabled))
        response, data = expected_response(address, writes), 0
        lanes = [i for i in range(parameter("DataBytes")) if enabled >> i & 1]
        if writes and response == OKAY:
            word = int(dut.wdata_o.value)
            self.contents |= {address + i: word >> 8 * i & 0xFF for i in lanes}
        elif response == OKAY:
            data = sum(self.contents.get(address + i, 0) << 8 * i for i in lanes)
        delay = self._latency if self._random is None else self._random.choice((1, 1, 2, 3, 9))
        self._answers.append((cycle + delay, response, data))


def cycles_per_beat(target: BusTarget, chosen: Callable[[Taken], bool]) -> float:
    """Return how far the chosen requests are apart on average."""
    cycles = [each.cycle for each in target.taken if chosen(each)]
    return (cycles[-1] - cycles[0]) / (len(cycles) - 1)
