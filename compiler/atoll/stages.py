"""The stages of the compiler, from placement to commands: each is a call, each arrow a value."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from atoll.codegen.commands import encode_commands, padded, with_counts
from atoll.compiled import BuildOptions, Compiled
from atoll.contract.accepted import accepted, agreed
from atoll.cost.engines import driver_cycles
from atoll.cost.lists import joint_saving
from atoll.cost.network import cycles_of
from atoll.errors import PlacementError, PlanError
from atoll.frontend.registry import Source
from atoll.interchange.plan_text import plan_json
from atoll.ir.ceiling import Ceiling
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule, Step
from atoll.ir.verify import verify
from atoll.lower.jobs import prepare_jobs
from atoll.lower.joined_lists import joined
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.overlapping import OVERLAPPING, Overlapping
from atoll.lower.passes import PASSES, Observer, Program, run_passes
from atoll.lower.size_hints import ceilings_of
from atoll.memory.build_problem import build_problem, with_parts
from atoll.memory.ceilings import with_ceilings
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory, solve
from atoll.place.capabilities import runners
from atoll.place.code_targets import with_targets
from atoll.place.copy_engines import assign_copies
from atoll.place.partition import Decision
from atoll.place.patterns import with_patterns
from atoll.place.plan_devices import may_spread, plan_devices
from atoll.place.requests import Requests
from atoll.place.spread import spread_operators
from atoll.place.views import described, with_views
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.rewrite.edit import Given
from atoll.rewrite.passes import PASSES as REWRITES
from atoll.rewrite.passes import rewritten
from atoll.stack.stack_bound import RUNTIME_ALLOWANCE
from atoll.stack.stack_frames import FRAME_ALLOWANCE
from atoll.stream.choose import NOTHING, Streaming
from atoll.stream.streams import check_reach, with_streams
from atoll.tile.asked import asked_tiling
from atoll.tile.cut import Tiling, tiled
from atoll.vela.subgraphs import with_subgraphs

STAGES = (
    "frontend",
    *(each.name for each in REWRITES),
    "place",
    *(each.name for each in PASSES),
    "overlap-runs",
    "memory",
)
SPARE_STACK = RUNTIME_ALLOWANCE + FRAME_ALLOWANCE
"""Bytes that kernels leave free on each core's stack."""

UNLIMITED = 1 << 62
"""More bytes than any remedy asks for."""


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages, and what all of them are given.

    Attributes:
        soc: the chip.
        options: what the user chose.
        network: as a front end made it, or rewritten.
        source: what it was made from.
        observe: told the results of stages that rewrite, and of others where nothing came of them.
        taken: bytes at the start of pools that hold other models' constants.
        spread: whether operators may be spread over cores.
        unlike: whether operators go to cores that nobody asks for, where they are surely faster.
        overlapping: where results may lie over operands, if not as the options say.
        explains: what does not fit is explained, with all that it needs, and so is every device
            that does not run an operator.
        streaming: chooses whose constants are copied ahead, given the placed graph.
        reaching: the chip as placement sees it, if accelerators reach more there than they do.
        planning: likewise for placement and memory planning, if accelerators are to reach less.
        left_out: operators of the network as it was that are not in it now, and why.
        records: what is compiled keeps the results of the stages that made it.
        requests: what is asked of buffers, with every name checked.
    """

    soc: ResolvedSoc
    options: BuildOptions
    network: Graph
    source: Source
    observe: Observer
    taken: Mapping[str, int]
    spread: bool = True
    unlike: bool = False
    overlapping: tuple[Overlapping, ...] = ()
    explains: bool = True
    streaming: Callable[[Graph], Streaming] = lambda graph: NOTHING
    reaching: ResolvedSoc | None = None
    planning: ResolvedSoc | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    records: bool = False
    requests: Requests = field(default_factory=Requests)

    def run(self) -> Compiled:
        """Place, then plan."""
        self.observe("frontend", self.network)
        stages = self.rewritten
        if self.options.requests.model.cuts:
            asked, network = self.options.requests, stages.network
            tiling = asked_tiling(network, asked)
            devices = {device.name for device in self.soc.devices}
            place = {op: name for op, name in asked.model.place.items() if name in devices}
            network = network.with_operators(
                replace(op, device=place.get(op.name, op.device)) for op in network.operators
            )
            return stages.cut(tiled(network, tiling), self.soc, tiling)
        return stages._whole()

    @property
    def ways(self) -> tuple[Overlapping, ...]:
        """Where results may lie over operands, in the order in which that is tried."""
        return self.overlapping or OVERLAPPING[self.options.requests.model.overlap]

    def cut(self, network: Graph, soc: ResolvedSoc, tiling: Tiling) -> Compiled:
        """Take a network in stripes to a plan on a chip, or as if it were planned for that one."""
        stages = replace(self, planning=soc) if self.planning else replace(self, soc=soc)
        return replace(stages._placed(network, spread=False), tiling=tiling)

    @property
    def rewritten(self) -> "Stages":
        """The stages for the network with what other compilers make of it, made smaller."""
        soc, asked, graph = self.soc, self.options.requests.model, self.network
        if self.options.accelerators:
            graph = with_subgraphs(graph, self.source, soc)
        if not asked.rewrite:
            return replace(self, network=graph)
        cuts = (name for cut in asked.cuts for name in (cut.first, cut.last))
        named = asked.named.union(cuts, *(each.names for each in asked.on_device))
        npus = soc.npus if self.options.accelerators else ()
        steps = (step for npu in npus for each in npu.spec.operators for step in each.pattern)
        given = Given(
            named=named,
            runs=partial(runners, among=npus, soc=soc),
            patterned=frozenset(step.kind for step in steps),
        )
        made = rewritten(graph, given, self.observe)
        return replace(self, network=made.graph, left_out=made.left_out)

    def _whole(self) -> Compiled:
        soc, options, network = self.soc, self.options, self.network
        fused = with_patterns(network, soc, options.requests) if options.accelerators else network
        spread = self.spread and may_spread(options.requests, soc)
        networks = (network,) if fused is network else (fused, network)
        *tries, last = product(networks, (True, False) if spread else (False,))
        for each, shared in tries:
            with suppress(PlacementError, PlanError):
                return self._placed(each, spread=shared)
        return self._placed(last[0], spread=last[1])

    def _placed(self, network: Graph, *, spread: bool) -> Compiled:
        if not self.records:
            return self._compiled(network, spread=spread)
        seen: list[tuple[str, object]] = []
        recorder = replace(self, observe=lambda stage, result: seen.append((stage, result)))
        try:
            made = recorder._compiled(network, spread=spread)
        except (PlacementError, PlanError):
            for each in seen:
                self.observe(*each)
            raise
        return replace(made, seen=tuple(seen))

    def _compiled(self, network: Graph, *, spread: bool) -> Compiled:
        soc = self.reaching or self.planning or self.soc
        accelerators = self.options.accelerators
        placed = plan_devices(
            network,
            soc,
            self.options.requests,
            accelerators=accelerators,
            spread=spread,
            unlike=self.unlike,
            explains=self.explains,
        )
        graph = with_targets(placed.graph, self.options.requests, soc, network)
        graph = assign_copies(graph, soc) if accelerators else graph
        graph = with_views(graph, soc)
        graph = assign_copies(graph, soc) if accelerators else graph
        soc = self.planning or self.soc
        decisions = described(placed.decisions, graph)
        streaming = self.streaming(graph)
        graph = with_streams(graph, soc, streaming.streams)
        if self.reaching:
            check_reach(graph, soc)
        if spread:
            graph, decisions = spread_operators(graph, soc, decisions)
        self.observe("place", graph)
        stages = replace(self, requests=placed.requests)
        planned = stages._planned(graph, decisions, streaming.homes)
        return replace(planned, streaming=streaming, log=placed.log)

    def _planned(
        self, graph: Graph, decisions: tuple[Decision, ...], homes: Mapping[str, str]
    ) -> Compiled:
        """Plan; where that is too large and the user allows it, with overlaps that cost time."""
        first, *further = self.ways
        try:
            return self._planned_once(graph, decisions, homes, first)
        except PlanError as error:
            if not further or error.faults[0].code not in ("E062", "E206"):
                raise
            without = error
        try:
            return self._planned_once(graph, decisions, homes, *further)
        except PlanError as error:
            raise min(error, without, key=_wanted) from error

    def _planned_once(
        self,
        graph: Graph,
        decisions: tuple[Decision, ...],
        homes: Mapping[str, str],
        overlapping: Overlapping,
    ) -> Compiled:
        soc, splits = self.planning or self.soc, overlapping.splits
        lowered = run_passes(
            Program(
                soc=soc,
                graph=graph,
                jobs=prepare_jobs(graph, soc, splits),
                overlapping=overlapping,
                spare=SPARE_STACK,
                module=IRModule(graph.name, (), Entry((), (), (), (), ())),
                requests=self.requests,
            ),
            self.observe,
        )
        cycles = cycles_of(graph, soc, constants=homes)
        ceilings = ceilings_of(self.requests, graph, lowered.module.entry)
        module, plan = self._scheduled(lowered.module, cycles, ceilings)
        module = accepted(module, plan, soc)
        self.observe("overlap-runs", module)
        self.observe("memory", json.dumps(plan_json(plan), indent=2))
        encoded = encode_commands(graph, soc, lowered.jobs, lowered.copies, plan, splits)
        module = with_counts(module, lowered.jobs, encoded)
        return Compiled(
            soc=self.soc,
            options=self.options,
            source=self.source,
            network=self.network,
            left_out=self.left_out,
            graph=graph,
            decisions=decisions,
            module=module,
            copies=lowered.copies,
            plan=plan,
            jobs=lowered.jobs,
            splits=splits,
            commands=padded(encoded, lowered.jobs),
            contract=agreed(module, plan, graph, self.soc, encoded),
            requests=self.requests,
        )

    def _scheduled(
        self,
        module: IRModule,
        cycles: Mapping[str, int],
        ceilings: Mapping[str, tuple[Ceiling, ...]],
    ) -> tuple[IRModule, MemoryPlan]:
        """Let as many devices work at the same time as the pools have room for.

        All asynchronous ones are tried first, cores included, then DMA engines alone, then one
        device at a time. Only the last of these is worth an explanation of what does not fit.
        """
        soc, options = self.planning or self.soc, self.options
        host = driver_cycles(soc)[:2]
        engines, copiers = (
            frozenset(each.name for each in among if each.spec.asynchronous)
            for among in (soc.engines, soc.dmas)
        )
        cores = frozenset(core.name for core in soc.remote_cpus)
        for devices in (engines | cores, copiers):
            overlaps = OverlapRuns(
                devices=devices,
                cycles=cycles,
                host=host,
                saving=partial(_saving, soc=soc),
                movers=copiers,
            )
            for overlapped in overlaps.ways(module):
                verify(overlapped, module)
                problem = with_ceilings(build_problem(overlapped, soc, self.taken), ceilings)
                answer = solve(problem, name=options.algorithm, effort=options.effort)
                if isinstance(answer, MemoryPlan):
                    return overlapped, with_parts(answer, overlapped.entry)
        steps = [*(step.operator for step in module.entry.steps), "the caller reads"]
        problem = with_ceilings(build_problem(module, soc, self.taken), ceilings)
        if not self.explains:
            answer = solve(problem, name=options.algorithm, effort=options.effort)
            if not isinstance(answer, MemoryPlan):
                raise PlanError("E062", "the pools are too small")
            return module, with_parts(answer, module.entry)
        plan = plan_memory(problem, steps, name=options.algorithm, effort=options.effort)
        return module, with_parts(plan, module.entry)


def _wanted(error: PlanError) -> int:
    """Return the bytes that the remedies of an error ask for."""
    sizes = {key: size for fault in error.faults for key, size in fault.wants}
    return sum(sizes.values()) if sizes else UNLIMITED


def _saving(steps: Sequence[Step], soc: ResolvedSoc) -> int:
    """Return what steps take less since engines go from one to the next by themselves."""
    following = (step.device for each in joined(steps, soc) for step in each[1:])
    engines = (soc.device(device) for device in following)
    return sum(joint_saving(each, soc) for each in engines if isinstance(each, Engine))
