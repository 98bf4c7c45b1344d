# SPDX-License-Identifier: Apache-2.0
"""Leave out each operation on a data cache, one per run, and see who notices.

The runs are on the instruction-set simulator: with a cache whose dirty lines stay, and with one
that writes them back at odd moments.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from atoll.artifacts.build_tree import part_of
from atoll.artifacts.samples import Sample, random_samples
from atoll.bsp.firmware import link_unchecked
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled, with_plan
from atoll.ir.maintenance import Maintenance
from atoll.ir.tir import Entry, Step
from atoll.records import dataclass
from atoll.utils.scratch import temporary_folder
from atoll_sim.campaign.trials import Campaign, Trial, follow
from atoll_sim.check.layers import check_layers
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.runs.checked_run import CpuKind
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import Stop

RUNS = 2
"""Samples of a trial: what one left behind in a cache, the next one finds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """An operation that a program lacks.

    Attributes:
        where: the step around which it is missing.
        built: the program without it.
    """

    operation: Maintenance
    where: str
    built: Compiled

    def __str__(self) -> str:
        return f"'{self.operation}' is left out, {self.where}"


CacheTrial: TypeAlias = Trial[LeftOut, str]
"""A missing operation, and who noticed it first; nobody did if that is empty."""


class CacheCampaign(Campaign[LeftOut, str, str]):
    """What became of all operations of one network.

    Its baseline is what was noticed of the program that lacks none; empty if it is right.
    """

    def text(self, *, verbose: bool) -> str:
        """Return a line, and one for each missing operation that nobody noticed, or for all."""
        if not self.sound:
            return f"{self.title}: with all operations on caches there is '{self.baseline}'"
        found = f"{sum(trial.passed for trial in self.trials)} of {len(self.trials)}"
        lines = [f"{self.title}: {found} operations on caches noticed when left out"]
        lines += [f"  {trial}" for trial in self.trials if verbose or not trial.passed]
        return "\n".join(lines)

    def as_json(self) -> dict[str, object]:
        """Return what machines read."""
        trials = [
            {"missing": str(each.subject.operation), "where": each.subject.where, "by": each.result}
            for each in self.trials
        ]
        named = {"soc": self.soc, "model": self.model, "passed": self.passed}
        return {**named, "right": self.baseline, "trials": trials}


def plant_cache_omissions(
    compiled: Compiled, *, seed: int, toolchain: str | None = None, progress: Progress = silent
) -> CacheCampaign:
    """Run a network with all operations on caches, and then without each of them.

    Args:
        compiled: the network.
        seed: of the moments at which dirty lines leave a cache.
        toolchain: see `atoll.artifacts.build_tree.build`.
        progress: told how far it is.

    Raises:
        UsageError: E070; there is no instruction-set simulator.
        SimulationError: E102; it does not run the chip.
    """
    CpuKind.ISS.session().check(None)
    CpuKind.ISS.check_chip(compiled.soc)
    name, right = compiled.graph.name, who_noticed(compiled, compiled, seed, toolchain)
    missing = () if right else tuple(_noticeable(compiled))

    def try_one(each: LeftOut) -> CacheTrial:
        judged = with_plan(each.built, compiled.plan)  # engines may go on by themselves elsewhere
        by = who_noticed(judged, each.built, seed, toolchain)
        end = by or "unnoticed"
        return Trial(kind=each.where, subject=each, result=by, end=end, wrong=() if by else (end,))

    def so_far(ended: Sequence[CacheTrial]) -> str:
        return f"{name}: {len(ended)} of {len(missing)} operations on caches left out"

    return CacheCampaign(
        soc=compiled.soc.name,
        model=name,
        seed=seed,
        baseline=right,
        sound=not right,
        trials=follow(map(try_one, missing), len(missing), so_far, progress),
    )


def cache_omissions(compiled: Compiled) -> Iterator[LeftOut]:
    """Yield the program without each of its operations on caches."""
    entry = compiled.module.entry
    for index, step in enumerate(entry.steps):
        for operation, where, wrong in _steps_without(step):
            steps = (*entry.steps[:index], wrong, *entry.steps[index + 1 :])
            built = _with_entry(compiled, replace(entry, steps=steps))
            yield LeftOut(operation=operation, where=where, built=built)
    for operation, rest in _each(entry.after):
        built = _with_entry(compiled, replace(entry, after=rest))
        yield LeftOut(operation=operation, where="before the caller reads", built=built)


def _noticeable(compiled: Compiled) -> Iterator[LeftOut]:
    """Yield those omissions that can do harm in runs of this network alone.

    What an accelerator has stored and nobody reads any more is written back as a run ends, lest it
    be written back later, over what somebody else has put there.
    """
    entry, npus = compiled.module.entry, {npu.name for npu in compiled.soc.cached_npus}
    for each in cache_omissions(compiled):
        at_end = each.built.module.entry.after != entry.after
        if not (at_end and each.operation.device in npus) or each.operation.buffer in entry.outputs:
            yield each


def who_noticed(judged: Compiled, built: Compiled, seed: int, toolchain: str | None = None) -> str:
    """Return who noticed first that `built` is not the program of `judged`; empty if nobody did."""
    samples = random_samples(judged.graph, RUNS)
    with temporary_folder() as folder:
        elves = link_unchecked(judged.soc, (part_of(built),), folder, toolchain)
        for evictions in (0, seed):
            if by := _notice_once(judged, elves, samples, folder, evictions):
                return by
    return ""


def _notice_once(
    judged: Compiled, elves: Sequence[Path], samples: Sequence[Sample], folder: Path, evictions: int
) -> str:
    request = requests_for((judged,), elves, (samples,), Path(), folder / "run", beats=False)
    soc = judged.soc
    result = simulate(
        request, lambda memory: make_models(soc, memory, (judged,)), evictions=evictions
    )
    if found := violations(result):
        return found[0].rule
    if check_layers(judged.graph, samples, result, judged.soc).mismatches:
        return "wrong bytes"
    if result.stop is not Stop.EXIT or result.exit_status or any(result.results):
        return "error code"
    return "" if len(result.results) == len(samples) else "early end"


def _steps_without(step: Step) -> Iterator[tuple[Maintenance, str, Step]]:
    for operation, rest in _each(step.before):
        yield operation, f"before '{step.operator}'", replace(step, before=rest)
    for operation, rest in _each(step.after):
        yield operation, f"after '{step.operator}'", replace(step, after=rest)


def _each(
    operations: tuple[Maintenance, ...],
) -> Iterator[tuple[Maintenance, tuple[Maintenance, ...]]]:
    for number, operation in enumerate(operations):
        yield operation, operations[:number] + operations[number + 1 :]


def _with_entry(compiled: Compiled, entry: Entry) -> Compiled:
    return replace(compiled, module=replace(compiled.module, entry=entry))
