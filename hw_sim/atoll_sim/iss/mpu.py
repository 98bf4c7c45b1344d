# SPDX-License-Identifier: Apache-2.0
"""The registers of a Cortex-M's memory protection unit, and what they let privileged code do.

Sources: Armv7-M Architecture Reference Manual, B3.5; Armv8-M, section "MPU".
"""

from collections.abc import Iterator
from itertools import combinations

from atoll.resolve.specs import ProtectionUnit
from atoll_sim.iss.rules import READ, RUN, WRITE, Rules, Span

TYPE, CTRL, RNR, RBAR, RASR = 0xED90, 0xED94, 0xED98, 0xED9C, 0xEDA0
LAST_REGISTER = 0xEDBC
ENABLED, IN_HARD_FAULT, BACKGROUND = 1, 2, 4
VALID, REGION = 0x10, 0x0F
NEVER_V7, NEVER_V8, ACCESS_V7 = 1 << 28, 1, 0x100_0000
READABLE_V7, WRITABLE_V7 = frozenset({1, 2, 3, 5, 6, 7}), frozenset({1, 2, 3})
SUBREGIONS, LEAST_DIVIDED = 8, 256
EVERYTHING = READ | WRITE | RUN

SYSTEM = Span(0xE000_0000, 0xE00F_FFFF, READ | WRITE)
"""The private peripheral bus, which no region closes."""


class Mpu:
    """Its registers; without a unit they read 0."""

    def __init__(self, unit: ProtectionUnit | None, rules: Rules) -> None:
        self._count = unit.regions if unit and unit.unit.startswith("mpu") else 0
        self._v8 = bool(unit and unit.unit == "mpu_v8")
        self._rules = rules
        self._control = self._number = 0
        self._regions = [(0, 0)] * self._count
        self._in_fault = False

    def has(self, offset: int) -> bool:
        """Say whether a register is one of the unit."""
        return bool(self._count) and TYPE <= offset <= LAST_REGISTER

    def read(self, offset: int) -> int:
        """Return a register."""
        fixed = {TYPE: self._count << 8, CTRL: self._control, RNR: self._number}
        if offset in fixed:
            return fixed[offset]
        pair = self._regions[self._at(offset)]
        if (offset - RBAR) % 8:
            return pair[1]
        return pair[0] if self._v8 else pair[0] | self._number

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == CTRL:
            self._control = value & 7
        elif offset == RNR:
            self._number = value % self._count
        elif offset >= RBAR:
            self._write_region(offset, value)
        self._apply()

    def in_fault(self, *, active: bool) -> None:
        """Hear that the handler of faults begins or has ended."""
        self._in_fault = active
        self._apply()

    def _at(self, offset: int) -> int:
        """Return which region a register is of: those after the first pair are its aliases."""
        alias = (offset - RBAR) // 8
        return (self._number & ~3 | alias) % self._count if self._v8 and alias else self._number

    def _write_region(self, offset: int, value: int) -> None:
        if (offset - RBAR) % 8:
            number = self._at(offset)
            self._regions[number] = self._regions[number][0], value
            return
        if not self._v8 and value & VALID:
            self._number = (value & REGION) % self._count
        number = self._at(offset)
        base = value if self._v8 else value & ~0x1F
        self._regions[number] = base, self._regions[number][1]

    def _apply(self) -> None:
        works = self._control & ENABLED and (self._control & IN_HARD_FAULT or not self._in_fault)
        if not works:
            self._rules.protect((), EVERYTHING, whole=False)
            return
        spans = self._spans_v8() if self._v8 else self._spans_v7()
        rest = EVERYTHING if self._control & BACKGROUND else 0
        self._rules.protect([SYSTEM, *spans], rest, whole=False)

    def _spans_v7(self) -> Iterator[Span]:
        """Yield the parts of regions that are on, those of the highest number first."""
        for base, attributes in reversed(self._regions):
            if not attributes & ENABLED:
                continue
            size = 2 << (attributes >> 1 & 31)
            access = attributes // ACCESS_V7 % 8
            rights = READ * (access in READABLE_V7) | WRITE * (access in WRITABLE_V7)
            rights |= RUN * (bool(rights & READ) and not attributes & NEVER_V7)
            parts = SUBREGIONS if size >= LEAST_DIVIDED else 1
            begin, step = base & -size, size // parts
            for part in range(parts):
                if parts == 1 or not attributes >> 8 + part & 1:
                    first = begin + part * step
                    yield Span(first, first + step - 1, rights)

    def _spans_v8(self) -> tuple[Span, ...]:
        """Return the regions that are on; where two overlap, nothing is let through."""
        spans = []
        for base, limit in self._regions:
            if limit & ENABLED:
                writes = WRITE * (not base >> 2 & 1)
                runs = RUN * (not base & NEVER_V8)
                spans.append(Span(base & ~31, limit | 31, READ | writes | runs))
        both = (
            Span(max(a.first, b.first), min(a.last, b.last), 0)
            for a, b in combinations(spans, 2)
            if max(a.first, b.first) <= min(a.last, b.last)
        )
        return *both, *spans
