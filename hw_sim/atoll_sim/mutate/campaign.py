# SPDX-License-Identifier: Apache-2.0
"""Plant many faults in one network on one chip, and see which are noticed."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeAlias

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled
from atoll.report.result import RunReport
from atoll.utils.scratch import temporary_folder
from atoll.utils.workers import side_by_side
from atoll_sim.build.model import build_model
from atoll_sim.campaign import trials
from atoll_sim.campaign.journal import Journal
from atoll_sim.chip.plan import merge_spans
from atoll_sim.coverage.folder import COUNTS, add_run
from atoll_sim.mutate.image import segments_of
from atoll_sim.mutate.kinds import draw_mutants
from atoll_sim.mutate.mutant import Mutant, Right
from atoll_sim.mutate.proofs import proof
from atoll_sim.mutate.trial import Verdict, try_image
from atoll_sim.protocol.records import AccessKind
from atoll_sim.runs.checked_run import Backends, CpuKind, Setup, judge
from atoll_sim.simulate.firmware import code_brought, data_taken, load_images, start_copies
from atoll_sim.simulate.rtl_run import request_for
from atoll_sim.simulate.session import simulate
from atoll_sim.trace.simulation import SimResult

Trial: TypeAlias = trials.Trial[Mutant, Verdict]
Campaign: TypeAlias = trials.Campaign[Mutant, Verdict, RunReport]
"""Its baseline is the report of the build without a fault."""

NOT_COUNTED = "runs with planted faults are not counted"
"""What coverage leaves out: such a run reaches what no right one does, and ends early."""


def plant(
    compiled: Compiled,
    count: int,
    *,
    seed: int,
    jobs: int,
    first: int = 0,
    toolchain: str | None = None,
    progress: Progress = silent,
    resume: bool = False,
    coverage: Path | None = None,
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
        resume: go on with such a campaign that was interrupted.
        coverage: folder to which what the right build reaches is added; mutants add nothing.
    """
    name = compiled.graph.name
    progress(f"{name}: the right build")
    alone = coverage is not None and not count
    executable = build_model(compiled.soc, coverage=alone, progress=progress)
    with temporary_folder() as folder:
        right, report = run_right(compiled, executable, folder, toolchain, coverage, progress)
        mutants = draw_mutants(right, count, seed, first) if report.passed else ()

        def so_far(ended: Sequence[Trial]) -> str:
            survivors = sum(not trial.result.caught for trial in ended)
            return f"{name}: {len(ended)} of {len(mutants)} mutants, {survivors} survive"

        image = (segment.data for segment in right.segments)
        journal = Journal("mutants", str(executable), str(seed), str(first), *image, resume=resume)

        def try_one(numbered: tuple[int, Mutant]) -> Trial:
            number, mutant = numbered
            verdict = journal.recall(
                f"{number} {mutant}",
                lambda: asdict(try_mutant(right, mutant, toolchain).result),
            )
            return to_trial(mutant, Verdict(**verdict))

        ended = side_by_side(try_one, enumerate(mutants), jobs)
        found = trials.follow(ended, len(mutants), so_far, progress)
        journal.close()
        return Campaign(
            soc=compiled.soc.name,
            model=name,
            seed=seed,
            baseline=report,
            sound=report.passed,
            trials=found,
        )


def run_right(
    compiled: Compiled,
    executable: Path,
    folder: Path,
    toolchain: str | None = None,
    coverage: Path | None = None,
    progress: Progress = silent,
) -> tuple[Right, RunReport]:
    """Build and run the program without a fault; `folder` takes the build.

    With `coverage`, a model that counts runs in the place of `executable`, cycle by cycle as that
    one would, and what it reaches is added to that folder.
    """
    tree = build((compiled,), folder / "build", toolchain=toolchain)
    samples = random_sample(compiled.graph)
    with temporary_folder() as runs:
        counting = build_model(compiled.soc, coverage=True, progress=progress) if coverage else None
        result = simulate(
            request_for(compiled, tree.firmware.elves, samples, counting or executable, runs)
        )
        if coverage:
            counts = (runs / COUNTS).read_text(encoding="utf-8")
            engines = frozenset(engine.name for engine in compiled.soc.engines)
            note = add_run(coverage, (compiled,), engines, result, counts)
            result = replace(result, notes=(*result.notes, f"{note}; {NOT_COUNTED}"))
    setup = Setup(cpu=CpuKind.RTL, backends=Backends(), stacks=tree.firmware.stacks, wall={})
    report = judge(compiled, samples, result, setup).report
    right = Right(
        compiled=compiled,
        executable=executable,
        segments=load_images(tree.firmware.elves, compiled.soc),
        sample=samples[0],
        touched=_touched_ranges(result),
        in_runs=_touched_ranges(result, runs_only=True),
        copied=tuple(start_copies(tree.firmware.elves, compiled.soc)),
        data=data_taken(tree.firmware.elves, compiled.soc),
        code=code_brought(tree.firmware.elves, compiled.soc),
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
            return to_trial(mutant, Verdict(by=f"refused, {fault.code}", detail=fault.message))
    if not verdict.caught:
        verdict = replace(verdict, equivalent=proof(right, mutant, segments) or "")
    return to_trial(mutant, verdict)


def to_trial(mutant: Mutant, verdict: Verdict) -> Trial:
    """Hold it against us if nobody noticed a mutant that is not proven to be no fault."""
    end = verdict.by or verdict.equivalent
    return Trial(
        kind=mutant.kind,
        subject=mutant,
        result=verdict,
        end=end or "NOBODY NOTICED",
        wrong=() if end else (f"nobody notices: {mutant}",),
    )


def _touched_ranges(
    result: SimResult, *, runs_only: bool = False
) -> dict[tuple[str, AccessKind], Sequence[range]]:
    spans: dict[tuple[str, AccessKind], list[range]] = {}
    for phase in result.phases:
        for touch in phase.touched if phase.sample is not None or not runs_only else ():
            spans.setdefault((touch.master, touch.kind), []).extend(touch.spans)
    return {key: merge_spans(found) for key, found in spans.items()}
