# SPDX-License-Identifier: Apache-2.0
"""How far a simulation in RTL is, and how long it takes: from the estimate and measured speed.

The speed of past runs of a model lies beside it in the cache.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.cost.estimate import estimates_of
from atoll.diagnostics.progress import Progress, about
from atoll.driver.compiled import Compiled, cost_of
from atoll.utils.files import write_text
from atoll_sim.trace.run_files import Seen, read_pace
from atoll_sim.trace.simulation import SimResult

SPEED = "speed.txt"
TYPICAL = 4_000_000.0
"""Cycles per second of a model that never ran here."""
SECONDS_TO_BELIEVE = 2.0
"""From then on the speed of the present run says more than that of earlier ones."""
LEAST_SECONDS = 0.2
"""A shorter run says nothing about speed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """What is known of a run before and while it goes on.

    Attributes:
        models: what runs in turn.
        runs: of all models.
        cycles: estimate for all runs.
        speed: cycles per second, measured in an earlier run of the model or typical.
        measured: it was measured.
    """

    models: Sequence[Compiled]
    runs: int
    cycles: int
    speed: float
    measured: bool

    @property
    def seconds(self) -> float:
        """The whole time that is expected."""
        return self.cycles / self.speed

    def __str__(self) -> str:
        runs = f"{self.runs} run{'s' if self.runs != 1 else ''}"
        known = "measured in an earlier run" if self.measured else "typical; never measured here"
        return (
            f"simulating {runs} in RTL: {about(self.seconds)}, {self.cycles:,} cycles "
            f"at {self.speed / 1e6:.1f} M cycles/s ({known})"
        )

    def watch(self, folder: Path, progress: Progress) -> Callable[[], None]:
        """Return what tells, whenever it is called, how far the run in `folder` is."""

        def look() -> None:
            if seen := read_pace(folder):
                progress(self.line(seen))

        return look

    def line(self, seen: Seen) -> str:
        """Say how far a run is, and how long the rest takes."""
        graph = self.models[(seen.asked - 1) % len(self.models)].graph
        layers = len(graph.operators)
        layer = f"layer {min(seen.done + 1, layers)} of {layers}"
        where = f"run {seen.asked} of {self.runs}, {layer}" if seen.asked else "starting up"
        speed = seen.cycle / seen.seconds if seen.seconds >= SECONDS_TO_BELIEVE else self.speed
        rest = (self.cycles - seen.cycle) / max(speed, 1.0)
        more = f"{about(rest)} left" if rest > 0 else "longer than estimated"
        cycles = f"{seen.cycle:,} of about {self.cycles:,} cycles"
        return f"simulating in RTL: {where}, {more}, {cycles}"


def pace_of(models: Sequence[Compiled], runs: int, executable: Path) -> Pace:
    """Return what is known of `runs` runs of the models in turn before they begin."""
    speed = _speed(executable)
    each = estimates_of(tuple(map(cost_of, models)))
    running = sum(estimate.network for estimate in each) * runs // len(each)
    return Pace(
        models=models,
        runs=runs,
        cycles=each[0].before + running + each[0].after,
        speed=speed or TYPICAL,
        measured=speed is not None,
    )


def keep_speed(executable: Path, result: SimResult) -> None:
    """Write the speed of a run beside its model."""
    if result.wall_seconds >= LEAST_SECONDS and result.cycles:
        write_text(executable.with_name(SPEED), f"{result.cycles_per_second:.0f}\n")


def _speed(executable: Path) -> float | None:
    try:
        speed = float(executable.with_name(SPEED).read_text())
    except (OSError, ValueError):
        return None
    return speed if 0 < speed < float("inf") else None
