"""Drives `reef_system_bench`: reef and a memory that works without Python."""

from dataclasses import dataclass, field
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, with_timeout

from atoll.codegen.reef_descriptor import DESCRIPTOR_BYTES
from atoll_sim.benches.reef_golden import Layer

CONTROL, STATUS, ERROR, FAULT_ADDRESS = 0x0C, 0x10, 0x14, 0x18
LIST_ADDRESS, LIST_COUNT, COMPLETED, IRQ_ENABLE, IRQ_STATUS = 0x1C, 0x20, 0x24, 0x28, 0x2C
CYCLES, STALLS = 0x30, 0x34
PERIOD_NS = 10
ORIGIN = 0x2000_0000


def parameter(name: str, default: int) -> int:
    """Return a parameter of the top level as the runner set it."""
    return int(cocotb.plusargs.get(name, default))


@dataclass(slots=True)
class Program:
    """A list of operators laid out in memory.

    Attributes:
        image: what the memory holds at the start, by byte address.
        expected: what the outputs must be, by byte address.
    """

    random: Random
    input_lanes: int
    output_lanes: int
    next_address: int = ORIGIN
    image: dict[int, bytes] = field(default_factory=dict)
    expected: dict[int, bytes] = field(default_factory=dict)
    commands: list[bytes] = field(default_factory=list)
    list_address: int = 0

    def place(self, size: int, alignment: int) -> int:
        """Reserve bytes at the next multiple of `alignment`, after a random gap."""
        gap = self.random.choice((0, 0, 1, 3, 8, 17, 50))
        address = -(-(self.next_address + gap) // alignment) * alignment
        self.next_address = address + size
        return address

    def load(self, data: bytes, alignment: int) -> int:
        """Place `data` in memory and return its address."""
        address = self.place(len(data), alignment)
        self.image[address] = data
        return address

    def add(self, layer: Layer, **changes: int) -> None:
        """Append an operator; `changes` replace fields of its descriptor."""
        weights, table = layer.packed(self.input_lanes, self.output_lanes)
        result = layer.result().tobytes()
        addresses = (
            self.load(layer.x.tobytes(), 1),
            self.place(len(result), 1),
            self.load(weights, 16),
            self.load(table, 16),
        )
        self.expected[addresses[1]] = result
        blocks = -(-layer.channels // self.output_lanes)
        command = layer.descriptor(addresses, len(weights) // blocks)
        self.commands.append(_changed(command.encode(), changes))

    def finish(self) -> None:
        """Place the list itself."""
        self.list_address = self.load(b"".join(self.commands), DESCRIPTOR_BYTES)


def _changed(command: bytes, changes: dict[str, int]) -> bytes:
    """Replace whole words ``word<number>`` of a command."""
    words = [command[i : i + 4] for i in range(0, len(command), 4)]
    for name, value in changes.items():
        words[int(name.removeprefix("word"))] = value.to_bytes(4, "little")
    return b"".join(words)


class System:
    """The bench's hands: clock, reset, registers and memory contents."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.beat = parameter("DataBytes", 8)
        self.words = len(dut.u_memory.data)
        self._touched: set[int] = set()

    def program(self, random: Random) -> Program:
        """Return an empty list for this instance."""
        lanes = parameter("InputLanes", 8), parameter("OutputLanes", 8)
        return Program(random, *lanes)

    async def start(self, rest: int = 0) -> None:
        """Start the clock, reset, and let the memory rest with this chance in 256."""
        Clock(self.dut.clk_i, PERIOD_NS, unit="ns").start()
        for name in ("address_i", "wdata_i", "write_i", "read_i"):
            getattr(self.dut, name).value = 0
        self.dut.rest_i.value = rest
        for word in range(self.words):
            self._permit(word, answer=0, readable=0, writable=0)
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

    def install(self, program: Program) -> None:
        """Fill the memory; only what the program needs may be read or written afterwards."""
        for word in self._touched:
            self._permit(word, answer=0, readable=0, writable=0)
        self._touched.clear()
        for address, data in program.image.items():
            self._store(address, data)
        for address, data in program.expected.items():
            for byte in range(address, address + len(data)):
                word, lane = self._word(byte), byte % self.beat
                mask = int(self.dut.u_memory.writable[word].value) if word in self._touched else 0
                self._permit(word, writable=mask | 1 << lane)

    def _permit(self, word: int, **rights: int) -> None:
        for name, value in rights.items():
            getattr(self.dut.u_memory, name)[word].value = value
