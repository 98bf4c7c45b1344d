# SPDX-License-Identifier: Apache-2.0
"""Whether a core or an accelerator keeps what its description promises."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import numpy as np

from atoll.api.beside import function_of
from atoll.api.notebook import Row, html_table
from atoll.description.edits import to_yaml_line
from atoll.diagnostics.columns import table_lines
from atoll.records import dataclass

MOST_SHOWN = 10
"""Faults of one check that are printed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class AcceleratorTrial:
    """What was tried in one way.

    Attributes:
        name: in what way.
        tried: how often.
        faults: what was wrong.
        seconds: that it took.
    """

    name: str
    tried: int
    faults: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureCoverage:
    """The values of one feature that operators had, and its limits; None where it has none."""

    operator: str
    feature: str
    least: int
    most: int
    limits: tuple[int | None, int | None]


MOST_OFF = 10
"""The farthest that a band of a description reaches, as a share."""

FEWEST_FITTED = 8
"""Operators of a kind from which on a line is fitted to their cycles."""

FEWEST_SIZES = 3
"""Expectations that these must differ in, for a line through fewer says nothing of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingFit:
    """A line through cycles that were measured.

    Attributes:
        factor: of expected cycles.
        offset: cycles that are added.
        median: how far the line through all other operators misses one, as a share of what the line
            says; half of the operators are nearer.
        band: how far 95 of 100 operators are below and above such a line at most, likewise.
    """

    factor: float
    offset: int
    median: float
    band: tuple[float, float]

    @property
    def rounded(self) -> tuple[float, float]:
        """The band in whole hundredths, rounded up."""
        low, high = (math.ceil(100 * each) / 100 for each in self.band)
        return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorTiming:
    """Cycles that an engine took for operators of a kind, and what was expected of them.

    Attributes:
        operator: the kind.
        pairs: cycles that were expected, and those that were measured; at least one pair.
    """

    operator: str
    pairs: tuple[tuple[int, int], ...]

    @property
    def ratios(self) -> tuple[float, float]:
        """The least and the greatest of measured by expected."""
        ratios = [measured / expected for expected, measured in self.pairs]
        return min(ratios), max(ratios)

    @property
    def fit(self) -> TimingFit | None:
        """The line that makes measured cycles of expected ones.

        None for too few operators or expectations, and if operators of which more is expected take
        no longer. The squares of errors, as shares of what was measured, are least. If the same is
        expected of all, there is a factor only.
        """
        sizes = len({expected for expected, _ in self.pairs})
        if len(self.pairs) < FEWEST_FITTED or 1 < sizes < FEWEST_SIZES:
            return None
        expected, measured = (np.array(each, float) for each in zip(*self.pairs, strict=True))
        sloped = np.ptp(expected) > 0
        table = np.array([expected, np.ones_like(expected)][: 1 + sloped]) / measured
        inverse = np.linalg.pinv(table @ table.T)
        factor, *rest = inverse @ table.sum(axis=1)
        if factor <= 0:
            return None
        offset = round(float(rest[0])) if rest else 0
        weights = (table * (inverse @ table)).sum(axis=0)
        others = 1 - (1 - (factor * expected + offset) / measured) / np.maximum(1 - weights, 1e-9)
        off = np.clip(1 / np.maximum(others, 1e-9) - 1, -1, MOST_OFF)
        low, high = np.quantile(off, (0.025, 0.975), method="closest_observation")
        return TimingFit(
            factor=float(factor),
            offset=offset,
            median=float(np.median(np.abs(off))),
            band=(max(0.0, -float(low)), max(0.0, float(high))),
        )

    def row(self) -> Row:
        """Return what ``--json`` prints of it; there is no fit of too few operators."""
        fit = self.fit
        return {
            "operator": self.operator,
            "factor_percent": round(100 * fit.factor) if fit else None,
            "offset_cycles": fit.offset if fit else None,
            "off_percent_median": round(100 * fit.median, 1) if fit else None,
            "band": dict(zip(("low", "high"), fit.rounded, strict=True)) if fit else None,
            "measured": [
                {"formula_cycles": expected, "cycles": measured}
                for expected, measured in self.pairs
            ],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorCheck:
    """How an accelerator did.

    Attributes:
        in_rtl: there is RTL, which was tried.
        trials: in turn, up to the first that found something wrong.
        left_out: operators that the kit draws none of.
        notes: what Verilator warned of in the RTL, and what the kit does not cover.
        kind: what it is, ``accelerator`` or ``function unit``.
    """

    accelerator: str
    in_rtl: bool
    trials: tuple[AcceleratorTrial, ...]
    coverage: tuple[FeatureCoverage, ...] = field(repr=False)
    timings: tuple[OperatorTiming, ...] = field(repr=False)
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    kind: str = "accelerator"

    @property
    def passed(self) -> bool:
        """Nothing was wrong, and something was tried."""
        return not any(each.faults for each in self.trials) and any(
            each.tried for each in self.trials
        )

    def rows(self) -> list[Row]:
        """Return the checks."""
        return [
            {
                "check": each.name,
                "tried": each.tried,
                "faults": [*each.faults],
                "wall_ns": round(each.seconds * 10**9),
            }
            for each in self.trials
        ]

    def coverage_rows(self) -> list[Row]:
        """Return which values of each feature were tried, and the limits."""
        return [
            {
                "operator": each.operator,
                "feature": each.feature,
                "least": each.least,
                "most": each.most,
                "min": each.limits[0],
                "max": each.limits[1],
            }
            for each in self.coverage
        ]

    def timing_rows(self) -> list[Row]:
        """Return the cycles of operators, by the formulas of the description and measured."""
        return [each.row() for each in self.timings]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll accelerator test`` prints."""
        return "".join(f"{line}\n" for line in self._lines(columns))

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll accelerator test --json`` prints."""
        return {
            "accelerator": self.accelerator,
            "rtl": self.in_rtl,
            "passed": self.passed,
            "checks": self.rows(),
            "coverage": self.coverage_rows(),
            "timings": self.timing_rows(),
            "left_out": [*self.left_out],
            "notes": [*self.notes],
        }

    def _lines(self, columns: int | None) -> Iterator[str]:
        rows = [("check", "tried", "seconds", "result")]
        rows += [
            (each.name, f"{each.tried}", f"{each.seconds:.1f}", _result(each.faults))
            for each in self.trials
        ]
        yield from table_lines(rows, right=(1, 2), columns=columns)
        if self.coverage:
            yield ""
            covered = [("operator", "feature", "tried", "limits")]
            covered += [
                (each.operator, each.feature, f"{each.least} to {each.most}", _limits(each))
                for each in self.coverage
            ]
            yield from table_lines(covered, right=(), columns=columns)
        if self.timings:
            yield ""
            yield from _timing_table(self.timings, columns)
        for trial in self.trials:
            for fault in trial.faults[:MOST_SHOWN]:
                yield f"{trial.name}: {fault}"
            if (more := len(trial.faults) - MOST_SHOWN) > 0:
                yield f"{trial.name}: ... and {more} more"
        if self.left_out:
            listed = ", ".join(kind.upper() for kind in self.left_out)
            yield f"not tried, the kit draws none within the limits: {listed}"
        yield from (f"note: {note}" for note in self.notes)
        good = sum(not each.faults for each in self.trials)
        rtl = "" if self.in_rtl else "; there is no RTL"
        yield f"{self.kind} {self.accelerator}: {good} of {len(self.trials)} checks right{rtl}"

    def _repr_html_(self) -> str:
        return html_table(f"accelerator {self.accelerator}", self.rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceleratorCalibration:
    """What an accelerator takes in RTL, and the `timing` of its description that follows.

    Attributes:
        accelerator: its name.
        timings: what was measured, by operator.
        command: that measures it again.
        params: of the instance, where they are not the defaults.
        wrote: the description that has the timing now; "" if none was written.
        left_out: operators of which the kit draws none that outlasts its host's driver.
    """

    accelerator: str
    timings: tuple[OperatorTiming, ...] = field(repr=False)
    command: str
    params: Mapping[str, int] = field(default_factory=dict)
    wrote: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def timing(self) -> Mapping[str, Any] | None:
        """The `timing` of the description, as plain data; None if nothing was fitted."""
        fits = {each.operator: each.fit for each in self.timings}
        found = {
            kind: {
                "factor": round(fit.factor, 3),
                "offset": fit.offset,
                "band": dict(zip(("low", "high"), fit.rounded, strict=True)),
            }
            for kind, fit in fits.items()
            if fit
        }
        if not found:
            return None
        return {"source": self.command, "params": dict(self.params), "operators": found}

    def rows(self) -> list[Row]:
        """Return the cycles of operators, by the formulas of the description and measured."""
        return [each.row() for each in self.timings]

    def yaml(self) -> str:
        """Return the `timing` of the description as text; "" if nothing was fitted."""
        if (timing := self.timing) is None:
            return ""
        lines = [f"    {kind}: {to_yaml_line(each)}" for kind, each in timing["operators"].items()]
        heads = [f"  {key}: {to_yaml_line(timing[key])}" for key in ("source", "params")]
        return "\n".join(["timing:", *heads, "  operators:", *lines, ""])

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll accelerator calibrate`` prints."""
        return "".join(f"{line}\n" for line in self._lines(columns))

    def _lines(self, columns: int | None) -> Iterator[str]:
        if self.timings:
            yield from _timing_table(self.timings, columns)
            yield ""
        if self.left_out:
            listed = ", ".join(kind.upper() for kind in self.left_out)
            yield f"not timed, none is drawn that outlasts the host's driver: {listed}"
        if self.wrote:
            yield f"wrote timing into {self.wrote}"
        elif written := self.yaml():
            yield from written.splitlines()
        else:
            yield (
                f"nothing fitted: that takes {FEWEST_FITTED} of a kind, of {FEWEST_SIZES} sizes; "
                "raise --operators"
            )

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll accelerator calibrate --json`` prints."""
        return {
            "accelerator": self.accelerator,
            "timings": self.rows(),
            "timing": self.timing,
            "wrote": self.wrote,
            "left_out": [*self.left_out],
        }

    def _repr_html_(self) -> str:
        return html_table(f"accelerator {self.accelerator}", self.rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreTrial:
    """What was tried of a core's adapter.

    Attributes:
        check: what was tried.
        waits: how often the bus waited.
        faults: what was wrong.
    """

    check: str
    waits: str
    cycles: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreCheck:
    """How the RTL adapter of a core did.

    Attributes:
        module: the adapter.
        notes: what Verilator warned of in the RTL, and what the RTL printed.
    """

    core: str
    isa: str
    module: str
    trials: tuple[CoreTrial, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Nothing is wrong."""
        return not any(each.faults for each in self.trials)

    def rows(self) -> list[Row]:
        """Return the checks."""
        return [asdict(each) | {"faults": [*each.faults]} for each in self.trials]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll core test`` prints."""
        rows = [("check", "waits", "cycles", "result")]
        rows += [
            (each.check, each.waits, f"{each.cycles:,}", _result(each.faults))
            for each in self.trials
        ]
        wrong = (
            f"{each.check}, waits {each.waits}: {fault}"
            for each in self.trials
            for fault in each.faults
        )
        notes = (f"note: {note}" for note in self.notes)
        good = sum(not each.faults for each in self.trials)
        verdict = f"core {self.core}, {self.isa}: {good} of {len(self.trials)} checks right"
        table = table_lines(rows, right=(2,), columns=columns)
        return "".join(f"{line}\n" for line in (*table, *wrong, *notes, verdict))

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll core test --json`` prints."""
        return {
            "core": self.core,
            "isa": self.isa,
            "module": self.module,
            "passed": self.passed,
            "checks": self.rows(),
            "notes": [*self.notes],
        }

    def _repr_html_(self) -> str:
        return html_table(f"core {self.core}, {self.isa}", self.rows())


def check_accelerator(
    accelerator: Path | str,
    *,
    params: Mapping[str, int] | None = None,
    operators: int = 16,
    faults: int = 18,
    mutants: int = 25,
    seed: int = 1,
    toolchain: str | None = None,
    coverage: Path | str | None = None,
) -> AcceleratorCheck:
    """Test an accelerator against its description, as ``atoll accelerator test`` does.

    Args:
        accelerator: name of an installed one, or the path of its YAML.
        params: of its instances.
        operators: how many of each kind are drawn.
        faults: how many faults of the hardware around it.
        mutants: how many wrong builds.
        seed: draws others.
        toolchain: compiles and links; None takes the description's.
        coverage: add what is reached of its limits, rules and RTL to this folder.

    Raises:
        UsageError: E090, no simulator is installed; E092, E258, coverage cannot be added; E191, it
            is a function unit, of which there is none.
        AtollError: its chip cannot be built.
    """
    check = function_of("atoll_sim.api.kits:check_accelerator", "check_accelerator")
    found: AcceleratorCheck = check(
        str(accelerator),
        params or {},
        operators=operators,
        faults=faults,
        mutants=mutants,
        seed=seed,
        toolchain=toolchain,
        coverage=None if coverage is None else Path(coverage),
    )
    return found


def calibrate_accelerator(
    accelerator: Path | str,
    *,
    params: Mapping[str, int] | None = None,
    operators: int = 16,
    seed: int = 1,
    write: bool = False,
) -> AcceleratorCalibration:
    """Measure operators of an accelerator in RTL, as ``atoll accelerator calibrate`` does.

    Args:
        accelerator: name of an installed one, or the path of its YAML.
        params: of its instances.
        operators: how many of each kind are drawn; each runs with three kinds of memories.
        seed: draws others.
        write: put the timing into the YAML.

    Raises:
        UsageError: E090, no simulator is installed; E164, the YAML cannot be written into.
        SimulationError: E165; there is no RTL, or it computes something wrong.
        AtollError: its chip cannot be built.
    """
    calibrate = function_of("atoll_sim.api.kits:calibrate_accelerator", "calibrate_accelerator")
    found: AcceleratorCalibration = calibrate(
        str(accelerator),
        params or {},
        operators=operators,
        seed=seed,
        write=write,
    )
    return found


def check_core(
    core: Path | str, *, isa: str | None = None, seed: int = 1, toolchain: str | None = None
) -> CoreCheck:
    """Test the RTL adapter of a core against its description, as ``atoll core test`` does.

    Args:
        core: name of an installed one, or the path of its YAML.
        isa: instruction set in the test; None for its first.
        seed: draws other waits of the bus.
        toolchain: compiles and links; None takes the description's.

    Raises:
        UsageError: E040, the core cannot run `isa`; E090, no simulator is installed.
        SimulationError: E080, E087, E113; there is no RTL, or its simulation broke off.
    """
    check = function_of("atoll_sim.api.kits:check_core", "check_core")
    found: CoreCheck = check(str(core), isa, seed=seed, toolchain=toolchain)
    return found


def _result(faults: Sequence[str]) -> str:
    return "wrong" if faults else "right"


def _timing_table(timings: Sequence[OperatorTiming], columns: int | None) -> Iterator[str]:
    heads = ("operator", "timed", "cycles by formula", "what fits", "off by")
    yield from table_lines([heads, *map(_timing_row, timings)], right=(1,), columns=columns)


def _timing_row(each: OperatorTiming) -> tuple[str, str, str, str, str]:
    (least, most), fit = each.ratios, each.fit
    ratios = f"{least:.2f} to {most:.2f}"
    if fit is None:
        why = "they do not follow the formula"
        if len(each.pairs) < FEWEST_FITTED:
            why = f"fewer than {FEWEST_FITTED}"
        elif 1 < len({expected for expected, _ in each.pairs}) < FEWEST_SIZES:
            why = f"they differ in fewer than {FEWEST_SIZES} sizes"
        return each.operator, f"{len(each.pairs)}", ratios, f"not fitted: {why}", ""
    line = f"{fit.factor:.2f} x formula {fit.offset:+,}"
    low, high = fit.rounded
    off = f"{fit.median:.0%} at the median, 95 of 100 -{low:.0%} to +{high:.0%}"
    return each.operator, f"{len(each.pairs)}", ratios, line, off


def _limits(each: FeatureCoverage) -> str:
    low, high = ("" if bound is None else str(bound) for bound in each.limits)
    return f"{low} to {high}".strip()
