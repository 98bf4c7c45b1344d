# SPDX-License-Identifier: Apache-2.0
"""What instructions take on a core in RTL, and the `timing` of its description that follows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import Soc
from atoll.api.notebook import Row, html_table
from atoll.description.edits import to_yaml_line
from atoll.diagnostics.columns import table_lines
from atoll.records import dataclass

FIGURES = (1, 2, 3)
"""Columns of the tables that are printed, which are aligned to the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCycles:
    """What the instructions of a class take.

    Attributes:
        name: of the class.
        cycles: of an instruction in the mean, with memories that answer in the next cycle.
        waits: what it takes longer for each further cycle of latency of the code's memory.
        share: of all instructions' cycles, with such memories.
    """

    name: str
    cycles: float
    waits: float
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """How far estimates are off that rest on what was fitted to other networks.

    Attributes:
        of: operators of a kind, or networks with memories of a setting.
        count: how many there are.
        median: half are nearer, as a share of what RTL took.
        most: 95 of 100 operators are nearer, or all networks.
    """

    of: str
    count: int
    median: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreCalibration:
    """What instructions take on a core in RTL, and how far estimates with that are off.

    Attributes:
        networks: that ran, with memories of each setting.
        operators: whose cycles were fitted.
        classes: what the instructions of each take.
        kinds: how far operators of each kind are off, each by a fit to other networks.
        simulated_kinds: likewise with the instructions that ran, also of kinds that were fitted to.
        settings: how far networks are, likewise, by how memories answer.
        timing: of the description, as plain data.
        unmeasured: what it lacks, by its key, and why.
        wrote: the description that has the timing now; "" if none was written.
    """

    core: str
    isa: str
    networks: int
    operators: int
    classes: tuple[ClassCycles, ...] = field(repr=False)
    kinds: tuple[Residual, ...] = field(repr=False)
    simulated_kinds: tuple[Residual, ...] = field(repr=False)
    settings: tuple[Residual, ...] = field(repr=False)
    timing: Mapping[str, Any] = field(repr=False)
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    wrote: str = ""

    def rows(self) -> list[Row]:
        """Return what the instructions of each class take."""
        return [
            {
                "class": each.name,
                "cycles": each.cycles,
                "waits": each.waits,
                "share_percent": round(100 * each.share, 1),
            }
            for each in self.classes
        ]

    def yaml(self) -> str:
        """Return the `timing` of the description as text."""
        lines = (f"  {key}: {to_yaml_line(value)}" for key, value in self.timing.items())
        return "\n".join(("timing:", *lines, ""))

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll core calibrate`` prints."""
        return "".join(f"{line}\n" for line in self._lines(columns))

    def _lines(self, columns: int | None) -> Iterator[str]:
        classes = [("class", "cycles", "waits", "of all cycles")]
        classes += [
            (each.name, f"{each.cycles:.2f}", f"{each.waits:.2f}", f"{each.share:.0%}")
            for each in self.classes
        ]
        kinds = _residuals("operators, not fitted", "95 of 100", self.kinds)
        ran = _residuals("the same, with --iss", "95 of 100", self.simulated_kinds)
        settings = _residuals("networks, not fitted", "worst", self.settings)
        for rows in (classes, kinds, ran, settings):
            yield from table_lines(rows, right=FIGURES, columns=columns)
            yield ""
        yield (
            f"core {self.core}, {self.isa}: fitted to {self.operators} operators of"
            f" {self.networks} networks, measured in RTL"
        )
        for key, why in self.unmeasured.items():
            yield f"{key} is not measured: {why}"
        if self.wrote:
            yield f"wrote timing into {self.wrote}"
        else:
            yield from self.yaml().splitlines()

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll core calibrate --json`` prints."""
        return {
            "core": self.core,
            "isa": self.isa,
            "networks": self.networks,
            "operators": self.operators,
            "classes": self.rows(),
            "kinds": [_row("operator", each) for each in self.kinds],
            "simulated_kinds": [_row("operator", each) for each in self.simulated_kinds],
            "settings": [_row("memories", each) for each in self.settings],
            "timing": self.timing,
            "unmeasured": self.unmeasured,
            "wrote": self.wrote,
        }

    def _repr_html_(self) -> str:
        return html_table(f"core {self.core}, {self.isa}", self.rows())


def calibrate_core(
    core: Path | str,
    *,
    isa: str | None = None,
    chip: Soc | None = None,
    cache: tuple[int, int] | None = None,
    networks: int = 24,
    seed: int = 1,
    jobs: int = 1,
    resume: bool = False,
    write: bool = False,
) -> CoreCalibration:
    """Measure what instructions take on a core in RTL, as ``atoll core calibrate`` does.

    Args:
        core: name of an installed one, or the path of its YAML.
        isa: instruction set of the firmware; None for the core's first, or that of the chip.
        chip: whose host is the core, with a memory that holds its code alone; None makes one.
        cache: bytes of the core's instruction cache, and those that it fetches together; None for
            what its description says.
        networks: to which cycles are fitted; a third as many are held against that.
        seed: draws others.
        jobs: simulations at a time.
        resume: go on with such a measurement that was interrupted.
        write: put the timing into the YAML.

    Raises:
        UsageError: E040, the core cannot run `isa`; E090, no simulator is installed; E164, the YAML
            cannot be written into; E239, nobody counted kernels of `isa`; E240, the chip tells
            nothing of the core; E241, too little ran.
        SimulationError: E238; there is no RTL, or it computes something wrong.
        AtollError: a chip cannot be built.
    """
    calibrate = function_of("atoll_sim.api.kits:calibrate_core", "calibrate_core")
    found: CoreCalibration = calibrate(
        str(core),
        isa,
        chip=chip and chip._resolved,
        cache=cache,
        networks=networks,
        seed=seed,
        jobs=jobs,
        resume=resume,
        write=write,
    )
    return found


def _residuals(
    head: str, last: str, residuals: Sequence[Residual]
) -> Sequence[tuple[str, str, str, str]]:
    rows = [
        (each.of, f"{each.count}", f"{each.median:.1%}", f"{each.most:.1%}") for each in residuals
    ]
    return [(head, "number", "off, median", last), *rows]


def _row(key: str, each: Residual) -> Row:
    return {
        key: each.of,
        "number": each.count,
        "off_percent_median": round(100 * each.median, 1),
        "off_percent_most": round(100 * each.most, 1),
    }
