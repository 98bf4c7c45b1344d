# SPDX-License-Identifier: Apache-2.0
"""Run networks on cores: what kernels take in RTL, and which instructions they run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cost.counted import CLASSES
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import silent
from atoll.driver.pipeline import BuildOptions, Compiled, compile_networks
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import AcceleratorKind, Backends, CpuKind, Work
from atoll_sim.runs.checked_run import run_models
from atoll_sim.simulate.turns import turn_of
from atoll_sim.trace.simulation import SimResult

Which = tuple[str, str]
"""A network and an operator of it."""

NOWHERE, ALONE = Source("", b"", Path()), BuildOptions(accelerators=False)


def compile_alone(soc: ResolvedSoc, graphs: Sequence[Graph]) -> tuple[Compiled, ...]:
    """Compile networks for the host of a chip alone, as one firmware."""
    return compile_networks(soc, [(each, NOWHERE) for each in graphs], [ALONE] * len(graphs))


def cycles_of(models: Sequence[Compiled], cpu: CpuKind = CpuKind.RTL) -> Mapping[Which, int]:
    """Run networks, and return what each operator took.

    Raises:
        SimulationError: E238; a run has a finding.
    """
    samples = [random_sample(each.graph) for each in models]
    outcomes = run_models(models, samples, cpu=cpu, accelerator=AcceleratorKind.NONE)
    found: dict[Which, int] = {}
    for compiled, outcome in zip(models, outcomes, strict=True):
        report = outcome.report
        if not report.passed:
            why = [*report.mismatches, *report.violations, *report.notes, "its run failed"][0]
            raise SimulationError(
                "E238",
                f"cycles of core '{compiled.soc.host_cpu.spec.name}' cannot be measured: {why}",
                remedy="run 'atoll core test' until it passes, then a network with 'atoll run'",
            )
        found |= {(report.model, each.operator): each.cycles for each in report.by_layer}
    return found


def instructions_of(models: Sequence[Compiled]) -> Mapping[Which, tuple[int, ...]]:
    """Return how many instructions of each class operators run, in the order of `CLASSES`.

    An instruction-set simulator runs networks once for each class, whose instructions alone take a
    cycle.
    """
    by_class = [*_by_class(models)]
    return {which: tuple(each[which] for each in by_class) for which in by_class[0]}


def _by_class(models: Sequence[Compiled]) -> Iterator[Mapping[Which, int]]:
    samples, session = [random_sample(each.graph) for each in models], CpuKind.ISS.session()
    CpuKind.ISS.check_chip(models[0].soc)
    with temporary_folder() as folder:
        elves = build(models, folder / "build").firmware.elves
        for name in CLASSES:
            counting = [replace(each, soc=_counting(each.soc, name)) for each in models]
            work = Work(
                models=counting,
                samples=samples,
                elves=elves,
                backends=Backends(AcceleratorKind.NONE),
                progress=silent,
                waves=None,
            )
            yield dict(_phases(models, session.run(work)))


def _counting(soc: ResolvedSoc, name: str) -> ResolvedSoc:
    cycles = {each: int(each == name) for each in CLASSES}
    return with_host(soc, cycles=cycles)


def with_host(soc: ResolvedSoc, **spec: object) -> ResolvedSoc:
    """Return a chip of whose host's core something else is known."""
    host = replace(soc.host_cpu, spec=replace(soc.host_cpu.spec, **spec))  # type: ignore[arg-type]
    devices = tuple(host if each.name == host.name else each for each in soc.devices)
    return replace(soc, devices=devices)


def _phases(models: Sequence[Compiled], result: SimResult) -> Iterator[tuple[Which, int]]:
    for number, compiled in enumerate(models):
        spans: dict[int, list[int]] = {}
        for phase in turn_of(result, number, len(models)).phases:
            for operator in phase.operators if phase.sample == 0 else ():
                spans.setdefault(operator, [phase.begin])[1:] = [phase.end]
        for operator, (begin, end) in spans.items():
            yield (compiled.graph.name, compiled.graph.operators[operator].name), end - begin
