# SPDX-License-Identifier: Apache-2.0
"""The registers of RISC-V's physical memory protection, and what they let machine mode do.

Source: the privileged architecture, volume II, section 3.7.
"""

from collections.abc import Iterator

from atoll.resolve.specs import ProtectionUnit
from atoll_sim.iss.rules import READ, RUN, WRITE, Rules, Span

CONFIGS, ADDRESSES = range(0x3A0, 0x3B0), range(0x3B0, 0x3F0)
LOCKED = 0x80
OFF, TOP_OF_RANGE, FOUR_BYTES = range(3)
KEPT = LOCKED | 0x1F
"""Bits of a configuration that there are."""

LAST = 0xFFFF_FFFF
EVERYTHING = READ | WRITE | RUN
NOTHING = 0


class Pmp:
    """Its registers; without a unit they are none, and read 0."""

    def __init__(self, unit: ProtectionUnit | None, bits: int, rules: Rules) -> None:
        pmp = unit if unit and unit.unit == "pmp" else None
        self._rules = rules
        self._held = bits // 8
        self._address_mask = (1 << (54 if bits == 64 else 32)) - 1
        self._configs = [0] * (pmp.regions if pmp else 0)
        self._addresses = [0] * len(self._configs)
        self._least = pmp.granule if pmp else 4

    def has(self, csr: int) -> bool:
        """Say whether a register is one of the unit."""
        return bool(self._configs) and (csr in CONFIGS or csr in ADDRESSES)

    def read(self, csr: int) -> int:
        """Return a register."""
        if csr in ADDRESSES:
            number = csr - ADDRESSES.start
            return self._addresses[number] if number < len(self._addresses) else 0
        first = 4 * (csr - CONFIGS.start)
        held = self._configs[first : first + self._held]
        return sum(config << 8 * place for place, config in enumerate(held))

    def write(self, csr: int, value: int) -> None:
        """Write a register; what is locked stays."""
        if csr in ADDRESSES:
            number = csr - ADDRESSES.start
            if number < len(self._addresses) and not self._address_locked(number):
                self._addresses[number] = value & self._address_mask
        else:
            first = 4 * (csr - CONFIGS.start)
            for number in range(first, min(first + self._held, len(self._configs))):
                if not self._configs[number] & LOCKED:
                    self._configs[number] = _legal(value >> 8 * (number - first) & KEPT)
        self._rules.protect([*self._spans()], EVERYTHING, whole=True)

    def _address_locked(self, number: int) -> bool:
        following = self._configs[number + 1] if number + 1 < len(self._configs) else 0
        tops = following & LOCKED and following >> 3 & 3 == TOP_OF_RANGE
        return bool(self._configs[number] & LOCKED or tops)

    def _spans(self) -> Iterator[Span]:
        """Yield what each entry matches; only locked ones bind machine mode."""
        for number, config in enumerate(self._configs):
            first, end = self._match(number, config >> 3 & 3)
            if first < min(end, LAST + 1):
                rights = config & EVERYTHING if config & LOCKED else EVERYTHING
                yield Span(first, min(end - 1, LAST), rights)

    def _match(self, number: int, kind: int) -> tuple[int, int]:
        address = self._addresses[number] << 2
        if kind == OFF:
            return 0, 0
        if kind == TOP_OF_RANGE:
            below = self._addresses[number - 1] << 2 if number else 0
            return below & -self._least, address & -self._least
        if kind == FOUR_BYTES:
            return address, address + 4
        ones = ~self._addresses[number] & self._addresses[number] + 1
        size = max(8 * ones, self._least)
        return address & -size, (address & -size) + size


def _legal(config: int) -> int:
    """Return a configuration without what is reserved: to write, and not to read."""
    return config if config & READ else config & ~WRITE
