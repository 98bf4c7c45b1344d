# SPDX-License-Identifier: Apache-2.0
"""Sweeps over chips and networks, and what their results say."""

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import Soc
from atoll.api.compilation import Compilation
from atoll.api.notebook import html_table
from atoll.api.written import WrittenFiles
from atoll.records import dataclass

Row = dict[str, Any]
"""A point, or an axis: figures are numbers, what is not known is None."""

SweepSource = Path | str | Mapping[str, object]
"""A sweep file: its path, its text of several lines, or what it would say."""

Objectives = Mapping[str, Callable[[Soc, Mapping[str, Compilation]], float]]
"""Functions by name: each gets a chip and the compiled networks by name; less is better."""


@dataclass(frozen=True, slots=True)
class SweepResults:
    """The points of a sweep that have been computed.

    Attributes:
        name: of the sweep.
        folder: that has the results; None if they are in memory only.
        space: points of the whole space.
        computed: points that have been computed.
        finished: these are all that the sweep asks for.
        failures: how many of them have no figures, by the code of the error.
        objectives: what shall be low.
    """

    name: str
    folder: Path | None
    space: int
    computed: int
    finished: bool
    failures: Mapping[str, int]
    objectives: tuple[str, ...]
    _answers: Any = field(repr=False)

    def frame(self) -> Any:
        """Return all points as a pandas DataFrame, a row each: axes, status, figures."""
        return self._answers.table.to_pandas()

    def rows(self) -> list[Row]:
        """Return all points likewise as dictionaries; what is not known is None."""
        return list(self._answers.rows)

    def front(self) -> list[Row]:
        """Return the points that no other one beats in all objectives.

        `alike` counts further points with the same objectives.
        """
        return list(self._answers.front)

    def sensitivity(self) -> list[Row]:
        """Return which share of the variance of each objective an axis decides by itself."""
        return list(self._answers.shares())

    def explain(self, point: int) -> str:
        """Say whether a point is on the front, why not, and what would put it there.

        Raises:
            UsageError: E235; it has not been computed.
        """
        text: str = self._answers.explanation(point)
        return text

    def write_chip(self, point: int, output: Path | str) -> WrittenFiles:
        """Write the chip of a point as a description that extends the one of the sweep.

        Raises:
            UsageError: E235, the point has not been computed; E091, the file is there, and was not
                written so; E092, it cannot be written.
            AtollError: there is no such chip.
        """
        return WrittenFiles((self._answers.write_chip(point, Path(output), self.folder),))

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll sweep`` prints."""
        text: str = self._answers.text(columns)
        return text

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll sweep --json`` prints."""
        return {
            "sweep": self.name,
            "folder": None if self.folder is None else str(self.folder),
            "space_points": self.space,
            "computed_points": self.computed,
            "finished": self.finished,
            "failures": dict(self.failures),
            "objectives": list(self.objectives),
            "axes": self._answers.labels(),
            "front": self._answers.front_json(),
            "drawn": self._answers.picture_points(),
            "sensitivity": [
                {
                    "axis": each["axis"],
                    "shares": {name: _round_share(each[name]) for name in self.objectives},
                }
                for each in self.sensitivity()
            ],
        }

    def _repr_html_(self) -> str:
        title = f"{self.name}: the front of {', '.join(self.objectives)}"
        return html_table(title, self.front())


def _round_share(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def sweep(
    source: SweepSource,
    output: Path | str | None = None,
    *,
    folder: Path | str | None = None,
    objectives: Objectives | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
) -> SweepResults:
    """Ask many chips about the same networks.

    Args:
        source: a sweep file, or what it would say.
        output: the folder of the results; None keeps them in memory.
        folder: that paths of a mapping or a text are relative to; default: the working directory.
        objectives: further objectives, computed where the points are.
        workers: processes on this computer; None for as many as it has processors, 0 for this one.
        scheduler: address of a Dask scheduler whose workers compute in their place.
        resume: go on with what `output` has of the same sweep.

    Raises:
        DescriptionError: keys of the file are missing, unknown or ill-typed; E244, it contradicts
            itself; E245, it asks for too many points.
        UsageError: E246, `output` has other files.
        ToolchainError: E213, a package is not installed; E229, the workers cannot be used.
        AtollError: as `load_soc` and `load_network`.
    """
    found: SweepResults = function_of("atoll_sweep.api:compute", "sweep")(
        source,
        None if output is None else Path(output),
        Path() if folder is None else Path(folder),
        objectives or {},
        workers,
        scheduler,
        resume,
    )
    return found


def load_sweep(folder: Path | str) -> SweepResults:
    """Return the results that a sweep wrote, also of one that has not ended.

    Raises:
        UsageError: E246; the folder has none.
        ToolchainError: E213; a package is not installed.
    """
    found: SweepResults = function_of("atoll_sweep.api:read", "load_sweep")(Path(folder))
    return found
