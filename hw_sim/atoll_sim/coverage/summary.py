# SPDX-License-Identifier: Apache-2.0
"""What was reached and what was not, as text and as JSON."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Self

from atoll.records import dataclass
from atoll_sim.coverage.bins import Group, Hits
from atoll_sim.coverage.points import Counts, Kind, Point

_EDGE = re.compile(r"(.*?)(?:\[([0-9]+)\])?:(0->1|1->0)")
_EDGES = {
    ("0->1",): "never rises",
    ("1->0",): "never falls",
    ("0->1", "1->0"): "never changes",
}

PLATFORM = "platform"
"""What joins the devices of a chip: buses, firewalls, adapters, memories."""

_WORDS = {
    Kind.LINE: "lines",
    Kind.BRANCH: "branches",
    Kind.TOGGLE: "edges of bits",
    Kind.PROPERTY: "properties",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """What of one kind was reached.

    Attributes:
        hit: how many.
        total: how many there are.
        holes: what was not, by name; edges of neighbouring bits in one.
    """

    hit: int
    total: int
    holes: Sequence[str]

    @classmethod
    def of(cls, hits: Hits) -> Self:
        """Return what has a count."""
        holes = [name for name, count in hits.items() if not count]
        return cls(hit=len(hits) - len(holes), total=len(hits), holes=tuple(_join_bits(holes)))

    def __str__(self) -> str:
        return f"{self.hit:,} of {self.total:,}"

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {"hit": self.hit, "total": self.total, "holes": list(self.holes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What the runs of a chip reached.

    Attributes:
        groups: what its description lets devices do.
        parts: of its RTL, by device; the rest is `PLATFORM`.
    """

    soc: str
    runs: int
    groups: Mapping[Group, Reached]
    parts: Mapping[str, Mapping[Kind, Reached]]

    def __str__(self) -> str:
        groups = (f"{each} {group}" for group, each in self.groups.items() if each.total)
        parts = (f"{kinds[Kind.LINE]} lines of {part}" for part, kinds in self.parts.items())
        return ", ".join((*groups, *parts))

    def text(self) -> str:
        """Return tables, and what was not reached, by name."""
        head = [f"# {self.soc}: {self.runs} run{'s' * (self.runs != 1)}", ""]
        return "\n".join((*head, *self._rows(), "", *self._holes())) + "\n"

    def _rows(self) -> Iterator[str]:
        yield "| what the description allows | done |"
        yield "|---|---|"
        yield from (f"| {group} | {each} |" for group, each in self.groups.items())
        if not self.parts:
            return
        yield ""
        kinds = [kind for kind in Kind if any(found[kind].total for found in self.parts.values())]
        yield f"| RTL of | {' | '.join(_WORDS[kind] for kind in kinds)} |"
        yield "|---" * (len(kinds) + 1) + "|"
        for part, found in self.parts.items():
            yield f"| {part} | {' | '.join(str(found[kind]) for kind in kinds)} |"

    def _holes(self) -> Iterator[str]:
        for group, each in self.groups.items():
            yield from _section(f"{group} that nothing reached", each.holes)
        for part, kinds in self.parts.items():
            for kind, each in kinds.items():
                yield from _section(f"{_WORDS[kind]} of {part} that nothing reached", each.holes)

    def as_json(self) -> dict[str, Any]:
        """Return the same as data."""
        return {
            "description": {group: each.as_json() for group, each in self.groups.items()},
            "rtl": {
                part: {_WORDS[kind]: each.as_json() for kind, each in kinds.items()}
                for part, kinds in self.parts.items()
            },
        }


def _join_bits(names: Iterable[str]) -> Iterator[str]:
    """Yield names, with edges of neighbouring bits of a signal as one: ``data[7:4]: never 1``."""
    edges: dict[tuple[str, int], list[str]] = {}
    for name in names:
        if not (found := _EDGE.fullmatch(name)):
            yield name
            continue
        signal, bit, edge = found.groups()
        edges.setdefault((signal, -1 if bit is None else int(bit)), []).append(edge)
    bits = [(signal, bit, _EDGES[tuple(sorted(found))]) for (signal, bit), found in edges.items()]
    bits.sort(key=lambda each: (each[0], each[2], -each[1]))
    for _, alike in groupby(enumerate(bits), _run_of):
        every = [each for _, each in alike]
        (signal, first, missing), (_, last, _) = every[0], every[-1]
        span = "" if first < 0 else f"[{first}]" if first == last else f"[{first}:{last}]"
        yield f"{signal}{span} {missing}"


def _run_of(numbered: tuple[int, tuple[str, int, str]]) -> tuple[str, str, int]:
    """Return what neighbours in a falling order of bits have in common."""
    number, (signal, bit, missing) = numbered
    return signal, missing, number + bit


def _section(title: str, holes: Sequence[str]) -> Iterator[str]:
    if holes:
        yield from (f"## {title}", "", *(f"- {hole}" for hole in holes), "")


def summarise(
    soc: str, devices: Iterable[str], runs: int, groups: Mapping[Group, Hits], counts: Counts
) -> Summary:
    """Sum up the runs of a chip."""
    owners = {f"u_{name}": name for name in devices}
    sums: Mapping[str, Mapping[Kind, Counter[str]]] = defaultdict(
        lambda: {kind: Counter() for kind in Kind}
    )
    for fields, count in counts.items():
        point = Point.of(fields)
        part = owners.get(point.instance[1] if len(point.instance) > 1 else "", PLATFORM)
        for kind, name in _names(point):
            found = sums[part][kind]
            found[name] = max(found[name], count)
    order = (*owners.values(), PLATFORM)
    return Summary(
        soc=soc,
        runs=runs,
        groups={group: Reached.of(hits) for group, hits in groups.items()},
        parts={
            part: {kind: Reached.of(hits) for kind, hits in sums[part].items()}
            for part in order
            if part in sums
        },
    )


def _names(point: Point) -> Iterator[tuple[Kind, str]]:
    """Yield what a point counts: its lines, and what it is beside them."""
    if point.kind in (Kind.LINE, Kind.BRANCH):
        yield from ((Kind.LINE, f"{point.file}:{line}") for line in point.lines)
    if point.kind is Kind.TOGGLE:
        yield point.kind, f"{'.'.join(point.instance[1:])}.{point.what}"
    elif point.kind is not Kind.LINE:
        yield point.kind, f"{point.file}:{point.line}:{point.column}: {point.what}"
