# SPDX-License-Identifier: Apache-2.0
"""What the rows of a sweep say: the front, what axes decide, and why a point is not best."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from atoll.api.chips import load_soc
from atoll.cost.areas import logic_of
from atoll.cost.bands import Band
from atoll.description.share import find_soc, shared_folder
from atoll.description.sweep import BUILT, CHIP, CONFIRMED, METRICS, PLAN, Sweep, chip_text
from atoll.diagnostics.columns import table_lines, wrap
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import printable
from atoll.records import dataclass
from atoll.utils.files import require_writable, write_text
from atoll_sweep.asker import FINE, Row, logic_counts
from atoll_sweep.chips import is_of_chip
from atoll_sweep.results import require_unchanged
from atoll_sweep.search import excess
from atoll_sweep.space import choice_of

_FRONT_ROWS = 20
_DRAWN = 600
_HEAD = b"# Point "
_LOGIC = ("logic_um2", "logic_um2_low", "logic_um2_high", "sram_bytes", "logic_basis")
_BASES = {"energy_pj": "energy_basis", "area_um2": "area_basis"}
_FIGURES = (
    *(each for each in METRICS if each not in ("moved_bytes", *_LOGIC)),
    *("cycles_low", "cycles_high", "basis", "energy_basis", "area_basis"),
)


@dataclass(frozen=True)
class Answers:
    """Rows with a sweep file."""

    sweep: Sweep
    table: pa.Table
    objectives: tuple[str, ...]
    finished: bool = True

    @cached_property
    def rows(self) -> Sequence[Row]:
        """All rows, in the order of their points."""
        found: list[Row] = self.table.to_pylist()
        return found

    @cached_property
    def failures(self) -> Mapping[str, int]:
        """How many points have no figures, by the code of the error."""
        codes = Counter(row["status"] for row in self.rows if row["status"] != FINE)
        return dict(codes.most_common())

    @cached_property
    def good(self) -> Sequence[Row]:
        """Rows that keep all limits, and have all objectives."""
        return [row for row in self.rows if not self.lacks(row)]

    def lacks(self, row: Row) -> list[str]:
        """Say what keeps a row from being compared, in sentences; nothing if it can be."""
        if row["status"] != FINE:
            where = f" of {row['network']}" if row["network"] else ""
            return [f"there are no figures{where}: {row['status']}, {row['fault']}"]
        if row.get("stage", PLAN) != PLAN:
            return ["it is estimated alone: its estimates are not among the best"]
        for stage in CONFIRMED:
            if row.get(f"{stage}.status") not in (None, FINE):
                of = f" with {row[f'{stage}.network']}" if row[f"{stage}.network"] else ""
                said = f"{row[f'{stage}.status']}, {row[f'{stage}.fault']}"
                return [f"it does not pass '{stage}'{of}: {said}"]
        limits = self.sweep.limits
        over = excess(row, self.sweep)
        found = [
            f"{name} is {_number(row[name])}, {100 * share:.3g} % above the limit of"
            f" {_number(limits[name])}"
            for name, share in over.items()
            if share > 0 and row[name] is not None
        ]
        unknown = [name for name in (*over, *self.objectives) if row[name] is None]
        why = f": {row['fault']}" if row["fault"] else ""
        return found + [f"{name} is not known{why}" for name in dict.fromkeys(unknown)]

    @cached_property
    def front(self) -> Sequence[Row]:
        """The rows that no other one beats in all objectives; `alike` counts those as good."""
        return _front(self.good, self.objectives)

    def front_json(self) -> Sequence[Row]:
        """Return the front for programs, with axes as the sweep file writes them."""
        return [
            {name: row[name] for name in ("point", *_FIGURES)}
            | {name: row.get(name) for name in _LOGIC}
            | {
                "axes": {axis: self.label_of(row, axis) for axis in self.sweep.axes},
                "objectives": {name: row[name] for name in self.objectives},
                "alike_points": row["alike"],
                "stages": {
                    stage: {name: row[f"{stage}.{name}"] for name in figures}
                    for stage, figures in CONFIRMED.items()
                    if row.get(f"{stage}.status") is not None
                },
            }
            for row in self.front
        ]

    def labels(self) -> Mapping[str, Sequence[str]]:
        """Return the values of all axes, as the sweep file writes them."""
        axes = self.sweep.axes.items()
        return {name: [str(each.label) for each in values] for name, values in axes}

    def picture_points(self) -> Sequence[Row]:
        """Return points for pictures: those of the front, and of the others not too many."""
        front = {row["point"] for row in self.front}
        others = [row for row in self.good if row["point"] not in front]
        chosen = [*_spread(self.front, _DRAWN // 2), *_spread(others, _DRAWN // 2)]
        return [
            {
                "point": row["point"],
                "values": list(self._choice(row).values()),
                "objectives": {name: row[name] for name in self.objectives},
                "front": row["point"] in front,
            }
            for row in sorted(chosen, key=lambda one: one["point"])
        ]

    def best(self, count: int) -> list[int]:
        """Return the points of the first fronts: each is what is best without those before it.

        Where some were built or ran already, others are not among them.
        """
        done = [f"{stage}.status" for stage in CONFIRMED]
        left = [row for row in self.good if all(row.get(name, FINE) == FINE for name in done)]
        found = list[int]()
        while left and len(found) < count:
            front = _front(left, self.objectives)
            found += [row["point"] for row in _spread(front, count - len(found))]
            taken = {self._values(row) for row in front}
            left = [row for row in left if self._values(row) not in taken]
        return found

    def shares(self) -> Sequence[Row]:
        """Return for each axis which share of the variance of each objective it decides alone."""
        return [
            {"axis": axis} | {name: self._share(axis, name) for name in self.objectives}
            for axis in self.sweep.axes
        ]

    def _share(self, axis: str, objective: str) -> float | None:
        groups: dict[object, list[float]] = {}
        for row in self.rows:
            if row["status"] == FINE and row[objective] is not None:
                groups.setdefault(row[axis], []).append(row[objective])
        everything = [value for group in groups.values() for value in group]
        if len(everything) < 2 or not (variance := float(np.var(everything))):
            return None
        mean = float(np.mean(everything))
        between = sum(len(group) * (float(np.mean(group)) - mean) ** 2 for group in groups.values())
        return between / len(everything) / variance

    def explain(self, row: Row) -> Iterator[str]:
        """Say whether a point is on the front, why not, and what would put it there."""
        better: list[Row] = []
        if lacks := self.lacks(row):
            yield from lacks
        elif alike := [each for each in self.front if self._values(each) == self._values(row)]:
            if alike[0]["point"] == row["point"]:
                yield "no point is better in all objectives: it is on the front"
            else:
                yield f"it is as good as point {alike[0]['point']}, which is on the front"
            return
        else:
            better = [
                each
                for each in self.front
                if all(
                    one <= other
                    for one, other in zip(self._values(each), self._values(row), strict=True)
                )
            ]
            for each in better:
                yield f"point {each['point']} is better: {self._difference(row, each)}"
            for name in self.objectives:
                least = min(each[name] for each in better)
                yield f"with {name} below {_number(least)} it would be on the front"
        if self.front:
            near = min(
                better or self.front,
                key=lambda each: (len(self.changes(row, each)), self._steps(row, each)),
            )
            words = ", ".join(
                f"{key} {self.label_of(near, key)} in place of {self.label_of(row, key)}"
                for key in self.changes(row, near)
            )
            yield f"the nearest point of the front is {near['point']}: {words}"

    def _steps(self, row: Row, other: Row) -> int:
        """Return how many values lie between two rows, over all axes."""
        two = zip(self._choice(row).values(), self._choice(other).values(), strict=True)
        return sum(abs(one - another) for one, another in two)

    def row(self, point: int) -> Row:
        """Return the row of a point.

        Raises:
            UsageError: E235; it has not been computed.
        """
        found = next((row for row in self.rows if row["point"] == point), None)
        if found is None:
            last = self.rows[-1]["point"] if self.rows else 0
            raise UsageError(
                "E235",
                f"point {point} has not been computed",
                remedy=f"name one that the table has, such as {last}",
            )
        return found

    def explanation(self, point: int) -> str:
        """Return what `explain` says, below what the point is.

        Raises:
            UsageError: E235; it has not been computed.
        """
        row = self.row(point)
        axes = ", ".join(f"{axis} {self.label_of(row, axis)}" for axis in self.sweep.axes)
        lines = [f"point {point}: {axes}", *self.explain(row), *self._logic(row)]
        return "".join(f"{line}\n" for line in lines)

    def _logic(self, row: Row) -> Iterator[str]:
        """Say which parts of the chip its area is of, or which are not known."""
        if row["status"] != FINE or not logic_counts(self.sweep):
            return
        sets = dict(self.sweep.sets_of([*self._choice(row).values()]))
        source = find_soc(sets.get(CHIP, str(self.sweep.model.soc)), self.sweep.folder)
        changes = [f"{key}={text}" for key, text in sets.items() if is_of_chip(key)]
        logic = logic_of(load_soc(source, overrides=changes)._resolved)
        parts = ", ".join(f"{key} {_number(round(each))}" for key, each in logic.parts.items())
        if logic.total is None:
            yield f"the area of its logic is not known: {logic.basis_words}; known are {parts}"
        else:
            yield (
                f"logic_um2 is {_number(logic.total)}, {_logic_band(row)}, {logic.basis} to"
                f" {logic.source}: {parts}"
            )

    def changes(self, row: Row, other: Row) -> list[str]:
        """Return the axes in which two rows differ."""
        return [axis for axis in self.sweep.axes if row[axis] != other[axis]]

    def label_of(self, row: Row, axis: str) -> str:
        """Return the value of an axis as the file writes it."""
        values = self.sweep.axes[axis]
        return printable(str(values[self._choice(row)[axis]].label))

    def _choice(self, row: Row) -> Mapping[str, int]:
        choice = choice_of(row["point"], self.sweep.lengths)
        return dict(zip(self.sweep.axes, choice, strict=True))

    def write_chip(self, point: int, path: Path, folder: Path | None) -> Path:
        """Write the chip of a point as a description that extends the one of the sweep.

        Raises:
            UsageError: E235, the point has not been computed, or has no chip; E246, the sweep's
                files are others now; E092, the file cannot be written.
        """
        row = self.row(point)
        if row["status"] != FINE:
            raise UsageError(
                "E235",
                f"point {point} has no figures: {row['status']}, {row['fault']}",
                remedy="name a point without a fault, such as one of the front",
            )
        if folder is not None:
            require_unchanged(self.sweep, folder)
        sets = dict(self.sweep.sets_of([*self._choice(row).values()]))
        base = sets.get(CHIP, str(self.sweep.model.soc))
        if (source := find_soc(base, self.sweep.folder)).parent != shared_folder("socs"):
            base = os.path.relpath(source, path.parent)
        require_writable(path, lambda target: target.read_bytes().startswith(_HEAD))
        where = f" in {folder}" if folder else ""
        figures = "".join(f"\n{name}: {row[name]}" for name in self.objectives)
        options = "".join(
            f"\n{key}: {text}" for key, text in sets.items() if not is_of_chip(key) and key != CHIP
        )
        comment = f"Point {point} of sweep {self.sweep.model.sweep}{where}{figures}{options}"
        name = f"{self.sweep.model.sweep[:20]}_{point}"
        chip = {
            key: _relocate(path.parent, text, source.parent)
            for key, text in sets.items()
            if is_of_chip(key)
        }
        text = chip_text(name, base, chip, comment)
        load_soc(text, folder=path.parent)
        write_text(path, text)
        return path

    def text(self, columns: int | None = None) -> str:
        """Return all answers as lines of at most so many columns."""
        return "\n".join(self._blocks(columns))

    def _blocks(self, columns: int | None) -> Iterator[str]:
        model, rows = self.sweep.model, len(self.rows)
        of = f" of {self.sweep.size:,}" if rows < self.sweep.size else ""
        points = f"{rows:,} point{'s' * (rows != 1)}"
        failed = sum(self.failures.values())
        over = rows - failed - len(self.good)
        lines = [f"{model.sweep}: {points}{of}"]
        if not self.finished:
            lines.append("It has not ended: go on with --resume.")
        for code, count in self.failures.items():
            first = next(row for row in self.rows if row["status"] == code)
            words = f"point {first['point']}: {first['fault']}"
            lines.append(f"{count:,} without figures: {code}, such as {words}")
        if over:
            near = min(
                (row for row in self.rows if row["status"] == FINE and self.lacks(row)),
                key=lambda row: max(excess(row, self.sweep).values(), default=0.0),
            )
            words = f"point {near['point']}: {self.lacks(near)[0]}"
            lines.append(f"{over:,} not compared, such as {words}")
        if not self.front:
            lines.append("No point is on the front.")
        yield "".join(f"{wrap(line, columns)}\n" for line in lines)
        if self.front:
            shown = self.front[:_FRONT_ROWS]
            more = len(self.front) - len(shown)
            title = f"front of {', '.join(self.objectives)}"
            title += f", the first {len(shown)} of {len(self.front):,}" if more else ""
            yield _table(title, self._front_rows(shown, columns), columns)
        yield from self._runs(columns)
        shares = [
            (each["axis"], *(_share(each[name]) for name in self.objectives))
            for each in self.shares()
        ]
        yield _table(
            "what an axis decides by itself, of the variance",
            [("axis", *self.objectives), *shares],
            columns,
        )

    def _runs(self, columns: int | None) -> Iterator[str]:
        """Yield what came of points that were built or ran, and how far their estimates are off."""
        for stage in CONFIRMED:
            done = [row for row in self.rows if row.get(f"{stage}.status") is not None]
            if done:
                right = [row for row in done if row[f"{stage}.status"] == FINE]
                verb = "were built" if stage == BUILT else "ran right"
                words = f"{stage}: {len(right):,} of {len(done):,} points {verb}"
                if stage == "rtl" and right:
                    off = [100 * abs(row["cycles"] / row["rtl.cycles"] - 1) for row in right]
                    words += f"; estimates are {np.median(off):.2g} % off at the median"
                    words += f", {max(off):.2g} % at worst"
                yield wrap(words, columns) + "\n"

    def _front_rows(self, rows: Sequence[Row], columns: int | None) -> list[tuple[str, ...]]:
        later = (f"{stage}.{name}" for stage in CONFIRMED for name in CONFIRMED[stage])
        ran = [name for name in later if any(row.get(name) is not None for row in rows)]
        logic = ("logic band", "logic basis") if logic_counts(self.sweep) else ()
        told = [basis for figure, basis in _BASES.items() if figure in self.objectives]
        axes = [*self.sweep.axes]
        figures = (*self.objectives, *ran, "alike", "basis", *told, *logic)
        if columns and len("  ".join(("point", *axes, *figures))) > columns:
            axes = [_last_words(each, axes) for each in axes]
        heads = ("point", *axes, *figures)
        cells = [
            (
                str(row["point"]),
                *(self.label_of(row, axis) for axis in self.sweep.axes),
                *(_number(row[name]) for name in self.objectives),
                *("" if row[name] is None else _number(row[name]) for name in ran),
                f"+{row['alike']:,}" if row["alike"] else "",
                row["basis"],
                *(row[name] or "" for name in told),
                *((_logic_band(row), row["logic_basis"]) if logic else ()),
            )
            for row in rows
        ]
        return [heads, *cells]

    def _values(self, row: Row) -> tuple[float, ...]:
        return tuple(row[name] for name in self.objectives)

    def _difference(self, row: Row, other: Row) -> str:
        words = []
        for name in self.objectives:
            mine, its = row[name], other[name]
            share = f"{100 * (1 - its / mine):.3g} % lower" if mine else "lower"
            words.append(f"the same {name}" if its == mine else f"{share} {name}")
        return ", ".join(words)


def _front(rows: Sequence[Row], objectives: Sequence[str]) -> list[Row]:
    if not rows:
        return []
    values = np.array([[row[name] for name in objectives] for row in rows], float)
    unique, first, count = np.unique(values, axis=0, return_index=True, return_counts=True)
    kept: list[int] = []
    for number in range(len(unique)):  # in rising order: what beats one comes before it
        if not np.any(np.all(unique[kept] <= unique[number], axis=1)):
            kept.append(number)
    return [rows[first[each]] | {"alike": int(count[each]) - 1} for each in kept]


def _spread(front: Sequence[Row], count: int) -> list[Row]:
    """Return so many rows of a front, from one end of it to the other."""
    if len(front) <= count:
        return list(front)
    steps = range(count)
    return [front[each * (len(front) - 1) // max(1, count - 1)] for each in steps]


def _relocate(folder: Path, text: str, base: Path) -> str:
    """Return a value as one of a description in a folder says it, which one in `base` said."""
    is_path = "/" in text or text.endswith(".yaml")
    try:
        is_file = is_path and not Path(text).is_absolute() and (base / text).is_file()
    except (OSError, ValueError):
        return text
    return os.path.relpath(base / text, folder) if is_file else text


def _last_words(key: str, keys: Sequence[str]) -> str:
    """Return the last words of a key, at least two, that no other key ends with."""
    words = key.split(".")
    tails = (".".join(words[-count:]) for count in range(2, len(words)))
    return next((tail for tail in tails if sum(it.endswith(tail) for it in keys) == 1), key)


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _logic_band(row: Row) -> str:
    whole, low, high = (row[f"logic_um2{end}"] for end in ("", "_low", "_high"))
    if whole and low is not None:
        return str(Band(1 - low / whole, high / whole - 1))
    return "band not known"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"


def _table(title: str, rows: Sequence[Sequence[str]], columns: int | None) -> str:
    right = range(1, len(rows[0]))
    lines = table_lines(rows, right=right, columns=columns)
    return "".join(f"{line}\n" for line in (title, *lines))
