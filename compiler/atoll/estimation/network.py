# SPDX-License-Identifier: Apache-2.0
"""Estimate a compiled network: each operator, what it moves, and the whole run."""

from collections.abc import Iterator, Mapping, Sequence

from atoll.cost.basis import basis_of, stands_in
from atoll.cost.cores import fetched
from atoll.cost.measured import BETWEEN_CYCLES, MEASURED_CORE
from atoll.cost.spent import Spent
from atoll.driver.pipeline import Compiled, cautions, expected, notes
from atoll.estimation.around import after_cycles, before_cycles
from atoll.estimation.traffic import added, traffic_of
from atoll.ir.tir import AcceleratorWait
from atoll.lower.joined_lists import going_on, joined
from atoll.lower.timeline import Timeline, timeline_of
from atoll.ops.registry import kind_of
from atoll.report.estimate import LayerEstimate, NetworkEstimate


def estimates_of(models: Sequence[Compiled]) -> tuple[NetworkEstimate, ...]:
    """Return what each of the networks takes that share a firmware, if it runs as the first."""
    return tuple(_estimate(model, tuple(models)) for model in models)


def _estimate(model: Compiled, models: tuple[Compiled, ...]) -> NetworkEstimate:
    soc = model.soc
    spent = expected(model)
    cycles = {name: each.cycles for name, each in spent.items()}
    timeline = timeline_of(model.module.entry.steps, cycles, soc)
    layers = tuple(_layers(model, spent, timeline))
    lists = sum(1 for _ in joined(model.module.entry.steps, soc))
    waits = sum(isinstance(step.action, AcceleratorWait) for step in model.module.entry.steps)
    between = fetched(BETWEEN_CYCLES, soc.host_cpu, soc) * max(0, lists - waits - 1)
    moved = [each for layer in layers for each in layer.traffic]
    names = {each.memory for each in moved}
    return NetworkEstimate(
        soc=soc.name,
        model=model.graph.name,
        before=before_cycles(soc, models),
        network=timeline.length,
        sequential=sum(layer.cycles for layer in layers) + between,
        after=after_cycles(soc),
        layers=layers,
        traffic=tuple(
            added(memory.name, (each for each in moved if each.memory == memory.name))
            for memory in soc.memories
            if memory.name in names
        ),
        host_clock=soc.host_cpu.clock,
        basis=basis_of(soc, {soc.host, *(name for layer in layers for name in layer.devices)}),
        notes=tuple(dict.fromkeys(_notes(model))),
    )


def _notes(model: Compiled) -> Iterator[str]:
    """Say of which devices the cycles are less sure."""
    soc, operators = model.soc, model.graph.operators
    used = {soc.host, *(name for op in operators for name in op.devices)}
    for core in soc.cpus:
        if core.name in used and stands_in(core):
            yield f"{core.name}: {core.spec.name} is not measured; it counts as {MEASURED_CORE}"
    yield from notes(model)
    yield from cautions(model)
    for op in operators:
        if what := kind_of(op).unproven:
            yield f"{op.device}: {what}"


def _layers(
    model: Compiled, spent: Mapping[str, Spent], timeline: Timeline
) -> Iterator[LayerEstimate]:
    operators = {op.name: op for op in model.graph.operators}
    linked = going_on(model.module.entry.steps, model.soc)
    for step in model.module.entry.steps:
        if isinstance(step.action, AcceleratorWait):
            continue
        op, each = operators[step.operator], spent[step.operator]
        yield LayerEstimate(
            operator=op.name,
            kind=op.kind,
            devices=op.devices,
            begin=timeline.begins[op.name],
            end=timeline.ends[op.name],
            cycles=each.cycles,
            basis=basis_of(model.soc, op.devices),
            bound=each.bound,
            parts=each.busy.parts if each.busy else {},
            traffic=traffic_of(model, step, op, each.cycles, each.busy, goes_on=op.name in linked),
        )
