# SPDX-License-Identifier: Apache-2.0
"""Take one candidate through all stages to a plan, or say what it lacks."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import chain

from atoll.codegen.commands import pad_lists
from atoll.cost.engines import driver_cycles
from atoll.cost.lists import joint_saving
from atoll.cost.network import cycles_of
from atoll.diagnostics.errors import AtollError, PlacementError, PlanError, Refusal, attempt
from atoll.driver.candidate import Candidate, Infeasible
from atoll.driver.compiled import Compiled
from atoll.driver.planned import Planned, lower, plan
from atoll.driver.task import Task, Trace
from atoll.interchange.plan_text import plan_json
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule, Step
from atoll.lower.joined_lists import join_lists
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.passes import PASSES, Program
from atoll.lower.step_schedule import is_chain
from atoll.memory.problem import Answer, MemoryPlan
from atoll.memory.solve import refusal_of
from atoll.ops.verify_graph import verify_graph
from atoll.place.decision import because
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES, Observer, Placing, ignore_result
from atoll.place.passes import run_passes as run_place_passes
from atoll.place.plan_devices import plan_devices
from atoll.place.spread import spread_operators
from atoll.place.views import describe_views
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import timeless
from atoll.rewrite.passes import PASSES as REWRITES
from atoll.stack.stack_bound import RUNTIME_ALLOWANCE
from atoll.stack.stack_frames import FRAME_ALLOWANCE
from atoll.stream.choose import NOTHING, Streaming
from atoll.stream.streams import check_reach, with_brought_constants, with_streams
from atoll.tile.cut import Tiling, tile

STAGES = (
    "frontend",
    *(each.name for each in REWRITES),
    *(each.name for each in (*DEVICE_PASSES, *STORAGE_PASSES)),
    "stream-constants",
    "spread-operators",
    "place",
    *(each.name for each in PASSES),
    "overlap-runs",
    "memory",
)
SPARE_STACK = RUNTIME_ALLOWANCE + FRAME_ALLOWANCE
"""Bytes that kernels leave free on each core's stack."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A candidate with a device for each operator and pools for each tensor.

    Attributes:
        placing: its graph with streams and spread operators, for the chip that it is planned for.
        streaming: whose constants are copied ahead.
        trace: the results of the passes, if the task records them.
    """

    placing: Placing
    streaming: Streaming = NOTHING
    trace: Trace = field(default=(), repr=False)

    @property
    def graph(self) -> Graph:
        """What lowering gets."""
        return self.placing.graph


@dataclass
class Compiler:
    """Compiles candidates of one task; those that differ only in overlaps are placed once."""

    task: Task
    _known: list[tuple[Candidate, Placed | Refusal]] = field(default_factory=list, init=False)

    def compile(
        self, candidate: Candidate, observe: Observer = ignore_result
    ) -> Compiled | Infeasible:
        """Return the plan of a candidate, or what it lacks; `observe` is told of each stage."""
        placed = self.place(candidate)
        if not isinstance(placed, Placed):
            return Infeasible(error=placed)
        for stage, result in (*placed.trace, ("place", placed.graph)):
            observe(stage, result)
        found = attempt(partial(_plan, self.task, candidate, placed, observe))
        return found if isinstance(found, Compiled | Infeasible) else Infeasible(error=found)

    def place(self, candidate: Candidate) -> Placed | Refusal:
        """Return a candidate placed, or why it cannot be."""
        key = replace(candidate, overlap=self.task.overlaps[0])
        for known, placed in self._known:
            if known == key:
                return placed
        made = attempt(partial(_place, self.task, candidate))
        self._known.append((key, made))
        return made


def compile_candidate(task: Task, candidate: Candidate) -> Compiled | Infeasible:
    """Return the plan of a candidate, or what it lacks."""
    return Compiler(task).compile(candidate)


def devices_of(
    task: Task, candidate: Candidate, soc: ResolvedSoc, observe: Observer = ignore_result
) -> Placing:
    """Return a candidate with a device for each operator and copies where nothing else helps.

    Of stripes, which are tried in numbers, decisions do not say why other devices were rejected.

    Raises:
        PlacementError: as `plan_devices`.
    """
    return plan_devices(
        _network(task, candidate),
        soc,
        task.options.requests,
        accelerators=task.options.accelerators,
        spread=candidate.spread,
        unlike=candidate.unlike,
        devices=dict(candidate.devices),
        explains=candidate.tiling is task.tiling or candidate.streams is not None,
        observe=observe,
    )


def _network(task: Task, candidate: Candidate) -> Graph:
    """Return the network of a candidate before it is placed."""
    network = task.fused if candidate.fused else task.network
    if candidate.tiling is None:
        return network
    if task.asked.cuts:
        devices = {device.name for device in task.soc.devices}
        place = {op: name for op, name in task.asked.place.items() if name in devices}
        network = network.with_operators(
            replace(op, device=place.get(op.name, op.device)) for op in network.operators
        )
    return tile(network, candidate.tiling)


def _place(task: Task, candidate: Candidate) -> Placed:
    soc, streams = candidate.chip(task.soc), candidate.streams
    reaching = with_brought_constants(soc) if streams and streams.needed else soc
    trace: list[tuple[str, object]] = []
    observe = task.recorder(trace)
    placing = devices_of(task, candidate, reaching, observe)
    placing = run_place_passes(placing, STORAGE_PASSES, observe)
    graph, decisions = placing.graph, describe_views(placing.decisions, placing.graph)
    if (offloaded := task.offloaded) and offloaded.npu:
        decisions = because(decisions, offloaded.npu, offloaded.kept_off)
    streaming = streams.choose(graph, soc) if streams else NOTHING
    if streaming.streams:
        graph = with_streams(graph, soc, streaming.streams)
        verify_graph(graph, placing.graph)
    observe("stream-constants", graph)
    if streams and streams.needed:
        check_reach(graph, soc)
    if candidate.spread:
        streamed = graph
        graph, decisions = spread_operators(graph, soc, decisions)
        verify_graph(graph, streamed)
    observe("spread-operators", graph)
    placing = replace(placing, graph=graph, soc=soc, decisions=decisions)
    return Placed(placing=placing, streaming=streaming, trace=tuple(trace))


def _plan(
    task: Task, candidate: Candidate, placed: Placed, observe: Observer
) -> Compiled | Infeasible:
    placing, graph = placed.placing, placed.graph
    program = Program(
        soc=timeless(placing.soc),
        graph=graph,
        jobs={},
        overlapping=candidate.overlap,
        spare=SPARE_STACK,
        module=IRModule(graph.name, (), Entry((), (), (), (), ())),
        requests=placing.requests,
    )
    try:
        lowered = lower(program, observe)
    except (AtollError, ZeroDivisionError):  # refusals name places in files, and weigh speeds
        lower(replace(program, soc=placing.soc), observe)
        raise
    found = _schedule(task, placed, lowered)
    if isinstance(found, Infeasible):
        return found
    observe("overlap-runs", found.planned)
    if task.records:
        observe("memory", json.dumps(plan_json(found.plan), indent=2))
    return Compiled(
        soc=task.soc,
        options=task.options,
        source=task.source,
        network=task.network,
        left_out=task.left_out,
        offloading=task.offloaded.note if task.offloaded else "",
        graph=graph,
        decisions=placing.decisions,
        module=found.module,
        copies=lowered.copies,
        plan=found.plan,
        jobs=lowered.jobs,
        splits=candidate.overlap.splits,
        commands=pad_lists(found.commands, lowered.jobs),
        contract=found.contract,
        tiling=candidate.tiling or Tiling(),
        streaming=placed.streaming,
        log=placing.log,
        requests=placing.requests,
    )


def _schedule(task: Task, placed: Placed, lowered: Program) -> Planned | Infeasible:
    """Return the program in which most devices work at once that has a plan, and that plan."""
    soc, options = placed.placing.soc, task.options
    ways: Iterable[IRModule] = ()
    if not is_chain(lowered.module.entry):
        cycles = cycles_of(lowered.graph, soc, constants=placed.streaming.homes)
        ways = _at_once(lowered.module, soc, cycles)
    answer: Planned | Answer
    for module in chain(ways, (lowered.module,)):
        answer = plan(lowered, module, task.reserved, options)
        if isinstance(answer, Planned):
            return answer
    assert not isinstance(answer, Planned | MemoryPlan)
    steps = [*(step.operator for step in lowered.module.entry.steps), "the caller reads"]
    error = refusal_of(answer, steps, name=options.algorithm, effort=options.effort)
    assert isinstance(error, PlacementError | PlanError)
    return Infeasible(error=error, answer=answer)


def _at_once(module: IRModule, soc: ResolvedSoc, cycles: Mapping[str, int]) -> Iterator[IRModule]:
    """Yield programs in which asynchronous devices work at once: cores too, then copies alone."""
    engines, copiers = (
        frozenset(each.name for each in among if each.spec.asynchronous)
        for among in (soc.engines, soc.dmas)
    )
    cores = frozenset(core.name for core in soc.remote_cpus)
    for devices in (engines | cores, copiers):
        overlaps = OverlapRuns(
            devices=devices,
            cycles=cycles,
            host=driver_cycles(soc)[:2],
            saving=partial(_chain_saving, soc=soc),
            movers=copiers,
        )
        yield from overlaps.ways(module)


def _chain_saving(steps: Sequence[Step], soc: ResolvedSoc) -> int:
    """Return what steps take less since engines go from one to the next by themselves."""
    following = Counter(step.device for each in join_lists(steps, soc) for step in each[1:])
    engines = ((soc.device(device), count) for device, count in following.items())
    return sum(joint_saving(each, soc) * count for each, count in engines)
