# SPDX-License-Identifier: Apache-2.0
"""How far estimates may be off: the band of each source of cycles, and that of sums.

Nobody measured whether errors of different sources go together, so all bands of a sum add; that is
never too little. To compare two figures, each source may be anywhere within its band, but only at
one place for both: what both take of one source decides nothing.
"""

from collections.abc import Mapping
from types import MappingProxyType

from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Band:
    """How far the truth may lie from an estimate, as shares of the estimate.

    Attributes:
        low: below it.
        high: above it.
    """

    low: float
    high: float

    def __str__(self) -> str:
        low, high = (f"{100 * each:.0f}" for each in (self.low, self.high))
        return f"± {high} %" if low == high else f"-{low} to +{high} %"

    def as_json(self) -> dict[str, float]:
        """Return the fields by name."""
        return {"low": round(self.low, 4), "high": round(self.high, 4)}


@dataclass(frozen=True, slots=True)
class Source:
    """What cycles rest on whose errors go together.

    Attributes:
        name: tells it from others.
        basis: see `atoll.cost.basis`.
        band: None if it is not known.
    """

    name: str
    basis: str
    band: Band | None

    def __hash__(self) -> int:
        """Return the hash of the name, which tells most of them apart."""
        return hash(self.name)


Parts = Mapping[Source, int]
"""Cycles by their source."""

NO_PARTS: Parts = MappingProxyType({})


def add_parts(*each: Parts) -> Parts:
    """Return the sum of cycles of each source."""
    found: dict[Source, int] = {}
    for parts in each:
        for source, cycles in parts.items():
            found[source] = found.get(source, 0) + cycles
    return found


def joint_band(parts: Parts) -> Band | None:
    """Return the band of a sum, None if that of a part is not known, or if there is no part."""
    whole = sum(parts.values())
    bands = [(source.band, cycles) for source, cycles in parts.items() if cycles]
    if not whole or any(band is None for band, _ in bands):
        return None
    known = [(band, cycles / whole) for band, cycles in bands if band]
    low = sum(band.low * share for band, share in known)
    return Band(low, sum(band.high * share for band, share in known))


def could_be_less(one: Parts, other: Parts) -> bool:
    """Tell whether one sum may be less than the other one, with every source within its band.

    Nothing is said where a band is not known.
    """
    least = 0.0
    for source in {**one, **other}:
        more, band = one.get(source, 0) - other.get(source, 0), source.band
        if band is None:
            return False
        least += more * (1 - band.low if more > 0 else 1 + band.high)
    return least < 0


Pessimistic = tuple[bool, int]
"""The most that something may take: first that nobody knows, then cycles."""


def pessimistic(cycles: int, parts: Parts) -> Pessimistic:
    """Return the high end of the band of cycles; with any part that has none, that is more.

    There, that part counts as estimated.
    """
    known = {source: each for source, each in parts.items() if source.band}
    unknown = any(parts[source] for source in parts.keys() - known.keys())
    band = joint_band(known) or Band(0, 0)
    return unknown, cycles + round(sum(known.values()) * band.high)
