# SPDX-License-Identifier: Apache-2.0
"""Values of documents that know where they are: what a page shows carries its place."""

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup, escape

from atoll.cost.bands import Band
from atoll.diagnostics.shown import printable
from atoll.records import dataclass

_FREQUENCIES = ((10**9, "GHz"), (10**6, "MHz"), (10**3, "kHz"))
_ADDRESSES = ("address", "first_address", "last_address", "origin", "byte", "seen_at")
_UNITS = {"_bytes": "B", "_ns": "ns", "_seconds": "s", "_pj": "pJ", "_um2": "µm²"}
UNKNOWN = "not known"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place.

    Attributes:
        raw: the value, as JSON has it.
        pointer: a JSON pointer (RFC 6901) into the documents of the report.
    """

    raw: Any
    pointer: str = ""

    def __getitem__(self, key: str | int) -> "Node":
        return Node(self.raw[key], f"{self.pointer}/{_token(key)}")

    def __iter__(self) -> Iterator["Node"]:
        return (self[number] for number in range(len(self.raw or ())))

    def __len__(self) -> int:
        return len(self.raw or ())

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __str__(self) -> str:
        return value_text(self.raw, *self.pointer.split("/")[-2:])

    def __html__(self) -> Markup:
        return self.to_markup()

    @property
    def known(self) -> bool:
        """The document has a value here."""
        return self.raw is not None

    def items(self) -> Iterator[tuple[str, "Node"]]:
        """Yield keys and values of an object."""
        return ((key, self[key]) for key in self.raw or ())

    def get(self, key: str) -> "Node":
        """Return the value of a key; that of a key that is not there is not known."""
        return self[key] if key in (self.raw or ()) else Node(None, f"{self.pointer}/{_token(key)}")

    def to_markup(self, unknown: str = UNKNOWN) -> Markup:
        """Return the value as HTML; a number says where it is from.

        Args:
            unknown: what is shown of a value that is not known.
        """
        if self.raw is None:
            return Markup('<span class="unknown">{}</span>').format(unknown)
        if isinstance(self.raw, str):
            return escape(str(self))
        pointer = escape(printable(self.pointer))
        return Markup(f'<data data-json="{pointer}">{escape(str(self))}</data>')


def value_text(value: object, *keys: str) -> str:
    """Return a value as people read it; its key, or that of the object it is in, says its unit."""
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case int() if any(key in _ADDRESSES for key in keys):
            return f"{value:#010x}"
        case int() if keys and keys[-1].endswith("_hz"):
            return _frequency(value)
        case int() | float():
            return f"{value:,}{_unit(keys)}"
        case str():
            return printable(value)
        case list():
            return ", ".join(value_text(each, *keys) for each in value)
        case {"low": low, "high": high}:
            return str(Band(low, high))
    return printable(str(value))


def _unit(keys: tuple[str, ...]) -> str:
    for suffix, unit in _UNITS.items():
        if any(key.endswith(suffix) for key in keys):
            return f" {unit}"
    return ""


def count_text(number: int, what: str) -> str:
    """Return how many there are of a thing."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _frequency(hertz: int) -> str:
    for size, unit in _FREQUENCIES:
        if hertz % size == 0 and hertz:
            return f"{hertz // size:,} {unit}"
    return f"{hertz:,} Hz"


def _token(key: str | int) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
