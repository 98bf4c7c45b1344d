# SPDX-License-Identifier: Apache-2.0
"""Run networks on cores: what kernels take in RTL, and which instructions they run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.artifacts.samples import random_sample
from atoll.cost.kernel_runs import key_of, with_runs
from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import BuildOptions, Compiled, compile_networks
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.specs import KernelRun
from atoll_sim.backends.session import AcceleratorKind, CpuKind
from atoll_sim.runs.checked_run import run_models
from atoll_sim.runs.kernel_runs import run_kernels

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


def operators_run(models: Sequence[Compiled]) -> Mapping[Which, KernelRun]:
    """Return what operators run on the instruction-set simulator."""
    found = {}
    for (number, operator), (run, *_) in run_kernels(models).items():
        graph = models[number].graph
        found[graph.name, graph.operators[operator].name] = run
    return found


def with_operators(compiled: Compiled, ran: Mapping[Which, KernelRun]) -> Compiled:
    """Return a network whose costs rest on what its operators ran on its chip's host."""
    graph, host = compiled.graph, compiled.soc.host_cpu
    runs = {
        key_of(op, graph, host): (ran[graph.name, op.name],)
        for op in graph.operators
        if (graph.name, op.name) in ran
    }
    return replace(compiled, soc=with_runs(compiled.soc, runs))


def with_host(soc: ResolvedSoc, **spec: object) -> ResolvedSoc:
    """Return a chip of whose host's core something else is known."""
    host = replace(soc.host_cpu, spec=replace(soc.host_cpu.spec, **spec))  # type: ignore[arg-type]
    devices = tuple(host if each.name == host.name else each for each in soc.devices)
    return replace(soc, devices=devices)
