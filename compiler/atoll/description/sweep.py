# SPDX-License-Identifier: Apache-2.0
"""Sweep files: which chips are asked about which networks, and what shall come of it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import yaml
from pydantic import BeforeValidator, Field, WithJsonSchema

from atoll.description.faults import Faults, nearest
from atoll.description.fields import Described, Name, Version, must_be, number
from atoll.description.layers import key_words
from atoll.description.messages import validate
from atoll.description.sweep_values import (
    MOST_VALUES,
    UNITS,
    AxisValue,
    as_text,
    kind_of,
    limit_of,
    magnitude,
    range_values,
)
from atoll.description.tree import Node, SourceMap, plain
from atoll.description.yaml_text import parse_yaml
from atoll.records import dataclass

MOST_AXES, MOST_NETWORKS = 64, 64
MOST_POINTS = 1_000_000
"""That one sweep computes; the space that it draws them from may be larger."""
MOST_SPACE = 2**63 - 1

CHIP, NETWORK, PLANNER, BUILD = "soc", "networks", "planner", "build."
"""Axes that are no keys of a chip: chips, networks, memory planners, and keys of a build file."""

METRICS = tuple(UNITS)

Method = Literal["grid", "random", "latin_hypercube", "tpe", "nsga2"]
Stage = Literal["estimate", "plan", "build", "iss", "rtl"]
STAGES: tuple[str, ...] = get_args(Stage)
PLAN, BUILT, RUNS = "plan", "build", ("iss", "rtl")
"""The stages in which points are planned and built, and those in which they run."""

CONFIRMED: Mapping[str, tuple[str, ...]] = {
    BUILT: ("ram_bytes", "rom_bytes", "stack_bytes"),
    **dict.fromkeys(RUNS, ("cycles",)),
}
"""The figures that stages after the plan find; a table has them as ``rtl.cycles``, for example."""

BUILT_FIGURES = tuple(f"{BUILT}.{name}" for name in CONFIRMED[BUILT])

OTHER_COLUMNS = (
    *("point", "status", "fault", "network", "basis", "cycles_low", "cycles_high", "alike"),
    "stage",
    *("logic_um2_low", "logic_um2_high", "logic_basis", "energy_basis", "area_basis"),
)
"""What a row has beside its axes and `METRICS`."""

OF_A_NETWORK = ("cycles", "ram_bytes", "rom_bytes")
"""What a row has of each of several networks."""

_FIXED = ("extends", "version")
_FUNCTION = re.compile(r"[\w./-]+:[A-Za-z_]\w*")
_SCALAR = {"type": ["string", "number", "boolean"]}
_LIMIT = {"type": ["string", "number"]}


def _bound(value: object) -> object:
    if magnitude(value) is None:
        raise must_be("a number, a size such as 64 KiB or a frequency such as 100 MHz")
    return value


def _scalar(value: object) -> object:
    if isinstance(value, str | int | float | bool):
        return value
    raise must_be("a text, a number, true or false")


def _axis(value: object) -> object:
    return {"values": value} if isinstance(value, list) else value


def _networks(value: object) -> object:
    if not isinstance(value, list):
        return value
    names = ["_".join(Path(part).stem for part in str(each).split("#")) for each in value]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise must_be(
            f"files of different names, or names with their files, since '{twice[0]}' is named"
            " twice"
        )
    return dict(zip(names, value, strict=True))


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


def _stage_points(value: object) -> object:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value == "all" or (whole and 1 <= value <= MOST_POINTS):  # type: ignore[operator]
        return value
    raise must_be(f"all, or a whole number from 1 to {MOST_POINTS}")


Chosen = Annotated[
    int | str,
    BeforeValidator(_stage_points),
    WithJsonSchema({"anyOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]}),
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
        description="By what changes: a key of the chip, as for --set; 'soc'; 'networks'; 'planner'"
        "; 'build.' and a key of a build file; or any name, for named settings.",
    )
    search: Search = Search()
    stages: dict[Stage, Chosen] = Field(
        default={"plan": "all"},
        min_length=1,
        description="What is done with points, and with how many of the best.",
        examples=[{"plan": "all", "rtl": 5}],
    )
    constraints: dict[str, Scalar] = Field(
        default={},
        description="The most that a point may have: of a figure, or of an objective.",
        examples=[{"time_us": "5 ms"}],
    )
    objectives: Annotated[tuple[Objective, ...], Field(min_length=1, max_length=8)] = Field(
        default=("cycles", "ram_bytes"),
        description="What shall be low, also functions: ./file.py:function.",
        examples=[["cycles"]],
    )


@dataclass(frozen=True, slots=True)
class Sweep:
    """A checked sweep file.

    Attributes:
        model: as it was written.
        axes: the values of each, by name.
        limits: the most that a point may have, by figure or objective.
        where: the place of every key and value.
        folder: that its paths are relative to.
    """

    model: SweepFile
    axes: Mapping[str, tuple[AxisValue, ...]]
    limits: Mapping[str, float]
    where: SourceMap
    folder: Path

    @property
    def lengths(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(map(len, self.axes.values()))

    def sets_of(self, choice: Sequence[int]) -> list[tuple[str, str]]:
        """Return keys and texts that values of the axes set, given by their numbers."""
        axes = zip(choice, self.axes.values(), strict=True)
        return [pair for one, values in axes for pair in values[one].sets]

    @property
    def stages(self) -> list[Stage]:
        """What is done with points, what takes least first."""
        return sorted(self.model.stages, key=STAGES.index)

    @property
    def size(self) -> int:
        """Points of the whole space."""
        return prod(self.lengths)

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
    check_sweep(model, where, faults)
    limits = dict(_limits(model, where, faults))
    faults.raise_any()
    found = Sweep(model, axes, limits, where, folder)
    if found.size > MOST_SPACE:
        faults.add(
            "E245",
            f"the axes have {found.size:,} points together, more than can be numbered",
            at=where.key_at("axes"),
            remedy="leave axes or values out",
        )
    elif found.points > MOST_POINTS:
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


def check_sweep(model: SweepFile, where: SourceMap, faults: Faults) -> None:
    """Note what contradicts itself."""
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
    settings = [each for axis in model.axes.values() for each in (axis.settings or {}).values()]
    if (model.soc is None) == (
        CHIP not in model.axes and not any(CHIP in each for each in settings)
    ):
        said = "twice: as 'soc' and as an axis" if model.soc else "neither as 'soc' nor as an axis"
        faults.add(
            "E244",
            f"the chip is said {said}",
            at=where.key_at("soc"),
            remedy="delete one of them" if model.soc else "add 'soc: lagoon', for example",
        )
    _check_keys(model, where, faults)
    _check_networks(model, where, faults)
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
    """Refuse a key that two axes set, alone or with others, and a name that a table has already."""
    seen: dict[tuple[str, ...], str] = {}
    taken = {f"{network}.{figure}" for network in model.networks for figure in OF_A_NETWORK}
    taken |= {*METRICS, *OTHER_COLUMNS}
    outcome = ("status", "fault", "network")
    taken |= {f"{stage}.{each}" for stage, of in CONFIRMED.items() for each in (*of, *outcome)}
    for name, axis in model.axes.items():
        if name in taken or name.partition(".")[0] in RUNS:
            faults.add(
                "E244",
                f"an axis is called '{name}', as is a column of every table",
                at=where.key_at("axes", name),
                remedy="rename it",
            )
        keys = {key for each in (axis.settings or {}).values() for key in each}
        for key in keys or {name}:
            if key_words(key)[0] in _FIXED:
                faults.add(
                    "E244",
                    f"axis '{name}' changes '{key}', which says what the chip is made of",
                    at=where.key_at("axes", name),
                    remedy="let an axis 'soc' name the chips",
                )
            words = key_words(key)
            for other, first in seen.items():
                outer, inner = sorted((words, other), key=len)
                if first != name and inner[: len(outer)] == outer:
                    faults.add(
                        "E244",
                        f"axes '{first}' and '{name}' both set '{'.'.join(inner)}'",
                        at=where.key_at("axes", name),
                        remedy="leave it to one of them",
                    )
            seen.setdefault(words, name)


def _check_networks(model: SweepFile, where: SourceMap, faults: Faults) -> None:
    """Refuse networks that are called as columns begin, and values of an axis that name none."""
    for name in (each for each in model.networks if each in CONFIRMED):
        faults.add(
            "E244",
            f"a network is called '{name}', as the stage whose figures have that name before them",
            at=where.at("networks"),
            remedy="rename it",
        )
    for name, axis in model.axes.items():
        asked = [each.get(NETWORK) for each in (axis.settings or {}).values()]
        asked += axis.values or () if name == NETWORK else ()
        for each in asked:
            if each is not None and each not in model.networks:
                faults.add(
                    "E244",
                    f"axis '{name}' asks network '{each}', which 'networks' does not name",
                    at=where.key_at("axes", name),
                    remedy=nearest(str(each), model.networks),
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
        if fewer == "all":
            wrong = after == PLAN or more != "all"
        else:
            wrong = isinstance(more, int) and int(fewer) > more
        if wrong:
            faults.add(
                "E244",
                f"stage '{after}' has {fewer} points, and '{before}' before it {more}",
                at=where.at("stages", after),
                remedy=f"write '{after}: 5', for example",
            )


def _limits(model: SweepFile, where: SourceMap, faults: Faults) -> Iterator[tuple[str, float]]:
    """Yield the most that a point may have, by figure or objective."""
    for name, value in model.constraints.items():
        known = (*METRICS, *(each for each in model.objectives if ":" in each))
        known += BUILT_FIGURES if BUILT in model.stages else ()
        unit = "size" if name in BUILT_FIGURES else UNITS.get(name, "")
        limit = limit_of(value, unit) if name in known else None
        if name in BUILT_FIGURES and name not in known:
            faults.add(
                "E244",
                f"'constraints' names '{name}', and no stage builds points",
                at=where.key_at("constraints", name),
                remedy=f"add '{BUILT}: all' to 'stages', for example",
            )
        elif name not in known:
            faults.add(
                "E244",
                f"'constraints' names '{name}', which is no figure and no objective",
                at=where.key_at("constraints", name),
                remedy=nearest(name, known),
            )
        elif limit is None:
            example = {"time": "5 ms", "size": "64 KiB"}.get(unit, "1000")
            faults.add(
                "E244",
                f"'constraints.{name}' is {as_text(value)}, which is no {unit or 'number'} above 0",
                at=where.at("constraints", name),
                remedy=f"write '{name}: {example}', for example",
            )
        else:
            yield name, limit


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
        wrong, listed = (None, axis.values) if axis.values else range_values(axis)
        if wrong:
            faults.add(
                "E244",
                f"axis '{name}' {wrong}",
                at=at,
                remedy="write {from: 16 KiB, to: 256 KiB, times: 2}, for example",
            )
        seen: dict[object, object] = {}
        for value in listed or ():
            meant = (kind_of(value), magnitude(value)) if kind_of(value) else as_text(value)
            if meant in seen:
                words = f"{as_text(seen[meant])} and {as_text(value)}, which are the same"
                faults.add("E244", f"axis '{name}' has {words}", at=at, remedy="delete one")
            seen[meant] = value
            yield AxisValue(value, ((name, as_text(value)),))


def figures_asked(sweep: Sweep) -> tuple[str, ...]:
    """Return the objectives and limited figures."""
    return tuple(dict.fromkeys((*sweep.model.objectives, *sweep.limits)))


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
