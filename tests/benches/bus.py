# SPDX-License-Identifier: Apache-2.0
"""A master of the system bus for benches, with the time of everything it sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

OKAY, SLAVE, DECODE = 0, 2, 3
PATIENCE = 1000


@dataclass(frozen=True, slots=True)
class Request:
    """One access to the beat at `address`, a multiple of the beat's bytes.

    Attributes:
        enabled: a bit for each byte that takes part.
        data: what to write, or None for a read.
    """

    address: int
    enabled: int
    data: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """How an access went, with the cycles in which it was accepted and answered."""

    response: int
    data: int
    accepted: int
    answered: int


def parameter(name: str) -> int:
    """Return a parameter of the bench's top level."""
    return int(cocotb.plusargs[name])


async def start(dut: Any, *prefixes: str) -> None:
    """Start the clock and leave reset with idle masters."""
    Clock(dut.clk_i, 10, unit="ns").start()
    for prefix in prefixes:
        getattr(dut, f"{prefix}_valid_i").value = 0
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


class BusMaster:
    """Drives the ports of `dut` whose names begin with `prefix`; there is no other master there."""

    def __init__(self, dut: Any, prefix: str) -> None:
        self._dut = dut
        self._prefix = prefix

    def _port(self, name: str) -> Any:
        return getattr(self._dut, f"{self._prefix}_{name}")

    async def run(self, requests: Sequence[Request]) -> list[Answer]:
        """Make all accesses as fast as the bus takes them; answers come in order."""
        accepted: list[int] = []
        answers: list[Answer] = []
        cycle = 0
        while len(answers) < len(requests):
            assert cycle < PATIENCE * len(requests), f"no answer after {answers}"
            await FallingEdge(self._dut.clk_i)
            self._drive(requests[len(accepted)] if len(accepted) < len(requests) else None)
            await ReadOnly()
            if self._port("rvalid_o").value == 1:
                assert len(answers) < len(accepted), "an answer to nothing"
                response, data = int(self._port("resp_o").value), int(self._port("rdata_o").value)
                answers.append(Answer(response, data, accepted[len(answers)], cycle))
            if len(accepted) < len(requests) and self._port("ready_o").value == 1:
                accepted.append(cycle)
            cycle += 1
        await FallingEdge(self._dut.clk_i)
        self._drive(None)
        return answers

    def _drive(self, request: Request | None) -> None:
        self._port("valid_i").value = request is not None
        if request is not None:
            self._port("addr_i").value = request.address
            self._port("be_i").value = request.enabled
            self._port("we_i").value = request.data is not None
            self._port("wdata_i").value = request.data or 0

    async def read(self, address: int, enabled: int) -> Answer:
        """Make one read."""
        return (await self.run([Request(address, enabled)]))[0]

    async def write(self, address: int, enabled: int, data: int) -> Answer:
        """Make one write."""
        return (await self.run([Request(address, enabled, data)]))[0]
