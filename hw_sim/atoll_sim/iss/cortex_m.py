# SPDX-License-Identifier: Apache-2.0
"""What Unicorn leaves out of a Cortex-M core: interrupt controller, timer, sleep and faults.

Names are those of the Armv7-M Architecture Reference Manual, chapter B3. Interrupts are never
taken: the firmware runs with PRIMASK set, sleeps in ``wfi`` or ``wfe`` and asks what is pending. A
fault is taken (`cortex_faults`), unless its handler is the end of Atoll's start-up code.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from atoll_sim.iss.cache_control import CacheControl
from atoll_sim.iss.cortex_faults import LEAVES, STAND_STILL, Faults, Words
from atoll_sim.iss.mpu import Mpu
from atoll_sim.iss.riscv import FETCH_FAULT, ILLEGAL, Lines, Next, Registers
from atoll_sim.iss.rules import Rules, Why

WFI, WFE, SEV = 0xBF30, 0xBF20, 0xBF40
SYST_CSR, SYST_RVR, SYST_CVR = 0xE010, 0xE014, 0xE018
NVIC_ISER, NVIC_ICER, NVIC_ISPR, NVIC_ICPR = 0xE100, 0xE180, 0xE200, 0xE280
NVIC_WORDS = 0x1C
"""Bits of the offset that name one of the eight words of such a register, for 32 lines each."""
ICSR, VTOR, SCR, CPACR = 0xED04, 0xED08, 0xED10, 0xED88
EVENT_ON_PENDING = 1 << 4
CCR, CCSIDR, CSSELR = 0xED14, 0xED80, 0xED84
CFSR, HFSR, MMFAR, BFAR = 0xED28, 0xED2C, 0xED34, 0xED38
PRECISE, FETCHED, UNDEFINED, FORCED = 0x8200, 0x100, 0x1_0000, 1 << 30
CLOSED, CLOSED_FETCH, NO_COPROCESSOR, UNALIGNED = 0x82, 0x01, 0x8_0000, 0x100_0000
ALIGN_ALL = 1 << 3
""" `CCR.UNALIGN_TRP`"""
FLOATS_AT = 20
"""Bits of CPACR from there on let privileged code use floating-point registers, if bit 0 is set."""

DCIMVAC, DCISW, DCCMVAC = 0xEF5C, 0xEF60, 0xEF68
CACHE_ON = 1 << 16
WAYS, SETS, WAY_AT, LEAST_LINE = 4, 64, 30, 16
"""Of the data cache that CCSIDR tells of; a line is none of them in particular."""

COUNT_ENABLED, TICK_INTERRUPTS = 1, 2
TICK_PENDING, TICK_FORGET = 1 << 26, 1 << 25
ALL = 0xFFFF_FFFF


class CortexSystem:
    """Its system control space, and what sleeps and faults."""

    def __init__(
        self,
        registers: Registers,
        words: Words,
        vectors: int,
        lines: Lines,
        cache: CacheControl,
        rules: Rules,
        mpu: Mpu,
        send: Callable[[], None],
    ) -> None:
        """Set it up as it is at reset; `send` sends an event to all cores."""
        self._send = send
        self._event: int | None = None
        self._for_event = False
        self._rules, self._mpu = rules, mpu
        self._lines = lines
        self._cache = cache
        self._forgotten: set[int] = set()
        self._enabled = 0
        self._faults = Faults(registers, words)
        self._words = words
        self._plain = {SYST_RVR: 0, VTOR: vectors, SCR: 0, CPACR: 0, CCR: 0, CSSELR: 0}
        self._causes = {CFSR: 0, HFSR: 0, MMFAR: 0, BFAR: 0}
        self._control = 0
        self._due: int | None = None
        self._ticked = False

    def system_words(self, words: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return which of the 16-bit heads of `words` are instructions that `execute` takes."""
        return np.isin(words & 0xFFFF, (WFI, WFE, SEV))

    def execute(self, word: int, address: int) -> Next:
        """Run one of those instructions: sleep, for good where a handler of faults ends so."""
        if word & 0xFFFF == SEV:
            self._send()
            return Next(address + 2)
        if word & 0xFFFF == WFE:
            return self._sleep_for_event(address)
        self._for_event = False
        if self._faults.active and self._words.word(address) == STAND_STILL:
            return Next(None)
        return Next(address + 2, asleep=True)

    def _sleep_for_event(self, address: int) -> Next:
        """Sleep until an event comes, unless one has."""
        came, self._event = self._event is not None, None
        self._for_event = not came
        return Next(address + 2, asleep=not came)

    def hear(self, at: int) -> None:
        """Take an event that a core has sent."""
        if self._event is None:
            self._event = at

    @staticmethod
    def length(data: bytes) -> int:
        """Return the bytes of the instruction in `data`."""
        return 4 if data[1] >> 3 >= 0b11101 else 2

    @staticmethod
    def last_length(before: bytes) -> int:
        """Return the bytes of the last instruction of `before`, the four bytes before the next."""
        return 4 if before[1] >> 3 >= 0b11101 else 2

    def trap(self, cause: int, address: int, value: int = 0, why: Why = Why.FIREWALL) -> Next:
        """Take a fault of the instruction at `address`; some cores take the end of a handler so."""
        if (back := self.handler_exit(address)) is not None:
            return back
        closed = why is Why.PROTECTED
        status = _status(cause, why)
        self._causes = {
            CFSR: status,
            HFSR: FORCED,
            MMFAR: value * closed,
            BFAR: value * (not closed),
        }
        handler = self._faults.enter(self._plain[VTOR], address)
        self._mpu.in_fault(active=self._faults.active)
        return Next(handler)

    def handler_exit(self, address: int) -> Next | None:
        """Return how the core goes on that would run `address`, if a handler ends so."""
        if not self._faults.active or address not in LEAVES:
            return None
        back = self._faults.leave()
        self._mpu.in_fault(active=self._faults.active)
        return Next(back)

    def interrupt(self, address: int) -> int:
        """Return where the core goes on that would run `address` next; its event is over."""
        if self._for_event:
            self._for_event, self._event = False, None
        return address

    def wakes(self) -> int | None:
        """Return when a core that sleeps goes on; None is never."""
        rises = [at for line, at in self._lines().items() if self._enabled >> line & 1]
        if self._for_event and not self._plain[SCR] & EVENT_ON_PENDING:
            return self._event
        if self._for_event and self._event is not None:
            rises.append(self._event)
        if self._ticked:
            rises.append(0)
        elif self._due is not None and self._control & TICK_INTERRUPTS:
            rises.append(self._due)
        return min(rises, default=None)

    def next_interrupt(self) -> int | None:
        """Return when a core that runs takes its next interrupt: never."""
        return None

    def read(self, offset: int, core: str, now: int) -> int:
        """See `atoll_sim.engines.interface.Device`."""
        self._tick(now)
        block, shift = offset & ~NVIC_WORDS, (offset & NVIC_WORDS) * 8
        if block in (NVIC_ISER, NVIC_ICER):
            return self._enabled >> shift & ALL
        if block in (NVIC_ISPR, NVIC_ICPR):
            high = sum(1 << line for line, at in self._lines().items() if at <= now)
            return high >> shift & ALL
        if offset == SYST_CSR:
            return self._control
        if offset == SYST_CVR:
            return 0 if self._due is None else self._due - now
        if offset == ICSR:
            return TICK_PENDING * self._ticked
        if self._mpu.has(offset):
            return self._mpu.read(offset)
        if offset == CCSIDR and self._cache.line:
            return SETS - 1 << 13 | WAYS - 1 << 3 | self._line().bit_length() - 5
        return self._causes.get(offset, 0) or self._plain.get(offset, 0)

    def write(self, offset: int, value: int, core: str, now: int) -> None:
        """See `atoll_sim.engines.interface.Device`."""
        self._tick(now)
        block, shift = offset & ~NVIC_WORDS, (offset & NVIC_WORDS) * 8
        if block == NVIC_ISER:
            self._enabled |= value << shift
        elif block == NVIC_ICER:
            self._enabled &= ~(value << shift)
        elif offset == SYST_CSR:
            self._control = value & 7
            self._begin(now)
        elif offset == SYST_CVR:
            self._begin(now)
        elif offset == ICSR:
            self._ticked = self._ticked and not value & TICK_FORGET
        elif offset in (DCIMVAC, DCCMVAC):
            self._cache.maintain(value, cleans=offset == DCCMVAC)
        elif offset == DCISW:
            self._forgotten.add(value)
        elif offset == CCR:
            self._switch(value)
            self._rules.align_all(on=bool(value & ALIGN_ALL))
        elif offset == CPACR:
            self._plain[CPACR] = value
            self._rules.let_floats(on=bool(value >> FLOATS_AT & 1))
        elif self._mpu.has(offset):
            self._mpu.write(offset, value)
        elif offset in (CFSR, HFSR):
            self._causes[offset] &= ~value
        elif offset in self._plain:
            self._plain[offset] = value

    def _line(self) -> int:
        """Return the bytes of a line as CCSIDR can tell them."""
        return max(self._cache.line, LEAST_LINE)

    def _switch(self, value: int) -> None:
        """Turn the data cache on, the first time that CCR says so."""
        turned = value & ~self._plain[CCR] & CACHE_ON
        self._plain[CCR] = value
        if turned and self._cache.line:
            places = {
                way << WAY_AT | at * self._line() for way in range(WAYS) for at in range(SETS)
            }
            self._cache.turn_on(forgotten=places <= self._forgotten)

    def _begin(self, now: int) -> None:
        """Let the timer count down from its reload value, if it is on."""
        enabled = self._control & COUNT_ENABLED
        self._due = now + self._plain[SYST_RVR] if enabled else None

    def _tick(self, now: int) -> None:
        """Let the timer run out as often as it did."""
        if self._due is None or now < self._due:
            return
        self._ticked = self._ticked or bool(self._control & TICK_INTERRUPTS)
        period = self._plain[SYST_RVR] + 1
        self._due += ((now - self._due) // period + 1) * period


def _status(cause: int, why: Why) -> int:
    """Return CFSR for a fault."""
    if why is Why.MISALIGNED:
        return UNALIGNED
    if why is Why.FLOATS_OFF:
        return NO_COPROCESSOR
    if why is Why.PROTECTED:
        return CLOSED_FETCH if cause == FETCH_FAULT else CLOSED
    return {ILLEGAL: UNDEFINED, FETCH_FAULT: FETCHED}.get(cause, PRECISE)
