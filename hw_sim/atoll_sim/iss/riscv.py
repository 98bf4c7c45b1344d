# SPDX-License-Identifier: Apache-2.0
"""What Unicorn leaves out of a RISC-V core: its own registers, traps, interrupts and sleep.

`RiscvSystem` is the machine mode of the privileged specification, with the lines of a core's
description; `picorv32` is another way.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from atoll_sim.iss.cache_control import CacheControl
from atoll_sim.iss.pmp import Pmp
from atoll_sim.iss.rules import Rules, Why

ILLEGAL, BREAKPOINT, LOAD_FAULT, STORE_FAULT, FETCH_FAULT, ECALL = 2, 3, 5, 7, 1, 11
LOAD_MISALIGNED, STORE_MISALIGNED = 4, 6

MSTATUS, MIE, MTVEC, MEPC, MCAUSE, MTVAL, MIP = 0x300, 0x304, 0x305, 0x341, 0x342, 0x343, 0x344
CYCLE_LOW = frozenset({0xB00, 0xC00, 0xC01})
CYCLE_HIGH = frozenset({0xB80, 0xC80, 0xC81})
RETIRED_LOW, RETIRED_HIGH = frozenset({0xB02, 0xC02}), frozenset({0xB82, 0xC82})
FLOAT_REGISTERS = range(1, 4)
"""Unicorn has these."""

TIMER_BIT, EXTERNAL_BIT = 7, 11
MASK, PENDING = 0xBC0, 0xFC0
STATUS_MIE, STATUS_MPIE, MACHINE_MODE, FLOATS_ON = 1 << 3, 1 << 7, 3 << 11, 3 << 13
ECALL_WORD, EBREAK_WORD, MRET_WORD, WFI_WORD = 0x0000_0073, 0x0010_0073, 0x3020_0073, 0x1050_0073

CBO_MASK, CBO, CBO_CLEAN = 0x7FFF, 0x200F, 1
"""cbo.inval and cbo.clean of Zicbom, by bits 31..20."""

ALL = 0xFFFF_FFFF


class Registers(Protocol):
    """The integer registers of a core, and its counters."""

    def get(self, number: int) -> int:
        """Return x`number`."""
        ...

    def set(self, number: int, value: int) -> None:
        """Set x`number`; x0 stays."""
        ...

    def counters(self) -> tuple[int, int]:
        """Return cycles and instructions so far."""
        ...


class Next(NamedTuple):
    """What comes after an instruction.

    Attributes:
        pc: None if the core stands still for good.
    """

    pc: int | None
    asleep: bool = False


Lines = Callable[[], Mapping[int, int]]
"""Interrupt lines that are or will be high, and from when on."""


class RiscvSystem:
    """Machine mode of a standard core."""

    def __init__(
        self,
        registers: Registers,
        lines: Lines,
        timer: Callable[[], int],
        first_bit: int | None,
        cache: CacheControl,
        rules: Rules,
        pmp: Pmp,
        bits: int = 32,
    ) -> None:
        """Connect it.

        Args:
            registers: of the core.
            lines: at the core.
            timer: when its timer's interrupt is raised.
            first_bit: bit of `mip` of line 0; None: lines are bits of the registers 0xBC0 (mask)
                and 0xFC0 (pending), and together the external interrupt.
            cache: the data cache.
            rules: hears whether instructions on floats may run.
            pmp: its memory protection.
            bits: of a register.
        """
        self._bits = bits
        self._all = (1 << bits) - 1
        self._registers = registers
        self._cache, self._rules, self._pmp = cache, rules, pmp
        self._lines = lines
        self._timer = timer
        self._first_bit = first_bit
        self._csr: dict[int, int] = {MSTATUS: MACHINE_MODE, 0x301: 0x4000_0000}

    def system_words(self, words: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which of the 32-bit `words` are instructions that `execute` takes."""
        function = words >> 12 & 7
        csr = words >> 20
        registers: NDArray[np.bool_] = (words & 0x7F == 0x73) & (function & 3 != 0)
        registers &= (csr < FLOAT_REGISTERS.start) | (csr >= FLOAT_REGISTERS.stop)
        lines: NDArray[np.bool_] = (words & CBO_MASK == CBO) & (csr <= CBO_CLEAN)
        return registers | lines | np.isin(words, (ECALL_WORD, EBREAK_WORD, MRET_WORD, WFI_WORD))

    def execute(self, word: int, address: int) -> Next:
        """Run one of those instructions."""
        if word == ECALL_WORD:
            return self.trap(ECALL, address)
        if word == EBREAK_WORD:
            return self.trap(BREAKPOINT, address)
        if word == MRET_WORD:
            status = self._csr[MSTATUS]
            enabled = STATUS_MIE if status & STATUS_MPIE else 0
            self._csr[MSTATUS] = status & ~STATUS_MIE | STATUS_MPIE | enabled
            return Next(self._csr.get(MEPC, 0))
        if word == WFI_WORD:
            return Next(address + 4, asleep=True)
        if word & CBO_MASK == CBO:
            line = self._registers.get(word >> 15 & 31)
            self._cache.maintain(line, cleans=word >> 20 == CBO_CLEAN)
        else:
            self._access(word)
        return Next(address + 4)

    @staticmethod
    def length(data: bytes) -> int:
        """Return the bytes of the instruction in `data`."""
        return 4 if data[0] & 3 == 3 else 2

    @staticmethod
    def last_length(before: bytes) -> int:
        """Return the bytes of the last instruction of `before`, the four bytes before the next."""
        return 4 if before[0] & 3 == 3 else 2

    def trap(self, cause: int, address: int, value: int = 0, why: Why = Why.FIREWALL) -> Next:
        """Take an exception of the instruction at `address`."""
        self._enter(cause, address, value)
        return Next(self._csr.get(MTVEC, 0) & ~3)

    def handler_exit(self, address: int) -> Next | None:
        """Return None: an instruction of its own ends a handler."""
        return None

    def interrupt(self, address: int) -> int:
        """Return where the core goes on that would run `address` next."""
        wanted = self._pending_interrupts() & self._csr.get(MIE, 0)
        if not wanted or not self._csr[MSTATUS] & STATUS_MIE:
            return address
        cause = wanted.bit_length() - 1
        self._enter(1 << self._bits - 1 | cause, address, 0)
        vector = self._csr.get(MTVEC, 0)
        return (vector & ~3) + (4 * cause if vector & 1 else 0)

    def wakes(self) -> int | None:
        """Return when a core that sleeps goes on; None is never."""
        enabled = self._csr.get(MIE, 0)
        return min((at for bit, at in self._rises() if enabled >> bit & 1), default=None)

    def next_interrupt(self) -> int | None:
        """Return when a core that runs takes its next interrupt; None is never."""
        return self.wakes() if self._csr[MSTATUS] & STATUS_MIE else None

    def _enter(self, cause: int, address: int, value: int) -> None:
        status = self._csr[MSTATUS]
        previous = STATUS_MPIE if status & STATUS_MIE else 0
        self._csr[MSTATUS] = status & ~(STATUS_MIE | STATUS_MPIE) | previous | MACHINE_MODE
        self._csr |= {MCAUSE: cause, MEPC: address, MTVAL: value}

    def _rises(self) -> Iterator[tuple[int, int]]:
        """Yield bits of `mip` that are or will be set, and from when on."""
        yield TIMER_BIT, self._timer()
        for line, at in self._lines().items():
            if self._first_bit is not None:
                yield line + self._first_bit, at
            elif self._csr.get(MASK, 0) >> line & 1:
                yield EXTERNAL_BIT, at

    def _pending_interrupts(self) -> int:
        now, _ = self._registers.counters()
        return sum({1 << bit for bit, at in self._rises() if at <= now})

    def _access(self, word: int) -> None:
        csr, function, source = word >> 20, word >> 12 & 7, word >> 15 & 31
        operand = source if function & 4 else self._registers.get(source)
        old = self._value(csr)
        if function & 3 == 1:
            self._write(csr, operand)
        elif source:
            self._write(csr, old | operand if function & 3 == 2 else old & ~operand & self._all)
        self._registers.set(word >> 7 & 31, old)

    def _write(self, csr: int, value: int) -> None:
        if self._pmp.has(csr):
            self._pmp.write(csr, value)
            return
        self._csr[csr] = value
        if csr == MSTATUS:
            self._rules.let_floats(on=bool(value & FLOATS_ON))

    def _value(self, csr: int) -> int:
        cycles, retired = self._registers.counters()
        if csr == MIP:
            return self._pending_interrupts()
        if self._pmp.has(csr):
            return self._pmp.read(csr)
        if csr == PENDING and self._first_bit is None:
            lines = self._lines().items()
            return self._csr.get(MASK, 0) & sum(1 << line for line, at in lines if at <= cycles)
        for low, high, value in (
            (CYCLE_LOW, CYCLE_HIGH, cycles),
            (RETIRED_LOW, RETIRED_HIGH, retired),
        ):
            if csr in low or csr in high:
                return value >> (32 if csr in high else 0) & self._all
        return self._csr.get(csr, 0)


def load_target(data: bytes, bits: int) -> int:
    """Return which register the load instruction in `data` writes; 0 if it is none.

    Args:
        data: the instruction.
        bits: of a register; with 32, floats are loaded where with 64 doublewords are.
    """
    loads = (2, 3) if bits == 64 else (2,)
    half = int.from_bytes(data[:2], "little")
    if half & 3 == 3:
        return half >> 7 & 31 if half & 0x7F == 0x03 else 0
    if half & 3 == 0 and half >> 13 in loads:
        return 8 + (half >> 2 & 7)
    return half >> 7 & 31 if half & 3 == 2 and half >> 13 in loads else 0
