# SPDX-License-Identifier: Apache-2.0
"""Plays the operators of an accelerator that has no model of lists: each by its function."""

from collections.abc import Iterable, Iterator, Mapping

from atoll.contract.chains import chained_steps
from atoll.driver.pipeline import Compiled
from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.ir.tir import EngineAction, Step
from atoll.ops.kind import Array
from atoll.ops.reference import call_entry, compute
from atoll.records import dataclass
from atoll.resolve.memory_views import device_address
from atoll.resolve.soc import Engine
from atoll_sim.engines.common.decode import ErrorCode
from atoll_sim.engines.interface import Bus, BusFault, Outcome


def list_address(compiled: Compiled, step: Step) -> int:
    """Return where whoever reads the commands of a step sees them: its device, or the host."""
    assert isinstance(step.action, EngineAction)
    at = compiled.plan.address(step.action.commands)
    return device_address(compiled.soc, step.driver or step.device, at)


def lists_of(models: Iterable[Compiled]) -> Mapping[tuple[str, int], tuple[Compiled, Step]]:
    """Return the network and the step of each list of commands, by engine and address."""
    return {
        (step.action.device, list_address(compiled, step)): (compiled, step)
        for compiled in models
        for step in compiled.module.entry.steps
        if isinstance(step.action, EngineAction)
    }


@dataclass(frozen=True, slots=True)
class Listed:
    """The list of commands of one step, where whoever reads it sees it."""

    step: Step
    address: int
    count: int


def chains_of(models: Iterable[Compiled]) -> Mapping[tuple[str, int], tuple[Listed, ...]]:
    """Return the lists that an engine runs by itself after another, by engine and address.

    The address is that of the one which the host starts; it comes first. Models of lists follow
    the commands themselves.
    """
    found = {}
    for compiled in models:
        pairs = chained_steps(compiled.module.entry, compiled.soc)
        follows = {one.number: two for one, two in pairs}
        begun = {step.number for step in follows.values()}
        for step in compiled.module.entry.steps:
            if step.number in follows and step.number not in begun:
                lists = tuple(_chain(compiled, step, follows))
                found[step.runner, lists[0].address] = lists
    return found


def _chain(compiled: Compiled, first: Step, follows: Mapping[int, Step]) -> Iterator[Listed]:
    """Yield the list of a step, and those that its engine begins by itself behind it."""
    step: Step | None = first
    while step:
        assert isinstance(step.action, EngineAction)
        yield Listed(step, list_address(compiled, step), step.action.count)
        step = follows.get(step.number)


def play(bus: Bus, compiled: Compiled, step: Step, engine: Engine) -> Outcome:
    """Run one operator: read what its job reads, compute, write the results.

    Args:
        bus: memory as whoever moves the data reaches it.
        compiled: the network.
        step: the one that runs the operator.
        engine: the accelerator.

    Raises:
        AtollError: E041, E111, E112; its function fails.
    """
    op, graph = compiled.graph.operators[step.number], compiled.graph
    job = compiled.jobs[op.name]
    error = ErrorCode.READ_DECODE
    try:
        inputs = [_read(name, bus, compiled, step, job) for name in op.inputs]
        for tensor in job.constants:
            bus.read(_address(tensor.name, compiled, step), tensor.size)
        results = _results(op, graph, inputs, engine, compiled)
        error = ErrorCode.WRITE_DECODE
        for name, array in zip(op.outputs, results, strict=True):
            bus.write(_address(name, compiled, step), graph.tensor(name).bytes_of(array))
    except BusFault as fault:
        return Outcome(error=error, fault_address=fault.address, completed=0)
    assert isinstance(step.action, EngineAction)
    return Outcome(error=0, fault_address=0, completed=step.action.count)


def _results(
    op: Operator, graph: Graph, inputs: list[Array | None], engine: Engine, compiled: Compiled
) -> tuple[Array, ...]:
    if entry := engine.spec.support(op.kind).model:
        return call_entry(entry, op, graph, inputs, engine)
    return compute(op, graph, inputs, compiled.soc)


def _read(name: str, bus: Bus, compiled: Compiled, step: Step, job: Job) -> Array | None:
    """Return an input: its bytes in memory if the job reads them, else those of the model file."""
    if not name:
        return None
    tensor = compiled.graph.tensor(name)
    if name not in job.reads:
        return tensor.array
    data = bus.read(_address(name, compiled, step), tensor.size)
    return tensor.values_in(data)


def _address(name: str, compiled: Compiled, step: Step) -> int:
    """Return where whoever moves the data sees a buffer."""
    graph = compiled.graph
    stored = graph.buffer(name) if name in graph.by_name else name
    stored = compiled.copies.get(stored, stored)
    return device_address(compiled.soc, step.device, compiled.plan.address(stored))
