# SPDX-License-Identifier: Apache-2.0
"""Values of a sweep's axes and limits: numbers, sizes, frequencies and times."""

from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Protocol

from atoll.diagnostics.units import (
    format_frequency,
    format_size,
    parse_duration,
    parse_frequency,
    parse_size,
)
from atoll.records import dataclass

MOST_VALUES = 4096

UNITS = {
    "cycles": "",
    "time_us": "time",
    "ram_bytes": "size",
    "rom_bytes": "size",
    "moved_bytes": "size",
    "energy_pj": "",
    "area_um2": "",
    "logic_um2": "",
    "sram_bytes": "size",
}
"""The figures of a point, each with what its limits may be besides numbers."""

_PARSERS: Mapping[str, Callable[[str], float]] = {
    "size": parse_size,
    "frequency": parse_frequency,
    "time": lambda text: parse_duration(text) * 10**6,
}
_MOST = 2**63
"""No figure of a chip is larger, and its powers still have room in a float."""
_NEARLY = 1e-9
"""A share by which the sum of many steps may be above the end."""


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One value of an axis.

    Attributes:
        label: as it is shown.
        sets: what it sets, as key and text.
    """

    label: str | int | float | bool
    sets: tuple[tuple[str, str], ...]


class Range(Protocol):
    """What an axis says of a range."""

    @property
    def first(self) -> str | int | float | None: ...  # noqa: D102
    @property
    def last(self) -> str | int | float | None: ...  # noqa: D102
    @property
    def step(self) -> str | int | float | None: ...  # noqa: D102
    @property
    def times(self) -> int | None: ...  # noqa: D102


def kind_of(value: object) -> str:
    """Return ``number``, ``size`` or ``frequency``; nothing of another value."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "size" if isinstance(value, int) else "number"
    if isinstance(value, str):
        for kind in ("size", "frequency"):
            try:
                _PARSERS[kind](value)
                return kind
            except ValueError:
                continue
    return ""


def magnitude(value: object) -> float | None:
    """Return a number, or how many bytes or hertz a text says; None of another value."""
    kind = kind_of(value)
    if isinstance(value, str) and kind:
        return _PARSERS[kind](value)
    return value if kind and isinstance(value, int | float) else None


def limit_of(value: object, unit: str) -> float | None:
    """Return a number above 0, or what a text says in a unit; None of another value."""
    if isinstance(value, str):
        try:
            value = _PARSERS[unit](value)
        except (KeyError, ValueError):
            return None
    whole = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if whole and value > 0 else None  # type: ignore[arg-type, operator]


def as_text(value: object) -> str:
    """Return a value as a file would say it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def range_values(axis: Range) -> tuple[str | None, tuple[str | int | float, ...]]:
    """Return what is wrong with a range, if anything is, and its values."""
    first, last, step = map(magnitude, (axis.first, axis.last, axis.step))
    said = [each for each in (axis.first, axis.last, axis.step) if each is not None]
    wrong = None
    if first is None or last is None:
        wrong = "has 'from' without 'to'" if last is None else "has 'to' without 'from'"
    elif (step is None) == (axis.times is None):
        wrong = "needs 'step' or 'times', and not both"
    elif step is not None and step <= 0:
        wrong = "has a 'step' that is not above 0"
    elif len({kind_of(each) for each in said if isinstance(each, str)}) > 1:
        wrong = "has bounds of different units"
    elif axis.times and first <= 0:
        wrong = "has 'times', and begins at 0 or below"
    elif last > _MOST:
        wrong = "ends above 2^63"
    elif last < first:
        wrong = "ends before it begins"
    elif step is not None and (last - first) / step >= MOST_VALUES:
        wrong = f"has more than {MOST_VALUES} values"
    if wrong:
        return wrong, ()
    assert first is not None
    assert last is not None
    return None, tuple(map(_writer_of(said), _steps(first, last, step, axis.times)))


def _steps(first: float, last: float, step: float | None, times: int | None) -> Iterator[float]:
    value, number = first, count(1)
    while value <= last + _NEARLY * abs(last):
        yield value
        value = first + next(number) * step if step is not None else value * (times or 1)


def _writer_of(said: list[str | int | float]) -> Callable[[float], str | int | float]:
    """Return what writes the values of a range as its bounds are written."""
    texts = [each for each in said if isinstance(each, str)]
    if not texts:
        return lambda value: round(value, 9) if isinstance(value, float) else value
    if kind_of(texts[0]) == "size":
        return lambda value: format_size(int(value))
    return lambda value: format_frequency(int(value))
