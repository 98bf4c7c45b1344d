# SPDX-License-Identifier: Apache-2.0
"""Take one candidate to a plan, or say what it lacks."""

import json
from dataclasses import dataclass, field, replace
from functools import partial

from atoll.codegen.commands import encode_commands, padded, with_counts
from atoll.compiled import Compiled
from atoll.contract.accepted import accepted, agreed
from atoll.cost.network import cycles_of
from atoll.diagnostics.errors import Refusal, attempt
from atoll.driver.candidate import Candidate, StreamPolicy
from atoll.driver.outcome import Infeasible
from atoll.driver.schedule import Scheduled, schedule
from atoll.driver.task import Task, unobserved
from atoll.interchange.plan_text import plan_json
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule
from atoll.lower.jobs import prepare_jobs
from atoll.lower.passes import PASSES, Program, run_passes
from atoll.lower.size_hints import ceilings_of
from atoll.ops.verify_graph import verify_graph
from atoll.place.constraints import ScopeLog
from atoll.place.partition import Decision, because
from atoll.place.passes import DEVICE_PASSES, STORAGE_PASSES, Observer, Placing
from atoll.place.passes import run_passes as run_place_passes
from atoll.place.plan_devices import DevicePlan, plan_devices
from atoll.place.requests import Requests
from atoll.place.spread import spread_operators
from atoll.resolve.soc import ResolvedSoc
from atoll.rewrite.passes import PASSES as REWRITES
from atoll.stack.stack_bound import RUNTIME_ALLOWANCE
from atoll.stack.stack_frames import FRAME_ALLOWANCE
from atoll.stream.choose import NOTHING, Chooser, Streaming
from atoll.stream.streams import check_reach, with_brought_constants, with_streams
from atoll.tile.cut import Tiling, tiled
from atoll.tile.far_pools import without_accelerators

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

Trace = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A network with a device for each operator and pools for each tensor.

    Attributes:
        soc: the chip as placement and planning see it.
        graph: with streams and spread operators.
        decisions: why each operator runs where it runs.
        log: what was asked of its tensors.
        requests: what is asked of it, with every name checked.
        streaming: whose constants are copied ahead.
        trace: the results of the passes, if the task records them.
    """

    soc: ResolvedSoc
    graph: Graph
    decisions: tuple[Decision, ...]
    log: ScopeLog
    requests: Requests
    streaming: Streaming = NOTHING
    trace: Trace = field(default=(), repr=False)


@dataclass
class Compiler:
    """Compiles candidates of one task; those that differ only in overlaps are placed once."""

    task: Task
    _known: list[tuple[Candidate, Placed | Refusal]] = field(default_factory=list, init=False)

    def compile(self, candidate: Candidate) -> Compiled | Infeasible:
        """Return the plan of a candidate, or what it lacks."""
        trace: list[tuple[str, object]] = []
        placed = self.placed(candidate)
        if not isinstance(placed, Placed):
            return Infeasible(error=placed)
        trace += (*placed.trace, ("place", placed.graph))
        planned = attempt(partial(_planned, self.task, candidate, placed, trace))
        kept = tuple(trace) if self.task.records else ()
        if isinstance(planned, Compiled):
            return replace(planned, seen=kept)
        if isinstance(planned, Infeasible):
            return replace(planned, trace=kept)
        return Infeasible(error=planned, trace=kept)

    def placed(self, candidate: Candidate) -> Placed | Refusal:
        """Return a candidate placed, or why it cannot be."""
        key = replace(candidate, overlap=self.task.overlaps[0])
        for known, placed in self._known:
            if known == key:
                return placed
        made = attempt(partial(_placed, self.task, candidate))
        self._known.append((key, made))
        return made


def compile_candidate(task: Task, candidate: Candidate) -> Compiled | Infeasible:
    """Return the plan of a candidate, or what it lacks."""
    return Compiler(task).compile(candidate)


def chip_of(task: Task, candidate: Candidate) -> ResolvedSoc:
    """Return the chip on which a candidate is planned: accelerators do not reach spared pools."""
    return without_accelerators(task.soc, candidate.spared) if candidate.spared else task.soc


def choose_streams(graph: Graph, policy: StreamPolicy, soc: ResolvedSoc) -> Streaming:
    """Choose what is streamed of a placed graph."""
    return Chooser(graph, soc, policy.pools, policy.share).streaming(every=policy.every)


def devices_of(
    task: Task, candidate: Candidate, soc: ResolvedSoc, observe: Observer = unobserved
) -> DevicePlan:
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
        explains=candidate.tiling is task.tiling or candidate.streams is not None,
        observe=observe,
    )


def _placed(task: Task, candidate: Candidate) -> Placed:
    soc, streams = chip_of(task, candidate), candidate.streams
    accelerators, asked = task.options.accelerators, task.options.requests
    reaching = with_brought_constants(soc) if streams and streams.needed else soc
    trace: list[tuple[str, object]] = []

    def observe(stage: str, result: object) -> None:
        if task.records:
            trace.append((stage, result))

    devices = devices_of(task, candidate, reaching, observe)
    placing = Placing(
        graph=devices.graph,
        soc=reaching,
        decisions=devices.decisions,
        requests=devices.requests,
        asked=asked,
        log=devices.log,
        accelerators=accelerators,
        placed=lambda asked: plan_devices(_network(task, candidate), reaching, asked).graph,
    )
    placing = run_place_passes(placing, STORAGE_PASSES, observe)
    if offloaded := task.offloaded:
        decisions = because(placing.decisions, offloaded.npu, offloaded.kept_off)
        placing = replace(placing, decisions=decisions)
    streaming = choose_streams(placing.graph, streams, soc) if streams else NOTHING
    graph, decisions = with_streams(placing.graph, soc, streaming.streams), placing.decisions
    verify_graph(graph, placing.graph)
    observe("stream-constants", graph)
    if streams and streams.needed:
        check_reach(graph, soc)
    if candidate.spread:
        streamed = graph
        graph, decisions = spread_operators(graph, soc, decisions)
        verify_graph(graph, streamed)
    observe("spread-operators", graph)
    return Placed(
        soc=soc,
        graph=graph,
        decisions=decisions,
        log=devices.log,
        requests=devices.requests,
        streaming=streaming,
        trace=tuple(trace),
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
    return tiled(network, candidate.tiling)


def _planned(
    task: Task, candidate: Candidate, placed: Placed, trace: list[tuple[str, object]]
) -> Compiled | Infeasible:
    soc, graph, splits = placed.soc, placed.graph, candidate.overlap.splits

    def observe(stage: str, result: object) -> None:
        trace.append((stage, result))

    lowered = run_passes(
        Program(
            soc=soc,
            graph=graph,
            jobs=prepare_jobs(graph, soc, splits),
            overlapping=candidate.overlap,
            spare=SPARE_STACK,
            module=IRModule(graph.name, (), Entry((), (), (), (), ())),
            requests=placed.requests,
        ),
        observe,
    )
    cycles = cycles_of(graph, soc, constants=placed.streaming.homes)
    ceilings = ceilings_of(placed.requests, graph, lowered.module.entry)
    found = schedule(task, soc, lowered.module, cycles, ceilings)
    if not isinstance(found, Scheduled):
        return found
    module, plan = accepted(found.module, found.plan, soc), found.plan
    observe("overlap-runs", module)
    if task.records:
        observe("memory", json.dumps(plan_json(plan), indent=2))
    encoded = encode_commands(graph, soc, lowered.jobs, lowered.copies, plan, splits)
    module = with_counts(module, lowered.jobs, encoded)
    return Compiled(
        soc=task.soc,
        options=task.options,
        source=task.source,
        network=task.network,
        left_out=task.left_out,
        offloading=task.offloaded.note if task.offloaded else "",
        graph=graph,
        decisions=placed.decisions,
        module=module,
        copies=lowered.copies,
        plan=plan,
        jobs=lowered.jobs,
        splits=splits,
        commands=padded(encoded, lowered.jobs),
        contract=agreed(module, plan, graph, task.soc, encoded),
        tiling=candidate.tiling or Tiling(),
        streaming=placed.streaming,
        log=placed.log,
        requests=placed.requests,
    )
