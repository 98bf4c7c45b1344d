# SPDX-License-Identifier: Apache-2.0
"""Sweep files: which chips are asked about which networks, and what shall come of it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count, pairwise
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.faults import Faults
from atoll.description.fields import Described, Name, Version, must_be, number
from atoll.description.layers import key_words
from atoll.description.messages import validate
from atoll.description.tree import Node, SourceMap, plain
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.units import (
    format_frequency,
    format_size,
    parse_duration,
    parse_frequency,
    parse_size,
)

MOST_AXES, MOST_VALUES, MOST_NETWORKS = 64, 4096, 64
MOST_POINTS = 1_000_000
"""That one sweep computes; the space that it draws them from may be larger."""

CHIP, PLANNER, BUILD = "soc", "planner", "build."
"""Axes that are no keys of a chip: the chip, the memory planner, and keys of a build file."""

Metric = Literal[
    "cycles", "time_us", "ram_bytes", "rom_bytes", "moved_bytes", "energy_pj", "area_um2"
]
METRICS: tuple[str, ...] = get_args(Metric)

Method = Literal["grid", "random", "latin_hypercube", "tpe", "nsga2"]
_ADAPTIVE = ("tpe", "nsga2")
Stage = Literal["estimate", "plan", "iss", "rtl"]
STAGES: tuple[str, ...] = get_args(Stage)

OTHER_COLUMNS = ("point", "status", "fault", "network", "basis", "cycles_low", "cycles_high")
"""What a row has beside its axes and `METRICS`."""

_FUNCTION = re.compile(r"[\w./-]+:[A-Za-z_]\w*")
_SCALAR = {"type": ["string", "number", "boolean"]}
_LIMIT = {"type": ["string", "number"]}


def size_or_frequency(text: str) -> int:
    """Turn ``"64 KiB"`` into bytes, ``"100 MHz"`` into hertz.

    Raises:
        ValueError: it is neither.
    """
    try:
        return parse_size(text)
    except ValueError:
        return parse_frequency(text)


def magnitude(value: object) -> float | None:
    """Return a number, or how many bytes or hertz a text says; None for anything else."""
    if isinstance(value, str):
        try:
            return size_or_frequency(value)
        except ValueError:
            return None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _bound(value: object) -> object:
    if magnitude(value) is None:
        raise must_be("a number, a size such as 64 KiB or a frequency such as 100 MHz")
    return value


def _scalar(value: object) -> object:
    if isinstance(value, str | int | float | bool):
        return value
    raise must_be("a text, a number, true or false")


def _limit(value: object) -> object:
    if isinstance(value, str):
        try:
            value = parse_duration(value) * 10**6
        except ValueError:
            value = magnitude(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return value
    raise must_be("a number above 0, a size such as 64 KiB or a time such as 5 ms")


def _axis(value: object) -> object:
    return {"values": value} if isinstance(value, list) else value


def _networks(value: object) -> object:
    if not isinstance(value, list):
        return value
    named = {Path(str(each)).stem: each for each in value}
    if len(named) < len(value):
        raise must_be("files that have different names, or names with their files")
    return named


Bound = Annotated[str | int | float, BeforeValidator(_bound), WithJsonSchema(_LIMIT)]
Scalar = Annotated[str | int | float | bool, BeforeValidator(_scalar), WithJsonSchema(_SCALAR)]


class Axis(Described):
    """The values of an axis: listed, a range, or named settings of several keys."""

    values: Annotated[tuple[Scalar, ...], Field(min_length=1, max_length=MOST_VALUES)] | None = (
        Field(default=None, description="The values; a list in place of the axis says the same.")
    )
    first: Bound | None = Field(
        default=None, alias="from", description="The first value.", examples=["16 KiB"]
    )
    last: Bound | None = Field(
        default=None, alias="to", description="No value is above it.", examples=["256 KiB"]
    )
    step: Bound | None = Field(
        default=None, description="By how much each value is above the one before."
    )
    times: Annotated[int, *number(2, 1024)] | None = Field(
        default=None, description="By what each value is more than the one before.", examples=[2]
    )
    settings: (
        Annotated[dict[str, dict[str, Scalar]], Field(min_length=1, max_length=MOST_VALUES)] | None
    ) = Field(default=None, description="Keys that change together, by a name for their values.")


class Search(Described):
    """Which points of the space are computed."""

    method: Method = Field(
        default="grid",
        description="All points, random ones, a Latin hypercube, or those that Optuna proposes.",
    )
    points: Annotated[int, *number(1, MOST_POINTS)] | None = Field(
        default=None, description="How many; not of a grid.", examples=[1000]
    )
    seed: Annotated[int, *number(0, 2**31 - 1)] = Field(
        default=0, description="Of all that is drawn at random."
    )


def _objective(value: object) -> object:
    if value in METRICS or (isinstance(value, str) and _FUNCTION.fullmatch(value)):
        return value
    raise must_be(f"one of {', '.join(METRICS)}, or a function such as ./file.py:function")


Objective = Annotated[str, BeforeValidator(_objective), WithJsonSchema({"type": "string"})]
Chosen = Annotated[
    Literal["all"] | Annotated[int, *number(1, MOST_POINTS)], Field(examples=["all"])
]
Files = Annotated[
    dict[str, Annotated[str, Field(max_length=4096)]],
    BeforeValidator(_networks),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
                {"type": "object", "additionalProperties": {"type": "string"}},
            ]
        }
    ),
]


class SweepFile(Described):
    """What is asked of which chips and networks."""

    sweep: Name = Field(description="Its name.", examples=["lanes_and_memory"])
    version: Version = Field(description="Version of this format.", examples=[1])
    soc: Annotated[str, Field(max_length=4096)] | None = Field(
        default=None,
        description="The chip, a path or the name of a shipped one; an axis may be it.",
    )
    networks: Files = Field(
        description="Files of the networks, each of which has the chip for itself; by name, if "
        "they shall not be called as their files.",
        min_length=1,
        max_length=MOST_NETWORKS,
        examples=[["model.tflite"]],
    )
    axes: Annotated[
        dict[str, Annotated[Axis, BeforeValidator(_axis)]],
        Field(min_length=1, max_length=MOST_AXES),
    ] = Field(
        description="By what changes: a key of the chip, as for --set; 'soc'; 'planner'; 'build.' "
        "and a key of a build file; or any name, for named settings.",
    )
    search: Search = Search()
    stages: dict[Stage, Chosen] = Field(
        default={"plan": "all"},
        min_length=1,
        description="What is done with points, and with how many of the best.",
        examples=[{"plan": "all", "rtl": 5}],
    )
    constraints: dict[Metric, Annotated[float, BeforeValidator(_limit), WithJsonSchema(_LIMIT)]] = (
        Field(default={}, description="The most that a point may have.")
    )
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1, max_length=8)] = Field(
        default=("cycles", "ram_bytes"),
        description="What shall be low, also functions: ./file.py:function.",
        examples=[["cycles"]],
    )


@dataclass(frozen=True, slots=True)
class AxisValue:
    """One value of an axis.

    Attributes:
        label: as it is shown.
        sets: what it sets, as key and text.
    """

    label: str | int | float | bool
    sets: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A checked sweep file.

    Attributes:
        model: as it was written.
        axes: the values of each, by name.
        where: the place of every key and value.
        folder: that its paths are relative to.
    """

    model: SweepFile
    axes: Mapping[str, tuple[AxisValue, ...]]
    where: SourceMap
    folder: Path

    @property
    def size(self) -> int:
        """Points of the whole space."""
        return prod(map(len, self.axes.values()))

    @property
    def points(self) -> int:
        """Points that are computed."""
        asked = self.model.search.points
        return self.size if asked is None else asked


def read_sweep(root: Node, folder: Path) -> Sweep:
    """Check a sweep file; its chips and networks are not read.

    Raises:
        DescriptionError: keys that are missing or unknown, ill-typed values; E244, it contradicts
            itself; E245, it asks for too many points.
    """
    where = SourceMap(root)
    model = validate(SweepFile, where)
    faults = Faults()
    axes = {name: tuple(_values(name, axis, where, faults)) for name, axis in model.axes.items()}
    _check(model, where, faults)
    faults.raise_any()
    found = Sweep(model, axes, where, folder)
    if found.points > MOST_POINTS:
        faults.add(
            "E245",
            f"the axes have {found.size:,} points together, and one sweep computes at most"
            f" {MOST_POINTS:,}",
            at=where.key_at("axes"),
            remedy="add 'search: {method: latin_hypercube, points: 1000}', for example, or leave"
            " values out",
        )
    faults.raise_any()
    return found


def _check(model: SweepFile, where: SourceMap, faults: Faults) -> None:
    drawn = model.search.method != "grid"
    if drawn and model.search.points is None:
        faults.add(
            "E244",
            f"'search' does not say how many points '{model.search.method}' draws",
            at=where.key_at("search"),
            remedy="add 'points: 1000' to it, for example",
        )
    if not drawn and model.search.points is not None:
        faults.add(
            "E244",
            "a grid has all points, and 'search' has 'points'",
            at=where.key_at("search", "points"),
            remedy="delete it, or add 'method: latin_hypercube'",
        )
    if (model.soc is None) == (CHIP not in model.axes):
        said = "twice: as 'soc' and as an axis" if model.soc else "neither as 'soc' nor as an axis"
        faults.add(
            "E244",
            f"the chip is said {said}",
            at=where.key_at("soc"),
            remedy="delete one of them" if model.soc else "add 'soc: lagoon', for example",
        )
    _check_keys(model, where, faults)
    _check_stages(model, where, faults)
    for number_, each in enumerate(model.objectives):
        if each in model.objectives[:number_]:
            faults.add(
                "E244",
                f"objective '{each}' is named twice",
                at=where.at("objectives", str(number_)),
                remedy="delete it",
            )


def _check_keys(model: SweepFile, where: SourceMap, faults: Faults) -> None:
    """Refuse a key that two axes set, and a name that a table has already."""
    seen: dict[str, str] = {}
    for name, axis in model.axes.items():
        if name in (*METRICS, *OTHER_COLUMNS):
            faults.add(
                "E244",
                f"an axis is called '{name}', as is a column of every table",
                at=where.key_at("axes", name),
                remedy="rename it",
            )
        keys = {key for each in (axis.settings or {}).values() for key in each}
        for key in keys or {name}:
            if (first := seen.setdefault(key, name)) != name:
                faults.add(
                    "E244",
                    f"axes '{first}' and '{name}' both set '{key}'",
                    at=where.key_at("axes", name),
                    remedy="leave it to one of them",
                )


def _check_stages(model: SweepFile, where: SourceMap, faults: Faults) -> None:
    """Refuse stages that nothing would reach, or more points in a later one."""
    stages = sorted(model.stages, key=STAGES.index)
    if stages[0] not in ("estimate", "plan") or model.stages[stages[0]] != "all":
        faults.add(
            "E244",
            f"no stage finds the best points for '{stages[0]}'",
            at=where.key_at("stages", stages[0]),
            remedy="add 'plan: all'",
        )
    for before, after in pairwise(stages):
        fewer, more = model.stages[after], model.stages[before]
        if fewer == "all" or (more != "all" and fewer > more):
            faults.add(
                "E244",
                f"stage '{after}' has {fewer} points, and '{before}' before it {more}",
                at=where.at("stages", after),
                remedy=f"write '{after}: 5', for example",
            )


def _values(name: str, axis: Axis, where: SourceMap, faults: Faults) -> Iterator[AxisValue]:
    said = [
        key
        for key, value in (
            ("values", axis.values),
            ("from", axis.first if axis.first is not None else axis.last),
            ("settings", axis.settings),
        )
        if value is not None
    ]
    at = where.key_at("axes", name)
    if len(said) != 1:
        faults.add(
            "E244",
            f"axis '{name}' has {' and '.join(said) or 'no values'}",
            at=at,
            remedy="write a list of values, {from: 1, to: 8, times: 2}, or {settings: ...}",
        )
    elif axis.settings:
        for label, sets in axis.settings.items():
            texts = tuple((key, as_text(value)) for key, value in sets.items())
            yield AxisValue(label, texts)
    else:
        listed = _range_values(axis, name, where, faults) if axis.values is None else axis.values
        seen: list[object] = []
        for value in listed:
            if value in seen and type(value) is type(seen[seen.index(value)]):
                faults.add("E244", f"axis '{name}' has {value} twice", at=at, remedy="delete one")
            seen.append(value)
            yield AxisValue(value, ((name, as_text(value)),))


def as_text(value: object) -> str:
    """Return a value as a file would say it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _range_values(
    axis: Axis, name: str, where: SourceMap, faults: Faults
) -> tuple[str | int | float, ...]:
    """Return the values of a range."""
    first, last, step = map(magnitude, (axis.first, axis.last, axis.step))
    wrong = None
    if first is None or last is None:
        wrong = "has 'from' without 'to'" if last is None else "has 'to' without 'from'"
    elif (step is None) == (axis.times is None):
        wrong = "needs 'step' or 'times', and not both"
    elif step is not None and step <= 0:
        wrong = "has a 'step' that is not above 0"
    elif axis.times and first <= 0:
        wrong = "has 'times', and begins at 0 or below"
    elif last < first:
        wrong = "ends before it begins"
    elif step is not None and (last - first) / step >= MOST_VALUES:
        wrong = f"has more than {MOST_VALUES} values"
    if wrong:
        faults.add(
            "E244",
            f"axis '{name}' {wrong}",
            at=where.key_at("axes", name),
            remedy="write {from: 16 KiB, to: 256 KiB, times: 2}, for example",
        )
        return ()
    assert first is not None
    assert last is not None
    each = _steps(first, last, step, axis.times)
    return tuple(_writer_of(axis)(value) for value in each)


def _steps(first: float, last: float, step: float | None, times: int | None) -> Iterator[float]:
    value, number_ = first, count(1)
    while value <= last:
        yield value
        value = first + next(number_) * step if step is not None else value * (times or 1)


def _writer_of(axis: Axis) -> Callable[[float], str | int | float]:
    """Return what writes the values of a range as its bounds are written."""
    if not isinstance(axis.first, str):
        return lambda value: round(value, 9) if isinstance(value, float) else value
    try:
        parse_size(axis.first)
        return lambda value: format_size(int(value))
    except ValueError:
        return lambda value: format_frequency(int(value))


def chip_text(name: str, base: str, sets: Mapping[str, str], comment: str) -> str:
    """Return a description that extends another one, with values by dotted key.

    Args:
        name: of the chip.
        base: what it extends, a path or the name of a shipped chip.
        sets: texts of values by dotted key.
        comment: lines at its begin.
    """
    tree: dict[str, Any] = {"soc": name, "version": 1, "extends": base}
    for key, text in sets.items():
        *around, last = key_words(key)
        inner = tree
        for word in around:
            inner = inner.setdefault(word, {})
        inner[last] = plain(parse_yaml(text, Path("value")))
    head = "".join(f"# {line}\n" for line in comment.splitlines())
    return head + yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
