# SPDX-License-Identifier: Apache-2.0
"""How far a simulation is, and how long the rest takes: estimates, corrected by what it measured.

Cycles per second, and how measured cycles compare with estimated ones, are those of this run, or of
an earlier one of the same model, which lie beside it in the cache. Before that nothing is known.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from functools import cached_property
from itertools import pairwise
from math import inf
from pathlib import Path

from atoll.cost.estimate import NetworkEstimate, estimates_of
from atoll.diagnostics.progress import Progress
from atoll.driver.compiled import Compiled, cost_of
from atoll.records import dataclass
from atoll.utils.files import write_text
from atoll_sim.trace.run_files import read_pace
from atoll_sim.trace.simulation import SimResult
from atoll_sim.trace.so_far import SoFar

KEPT = "pace.json"
SECONDS_TO_BELIEVE = 1.0
"""From then on the speed of the present run says more than that of earlier ones."""
LEAST_SECONDS = 0.2
"""A shorter run says nothing about speed."""

ALL = ""
"""The ratio of all devices together, for those of which no operator has ended."""


@dataclass(frozen=True, slots=True)
class Part:
    """What an operator adds to the length of a run, by estimate."""

    device: str
    cycles: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What runs have shown.

    Attributes:
        speed: cycles per second of wall-clock time; None if no run was long enough.
        ratios: measured cycles of each estimated one, by device, and of `ALL`.
    """

    speed: float | None = None
    ratios: Mapping[str, float] = field(default_factory=dict)


@dataclass
class Pace:
    """What is known of a simulation before and while it goes on.

    Attributes:
        what: goes on.
        models: what runs in turn.
        runs: of all models.
        before: what earlier runs have shown.
        counts: its clock counts cycles that are worth telling.
    """

    what: str
    models: Sequence[Compiled]
    runs: int
    before: Measured = Measured()
    counts: bool = True

    def watch(self, progress: Progress, more: Callable[[], str] = str) -> Callable[[SoFar], None]:
        """Return what tells how far a run is, and `more` about it."""
        return lambda so_far: progress(self.line(so_far, more()), left=self.seconds_left(so_far))

    def announce(self, progress: Progress) -> None:
        """Say what begins."""
        runs = f"{self.runs} run{'s' if self.runs != 1 else ''}"
        progress(f"{self.what}: {runs}", left=self.seconds_left(SoFar(networks=len(self.models))))

    def line(self, so_far: SoFar, more: str = "") -> str:
        """Say how far a run is."""
        layers = len(self._networks[so_far.turn])
        layer = f"layer {min(so_far.done + 1, layers)} of {layers}"
        where = f"run {so_far.begun} of {self.runs}, {layer}" if so_far.begun else "starting up"
        ahead = self._ahead(so_far)
        of = "" if ahead is None else f" of about {so_far.cycle + ahead:,}"
        cycles = f"{so_far.cycle:,}{of} cycles" if self.counts else ""
        return f"{self.what}: {', '.join(filter(None, (where, cycles, more)))}"

    def seconds_left(self, so_far: SoFar) -> float | None:
        """Return the seconds that a run still takes, if something was measured."""
        ahead, speed = self._ahead(so_far), self.measure(so_far).speed
        return None if ahead is None or speed is None else ahead / speed

    def measure(self, so_far: SoFar) -> Measured:
        """Return what the run has shown, and where it has not, what earlier ones have."""
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for turn, took in so_far.took.items():
            for number, part in self._networks[turn].items():
                for name in (part.device, ALL) if number in took else ():
                    sums[name][0] += took[number]
                    sums[name][1] += part.cycles
        ratios = {name: cycles / expected for name, (cycles, expected) in sums.items() if expected}
        long = so_far.seconds >= SECONDS_TO_BELIEVE
        speed = so_far.cycle / so_far.seconds if long else self.before.speed
        return Measured(speed or None, {**self.before.ratios, **ratios})

    def _ahead(self, so_far: SoFar) -> int | None:
        """Return the cycles to the end; None as long as nothing tells what estimates are worth."""
        ratios = self.measure(so_far).ratios
        if ALL not in ratios:
            return None
        whole = [
            so_far.lengths.get(turn) or _correct(parts.values(), ratios)
            for turn, parts in enumerate(self._networks)
        ]
        turn, first = so_far.turn, self._estimates[0]
        if not so_far.begun:
            present = first.before - so_far.cycle
        elif turn in so_far.lengths:
            present = whole[turn] - (so_far.cycle - so_far.begin)
        else:
            ended = so_far.took.get(turn, {})
            rest = (part for number, part in self._networks[turn].items() if number not in ended)
            present = _correct(rest, ratios) - (so_far.cycle - so_far.last)
        waiting = sum(whole[number % len(whole)] for number in range(so_far.begun, self.runs))
        return max(0, present) + waiting + first.after

    @cached_property
    def _estimates(self) -> Sequence[NetworkEstimate]:
        return estimates_of(tuple(map(cost_of, self.models)))

    @cached_property
    def _networks(self) -> Sequence[Mapping[int, Part]]:
        """The operators of each model by number."""
        return [
            dict(_parts(estimate, model))
            for estimate, model in zip(self._estimates, self.models, strict=True)
        ]


def _parts(estimate: NetworkEstimate, model: Compiled) -> Iterator[tuple[int, Part]]:
    """Yield what each operator adds: devices that work at once end one after the other."""
    numbers = {op.name: number for number, op in enumerate(model.graph.operators)}
    layers = sorted(estimate.layers, key=lambda each: each.end)
    for layer, (before, end) in zip(
        layers, pairwise((0, *(each.end for each in layers))), strict=True
    ):
        yield numbers[layer.operator], Part(layer.devices[0], end - before)


def _correct(parts: Iterable[Part], ratios: Mapping[str, float]) -> int:
    return round(sum(part.cycles * ratios.get(part.device, ratios[ALL]) for part in parts))


def load_measured(executable: Path) -> Measured:
    """Return what `keep_measured` wrote beside a model, if it is there and whole."""
    try:
        found = Measured(**json.loads(executable.with_name(KEPT).read_text(encoding="utf-8")))
        whole = all(0 < each < inf for each in (found.speed or 1.0, *found.ratios.values()))
    except (OSError, ValueError, TypeError, AttributeError):
        return Measured()
    return found if whole else Measured()


def keep_measured(pace: Pace, executable: Path, folder: Path, result: SimResult) -> None:
    """Write what the run in `folder` has shown beside its model."""
    so_far = read_pace(folder)
    if so_far and result.wall_seconds >= LEAST_SECONDS and result.cycles:
        found = Measured(result.cycles_per_second, pace.measure(so_far).ratios)
        write_text(executable.with_name(KEPT), json.dumps(asdict(found)) + "\n")
