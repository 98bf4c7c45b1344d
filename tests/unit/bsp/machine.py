# SPDX-License-Identifier: Apache-2.0
"""A PicoRV32 in Python: runs linked firmware instruction by instruction, with its interrupts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

import capstone
from elftools.elf.elffile import ELFFile
from tests.unit.bsp.operations import OPERATIONS, WORD, Operands, custom

PAGE = 0xFFF
INTERRUPT = 0x10


class Registers(Protocol):
    """A block of memory-mapped registers."""

    def read(self, offset: int) -> int: ...

    def write(self, offset: int, value: int) -> None: ...


class HaltError(Exception):
    """A device asked for the end."""


@dataclass
class Memory:
    """RAM by origin, and register blocks of 4 KiB by origin."""

    ram: dict[int, bytearray]
    devices: Mapping[int, Registers]

    def read(self, address: int, size: int) -> int:
        assert address % size == 0, f"misaligned load from {address:#x}"
        if (device := self.devices.get(address & ~PAGE)) is not None:
            return device.read(address & PAGE)
        data, offset = self._find(address)
        return int.from_bytes(data[offset : offset + size], "little")

    def write(self, address: int, value: int, size: int) -> None:
        assert address % size == 0, f"misaligned store to {address:#x}"
        if (device := self.devices.get(address & ~PAGE)) is not None:
            device.write(address & PAGE, value)
            return
        data, offset = self._find(address)
        data[offset : offset + size] = (value % (1 << 8 * size)).to_bytes(size, "little")

    def load(self, elf: Path) -> int:
        """Put segments at their load addresses, as a programmer fills a flash; return the entry."""
        with elf.open("rb") as file:
            image = ELFFile(file)
            for segment in image.iter_segments("PT_LOAD"):
                if data := segment.data():
                    into, offset = self._find(segment["p_paddr"])
                    into[offset : offset + len(data)] = data
            return int(image["e_entry"])

    def _find(self, address: int) -> tuple[bytearray, int]:
        for origin, data in self.ram.items():
            if origin <= address < origin + len(data):
                return data, address - origin
        raise AssertionError(f"nothing at {address:#x}")


@dataclass
class Machine:
    """A core with its memory and interrupt unit; every instruction takes one cycle.

    Attributes:
        lines: interrupt lines that are high now.
        handler: where an interrupt continues.
    """

    memory: Memory
    lines: Callable[[], int] = lambda: 0
    pc: int = 0
    x: list[int] = field(default_factory=lambda: [0] * 32)
    timer: int = 0
    latched: int = 0
    high: int = 0
    mask: int = WORD
    resume: int | None = None
    handler: int = INTERRUPT
    decoded: dict[int, tuple[int, Callable[[], None]]] = field(default_factory=dict)

    def run(self, most: int = 1_000_000) -> None:
        try:
            for _ in range(most):
                self.step()
        except HaltError:
            return
        raise AssertionError(f"still running at {self.pc:#x}")

    def step(self) -> None:
        """Take an interrupt or run one instruction."""
        self.high = self.lines()
        if self.timer:
            self.timer -= 1
            self.latched |= self.timer == 0
        if self.pending & ~self.mask and self.resume is None:
            self.resume, self.pc = self.pc, self.handler
            self.latched &= self.mask
            return
        if self.pc not in self.decoded:
            self.decoded[self.pc] = self._decode()
        size, action = self.decoded[self.pc]
        self.pc += size
        action()
        self.x[0] = 0

    @property
    def pending(self) -> int:
        return self.latched | self.high

    def _decode(self) -> tuple[int, Callable[[], None]]:
        size = 4 if self.memory.read(self.pc, 2) & 3 == 3 else 2
        halves = (self.memory.read(self.pc + half, 2) for half in range(0, size, 2))
        code = b"".join(half.to_bytes(2, "little") for half in halves)
        engine = capstone.Cs(
            capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        )
        engine.detail = True
        found = next(engine.disasm(code, self.pc), None)
        if found is None:
            return size, partial(custom, self, int.from_bytes(code, "little"))
        return size, partial(
            OPERATIONS[found.mnemonic.removeprefix("c.")], self, Operands.of(found)
        )
