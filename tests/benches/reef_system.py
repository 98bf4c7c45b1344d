# SPDX-License-Identifier: Apache-2.0
"""Drives `reef_system_bench`: reef and a memory that works without Python."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout
from tests.benches.reef_program import Program

CONTROL, STATUS, ERROR, FAULT_ADDRESS = 0x0C, 0x10, 0x14, 0x18
LIST_ADDRESS, LIST_COUNT, COMPLETED, IRQ_ENABLE, IRQ_STATUS = 0x1C, 0x20, 0x24, 0x28, 0x2C
CYCLES, STALLS = 0x30, 0x34
WAIT_READ, WAIT_WRITE, WAIT_WEIGHTS = 0x38, 0x3C, 0x40
PERIOD_NS = 10


def parameter(name: str, default: int) -> int:
    """Return a parameter of the top level as the runner set it."""
    return int(cocotb.plusargs.get(name, default))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The registers after a list has ended."""

    status: int
    error: int
    fault_address: int
    completed: int
    cycles: int
    stalls: int

    @property
    def clean(self) -> bool:
        """The list was done without an error."""
        return (self.status, self.error) == (0b010, 0)


class List(Protocol):
    """A list of commands laid out in memory.

    Attributes:
        image: what the memory holds at the start, by byte address.
        expected: what the outputs must be, by byte address.
    """

    image: dict[int, bytes]
    expected: dict[int, bytes]
    list_address: int

    @property
    def count(self) -> int:
        """Commands in the list."""
        ...

    @property
    def total(self) -> int:
        """Commands of all lists that it goes on with."""
        ...


class System:
    """The bench's hands: clock, reset, registers and memory contents."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.beat = parameter("DataBytes", 8)
        self.words = len(dut.u_memory.data)

    def program(self, random: Random) -> Program:
        """Return an empty list for this instance."""
        lanes = parameter("InputLanes", 8), parameter("OutputLanes", 8)
        return Program(random, *lanes)

    async def start(self, rest: int = 0, write_rest: int = 0) -> None:
        """Start the clock, reset, and let the memory rest with this chance in 256.

        Data to write rests with the chance `write_rest`, if that is higher.
        """
        Clock(self.dut.clk_i, PERIOD_NS, unit="ns").start()
        for name in ("address_i", "wdata_i", "write_i", "read_i", "forgive_i"):
            getattr(self.dut, name).value = 0
        self.dut.rest_i.value = rest
        self.dut.u_memory.write_rest.value = write_rest
        await self.reset()

    async def reset(self) -> None:
        """Hold reset for a cycle."""
        self.dut.rst_ni.value = 0
        await FallingEdge(self.dut.clk_i)
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        await FallingEdge(self.dut.clk_i)

    async def write(self, offset: int, value: int) -> int:
        """Write a register and return the response."""
        self.dut.address_i.value, self.dut.wdata_i.value = offset, value
        self.dut.write_i.value = 1
        await FallingEdge(self.dut.clk_i)
        self.dut.write_i.value = 0
        return int(self.dut.bresp_o.value)

    async def read(self, offset: int) -> int:
        """Read a register, which must allow it."""
        self.dut.address_i.value, self.dut.read_i.value = offset, 1
        await FallingEdge(self.dut.clk_i)
        self.dut.read_i.value = 0
        assert self.dut.rresp_o.value == 0
        return int(self.dut.rdata_o.value)

    async def run(
        self, program: List, faults: Mapping[int, int] | None = None, timeout: int = 1_000_000
    ) -> Ending:
        """Run a program to its end, within `timeout` cycles, and return how it ended.

        Only what the program needs may be read or written meanwhile. `faults` maps addresses
        of beats to the AXI response that they answer.
        """
        await self.begin(program, faults or {})
        await self.wait(timeout)
        return await self.end(program)

    async def begin(self, program: List, faults: Mapping[int, int]) -> None:
        """Install a program and start it."""
        for word, rights in self._rights(program).items():
            for name, value in rights.items():
                getattr(self.dut.u_memory, name)[word].value = value
        for address, response in faults.items():
            self.dut.u_memory.answer[address // self.beat % self.words].value = response
        self.dut.forgive_i.value = 1
        for offset, value in (
            (LIST_ADDRESS, program.list_address),
            (LIST_COUNT, program.count),
            (IRQ_ENABLE, 1),
        ):
            assert await self.write(offset, value) == 0
        self.dut.forgive_i.value = 0
        assert await self.write(CONTROL, 1) == 0

    async def wait(self, timeout: int = 100_000) -> None:
        """Wait until the list has ended, for `timeout` cycles at most."""
        if self.dut.irq_o.value == 0:
            await with_timeout(RisingEdge(self.dut.irq_o), timeout * PERIOD_NS, "ns")
        await FallingEdge(self.dut.clk_i)

    async def end(self, program: List) -> Ending:
        """Return how the list ended, and see that its accesses were allowed."""
        ending = Ending(
            status=await self.read(STATUS),
            error=await self.read(ERROR),
            fault_address=await self.read(FAULT_ADDRESS),
            completed=await self.read(COMPLETED),
            cycles=await self.read(CYCLES),
            stalls=await self.read(STALLS),
        )
        self.forbid(program)
        assert self.dut.violations_o.value == 0, "an access was not allowed"
        assert self.dut.late_o.value == 0, "a request after an error"
        return ending

    def forbid(self, program: List) -> None:
        """Take back every right that the program's installation gave."""
        for word in self._rights(program):
            for name in ("readable", "writable", "answer"):
                getattr(self.dut.u_memory, name)[word].value = 0

    def outputs(self, program: List) -> bool:
        """Say whether every output is as expected."""
        return all(self.load(at, len(data)) == data for at, data in program.expected.items())

    def load(self, address: int, size: int) -> bytes:
        """Return bytes of the memory."""
        first, last = address // self.beat, -(-(address + size) // self.beat)
        values = (int(self.dut.u_memory.data[i % self.words].value) for i in range(first, last))
        data = b"".join(value.to_bytes(self.beat, "little") for value in values)
        return data[address % self.beat :][:size]

    def _rights(self, program: List) -> dict[int, dict[str, int]]:
        words: dict[int, dict[str, int]] = {}
        for address, data in program.image.items():
            for byte, value in enumerate(data, address):
                entry = words.setdefault(byte // self.beat % self.words, {"data": 0})
                entry["data"] |= value << 8 * (byte % self.beat)
                entry["readable"] = 1
        for address, data in program.expected.items():
            for byte in range(address, address + len(data)):
                entry = words.setdefault(byte // self.beat % self.words, {"data": 0})
                entry["writable"] = entry.get("writable", 0) | 1 << byte % self.beat
        return words


async def prepare(
    dut: Any, label: str, rest: int = 30, write_rest: int = 0
) -> tuple[System, Random]:
    """Start the system, see `System.start`, with random choices of its own."""
    system = System(dut)
    await system.start(rest, write_rest)
    return system, Random(f"{cocotb.RANDOM_SEED} {label}")
