# SPDX-License-Identifier: Apache-2.0
"""PicoRV32's own interrupts, traps and sleep (its README: custom instructions for interrupts)."""

import numpy as np
from numpy.typing import NDArray

from atoll_sim.iss.riscv import (
    ALL,
    BREAKPOINT,
    CYCLE_HIGH,
    EBREAK_WORD,
    ECALL_WORD,
    RETIRED_HIGH,
    RETIRED_LOW,
    Lines,
    Next,
    Registers,
    RiscvSystem,
)
from atoll_sim.iss.rules import Why


class PicoSystem:
    """PicoRV32 with its own interrupts: lines are masked and waited for by its own instructions."""

    GETQ, SETQ, RETIRQ, MASKIRQ, WAITIRQ, TIMER = range(6)
    VECTOR = 0x10

    def __init__(self, registers: Registers, lines: Lines, reset: int) -> None:
        """Connect it to a core that begins at `reset`."""
        self._registers = registers
        self._lines = lines
        self._vector = reset + self.VECTOR
        self._saved = [0, 0, 0, 0]
        self._mask = ALL
        self._active = False
        self._due: int | None = None

    def system_words(self, words: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which of the 32-bit `words` are instructions that `execute` takes."""
        own: NDArray[np.bool_] = (words & 0x7F == 0x0B) & (words >> 25 <= self.TIMER)
        counters = (words & 0x7F == 0x73) & (words >> 12 & 7 == 2) & (words >> 30 == 3)
        found: NDArray[np.bool_] = own | counters | np.isin(words, (ECALL_WORD, EBREAK_WORD))
        return found

    def execute(self, word: int, address: int) -> Next:
        """Run one of those instructions."""
        if word in (ECALL_WORD, EBREAK_WORD):
            return self.trap(BREAKPOINT, address)
        target, source = word >> 7 & 31, self._registers.get(word >> 15 & 31)
        if word & 0x7F == 0x73:
            self._registers.set(target, self._counter(word >> 20))
            return Next(address + 4)
        following = address + 4
        match word >> 25:
            case self.GETQ:
                self._registers.set(target, self._saved[word >> 15 & 3])
            case self.SETQ:
                self._saved[target & 3] = source
            case self.RETIRQ:
                following, self._active = self._saved[0] & ~1, False
            case self.MASKIRQ:
                self._registers.set(target, self._mask)
                self._mask = source
            case self.WAITIRQ:
                pending = self._pending_interrupts()
                if not pending:
                    return Next(address, asleep=True)
                self._registers.set(target, pending)
            case self.TIMER:
                self._registers.set(target, self._cycles_left())
                now, _ = self._registers.counters()
                # What has run out stays pending until it is taken.
                if not self._is_due():
                    self._due = now + source if source else None
        return Next(following)

    length = staticmethod(RiscvSystem.length)
    last_length = staticmethod(RiscvSystem.last_length)

    def trap(self, cause: int, address: int, value: int = 0, why: Why = Why.FIREWALL) -> Next:
        """Stand still: every exception is the end."""
        return Next(None)

    def handler_exit(self, address: int) -> Next | None:
        """Return None: an instruction of its own ends a handler."""
        return None

    def interrupt(self, address: int) -> int:
        """Return where the core goes on that would run `address` next."""
        wanted = self._pending_interrupts() & ~self._mask
        if self._active or not wanted:
            return address
        self._active = True
        self._saved[:2] = address, wanted
        if wanted & 1:
            self._due = None
        return self._vector

    def wakes(self) -> int | None:
        """Return when a core that sleeps goes on, also by a line that is masked; None is never."""
        return min(self._rises().values(), default=None)

    def next_interrupt(self) -> int | None:
        """Return when a core that runs takes its next interrupt; None is never."""
        if self._active:
            return None
        rises = self._rises().items()
        return min((at for line, at in rises if not self._mask >> line & 1), default=None)

    def _rises(self) -> dict[int, int]:
        """Return the lines that are or will be high, and from when on; 0 is the timer."""
        timer = {} if self._due is None else {0: self._due}
        return {**self._lines(), **timer}

    def _pending_interrupts(self) -> int:
        now, _ = self._registers.counters()
        high = sum(1 << line for line, at in self._lines().items() if at <= now)
        return high | self._is_due()

    def _is_due(self) -> bool:
        now, _ = self._registers.counters()
        return self._due is not None and self._due <= now

    def _cycles_left(self) -> int:
        now, _ = self._registers.counters()
        return 0 if self._due is None else max(0, self._due - now)

    def _counter(self, csr: int) -> int:
        cycles, retired = self._registers.counters()
        value = retired if csr in RETIRED_LOW | RETIRED_HIGH else cycles
        return value >> (32 if csr in CYCLE_HIGH | RETIRED_HIGH else 0) & ALL
