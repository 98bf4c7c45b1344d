# SPDX-License-Identifier: Apache-2.0
"""Plant many faults in one network on one chip, and see which are noticed."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import Progress, left, silent
from atoll.driver.pipeline import Compiled
from atoll.report.result import RunReport
from atoll.utils.scratch import temporary_folder
from atoll.utils.workers import side_by_side
from atoll_sim.build.model import build_model
from atoll_sim.chip.plan import merge_spans
from atoll_sim.mutate.image import segments_of
from atoll_sim.mutate.kinds import draw_mutants
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.proofs import proof
from atoll_sim.mutate.trial import Verdict, try_image
from atoll_sim.protocol.records import AccessKind
from atoll_sim.run import CpuKind, Players, Setup, judge
from atoll_sim.simulate.firmware import copied_by, data_taken, loaded
from atoll_sim.simulate.run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.simulation import SimResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One mutant and what became of it.

    Attributes:
        equivalent: why it is no fault, if it was not noticed and that is proven.
    """

    mutant: Mutant
    verdict: Verdict
    equivalent: str = ""

    @property
    def counts_against_us(self) -> bool:
        """A fault that nobody noticed."""
        return not self.verdict.caught and not self.equivalent


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What became of all mutants of one network.

    Attributes:
        report: of the build without a fault.
    """

    soc: str
    model: str
    report: RunReport
    trials: tuple[Trial, ...]

    @property
    def passed(self) -> bool:
        """The right build has no finding, and every fault was noticed."""
        return self.report.passed and not any(trial.counts_against_us for trial in self.trials)


def plant(
    compiled: Compiled,
    count: int,
    *,
    seed: int,
    jobs: int,
    first: int = 0,
    toolchain: str | None = None,
    progress: Progress = silent,
) -> Campaign:
    """Run the right build and then `count` mutants of it, `jobs` at a time.

    Args:
        compiled: the network.
        count: how many mutants.
        seed: decides which.
        jobs: simulations at a time.
        first: kinds to skip at first, see `draw_mutants`.
        toolchain: see `build`.
        progress: told how far it is.
    """
    name = compiled.graph.name
    progress(f"{name}: the right build")
    executable = build_model(compiled.soc, progress=progress)
    with temporary_folder() as folder:
        right, report = run_right(compiled, executable, folder, toolchain)
        trials: list[Trial] = []
        if report.passed:
            mutants = draw_mutants(right, count, seed, first)
            begin = time.monotonic()
            for trial in _tried(right, mutants, jobs, toolchain):
                trials.append(trial)
                survivors = sum(not each.verdict.caught for each in trials)
                rest = left(len(trials), len(mutants), time.monotonic() - begin)
                done = f"{len(trials)} of {len(mutants)} mutants"
                progress(f"{name}: {done}, {survivors} survive{rest}")
    return Campaign(soc=compiled.soc.name, model=name, report=report, trials=tuple(trials))


def run_right(
    compiled: Compiled, executable: Path, folder: Path, toolchain: str | None = None
) -> tuple[Right, RunReport]:
    """Build and run the program without a fault; `folder` takes the build."""
    tree = build((compiled,), folder / "build", toolchain=toolchain)
    samples = random_sample(compiled.graph)
    with temporary_folder() as runs:
        request = request_for(compiled, tree.firmware.elves, samples, executable, runs)
        result = simulate(request)
    setup = Setup(cpu=CpuKind.RTL, players=Players(), stacks=tree.firmware.stacks, wall={})
    report = judge(compiled, samples, result, setup).report
    right = Right(
        compiled=compiled,
        executable=executable,
        segments=loaded(tree.firmware.elves, compiled.soc),
        sample=samples[0],
        touched=_touched(result),
        in_runs=_touched(result, runs_only=True),
        copied=tuple(copied_by(tree.firmware.elves, compiled.soc)),
        data=data_taken(tree.firmware.elves, compiled.soc),
        stack=report.stack[compiled.soc.host].watermark or 0,
        cycles=result.cycles,
    )
    return right, report


def try_mutant(right: Right, mutant: Mutant, toolchain: str | None = None) -> Trial:
    """Build and run one mutant."""
    with temporary_folder() as folder:
        try:
            segments = segments_of(mutant, folder / "build", toolchain)
            verdict = try_image(right, mutant, segments, folder)
        except AtollError as error:
            fault = error.faults[0]
            return Trial(
                mutant=mutant,
                verdict=Verdict(by=f"refused, {fault.code}", detail=fault.message),
            )
    reason = None if verdict.caught else proof(right, mutant, segments)
    return Trial(mutant=mutant, verdict=verdict, equivalent=reason or "")


def _tried(
    right: Right, mutants: Sequence[Mutant], jobs: int, toolchain: str | None
) -> Iterator[Trial]:
    return side_by_side(lambda mutant: try_mutant(right, mutant, toolchain), mutants, jobs)


def _touched(
    result: SimResult, *, runs_only: bool = False
) -> dict[tuple[str, AccessKind], Sequence[range]]:
    spans: dict[tuple[str, AccessKind], list[range]] = {}
    for phase in result.phases:
        for touch in phase.touched if phase.sample is not None or not runs_only else ():
            spans.setdefault((touch.master, touch.kind), []).extend(touch.spans)
    return {key: merge_spans(found) for key, found in spans.items()}
