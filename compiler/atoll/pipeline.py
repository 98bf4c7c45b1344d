"""The compiler from top to bottom: each stage is one call, each arrow one value."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from atoll.codegen.commands import encode_commands, padded, with_counts
from atoll.contract.accepted import accepted, agreed
from atoll.contract.contract import Contract, contract_of
from atoll.description.build import BuildRequests
from atoll.errors import PlacementError, PlanError
from atoll.frontend.registry import Source, load_network, read_source
from atoll.interchange.plan_text import plan_json
from atoll.ir.graph import Graph
from atoll.ir.tir import Entry, IRModule
from atoll.ir.verify import verify
from atoll.lower.accelerator import Job
from atoll.lower.jobs import prepare_jobs
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.overlapping import OVERLAPPING, Overlapping
from atoll.lower.passes import PASSES, Observer, Program, run_passes
from atoll.memory.algorithms import DEFAULT
from atoll.memory.build_problem import NOTHING, build_problem
from atoll.memory.effort import Effort
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory, solve
from atoll.place.copy_engines import assign_copies
from atoll.place.costs import cycles_of, driver_cycles
from atoll.place.partition import Decision
from atoll.place.patterns import with_patterns
from atoll.place.plan_devices import may_spread, plan_devices
from atoll.place.spread import spread_operators
from atoll.place.views import described, with_views
from atoll.report.explain_buffers import buffer_stories
from atoll.report.explain_text import Explanation
from atoll.resolve.remedy.whole_need import with_whole_need
from atoll.resolve.soc import ResolvedSoc
from atoll.stack.stack_bound import RUNTIME_ALLOWANCE, check_stack
from atoll.stack.stack_frames import FRAME_ALLOWANCE
from atoll.vela.subgraphs import with_subgraphs

STAGES = ("frontend", "place", *(each.name for each in PASSES), "overlap-runs", "memory")
SPARE_STACK = RUNTIME_ALLOWANCE + FRAME_ALLOWANCE
"""Bytes that kernels leave free on each core's stack."""

UNLIMITED = 1 << 62
"""More bytes than any remedy asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a user may choose.

    Attributes:
        accelerators: False compiles every operator for the cores.
        requests: where operators and tensors shall be.
        algorithm: name of the memory planner.
        effort: what it may spend.
    """

    accelerators: bool = True
    requests: BuildRequests = field(default_factory=BuildRequests)
    algorithm: str = DEFAULT
    effort: Effort = field(default_factory=Effort)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A network planned for a chip: everything but machine code.

    Attributes:
        source: the model file.
        graph: the placed graph; its operator order is the order of execution.
        decisions: why each operator of the network runs where it runs.
        copies: for each constant that repeats another, the one that stands for both.
        jobs: what accelerators were asked to run, by operator.
        splits: commands that an accelerator may spend on one operator for the sake of memory.
        commands: bytes of each command list, by buffer.
    """

    soc: ResolvedSoc
    options: BuildOptions
    source: Source
    graph: Graph
    decisions: tuple[Decision, ...]
    module: IRModule
    copies: Mapping[str, str]
    jobs: Mapping[str, Job]
    plan: MemoryPlan
    splits: int
    commands: Mapping[str, bytes]
    contract: Contract


def compile_file(
    soc: ResolvedSoc,
    model: Path,
    options: BuildOptions | None = None,
    observe: Observer = lambda stage, result: None,
    taken: Mapping[str, int] = NOTHING,
) -> Compiled:
    """Take a model file to a complete, checked plan on `soc`; the rest is as in `compile_graph`.

    Raises:
        ModelError: the file is damaged or holds what Atoll does not support.
    """
    return compile_graph(soc, load_network(model), read_source(model), options, observe, taken)


def compile_graph(
    soc: ResolvedSoc,
    network: Graph,
    source: Source,
    options: BuildOptions | None = None,
    observe: Observer = lambda stage, result: None,
    taken: Mapping[str, int] = NOTHING,
) -> Compiled:
    """Take a network that a front end or a generator has made to a plan.

    Args:
        soc: the chip.
        network: its operators passed their checks.
        source: what it was made from.
        options: what the user chose.
        observe: told the result of every stage.
        taken: bytes at the start of pools that hold other models' constants.

    Raises:
        PlacementError: a tensor cannot be where its devices reach it.
        PlanError: a pool or a stack is too small.
    """
    through = _Pipeline(soc, options or BuildOptions(), network, source, observe, taken)
    try:
        return through.run()
    except (PlacementError, PlanError) as error:
        unseen = replace(through, observe=lambda stage, result: None, spread=False)
        raise with_whole_need(
            error, soc, lambda chip: _used(replace(unseen, soc=chip).run().plan)
        ) from error


def _used(plan: MemoryPlan) -> Mapping[str, int]:
    """Return the bytes that a plan uses of each pool, other models' and the heap included."""
    pools = plan.problem.pools
    return {f"pools.{pool.name}.size": plan.use[pool.name].used + pool.beside for pool in pools}


@dataclass(frozen=True, slots=True)
class _Pipeline:
    """The stages, and what all of them are given; see `compile_graph`."""

    soc: ResolvedSoc
    options: BuildOptions
    network: Graph
    source: Source
    observe: Observer
    taken: Mapping[str, int]
    spread: bool = True

    def run(self) -> Compiled:
        """Place, then plan."""
        soc, options, network = self.soc, self.options, self.network
        self.observe("frontend", network)
        if options.accelerators:
            network = with_subgraphs(network, self.source, soc)
        fused = with_patterns(network, soc, options.requests) if options.accelerators else network
        spread = self.spread and may_spread(options.requests, soc)
        networks = (network,) if fused is network else (fused, network)
        *tries, last = product(networks, (True, False) if spread else (False,))
        for each, shared in tries:
            with suppress(PlacementError, PlanError):
                return self._placed(each, spread=shared)
        return self._placed(last[0], spread=last[1])

    def _placed(self, network: Graph, *, spread: bool) -> Compiled:
        soc, accelerators = self.soc, self.options.accelerators
        placed = plan_devices(
            network, soc, self.options.requests, accelerators=accelerators, spread=spread
        )
        graph = assign_copies(placed.graph, soc) if accelerators else placed.graph
        graph = with_views(graph, soc)
        decisions = described(placed.decisions, graph)
        if spread:
            graph, decisions = spread_operators(graph, soc, decisions)
        self.observe("place", graph)
        return self._planned(graph, decisions)

    def _planned(self, graph: Graph, decisions: tuple[Decision, ...]) -> Compiled:
        """Plan; where that is too large and the user allows it, with overlaps that cost time."""
        first, *further = OVERLAPPING[self.options.requests.model.overlap]
        try:
            return self._planned_once(graph, decisions, first)
        except PlanError as error:
            if not further or error.faults[0].code != "E062":
                raise
            without = error
        try:
            return self._planned_once(graph, decisions, *further)
        except PlanError as error:
            raise min(error, without, key=_wanted) from error

    def _planned_once(
        self, graph: Graph, decisions: tuple[Decision, ...], overlapping: Overlapping
    ) -> Compiled:
        soc, splits = self.soc, overlapping.splits
        lowered = run_passes(
            Program(
                soc=soc,
                graph=graph,
                jobs=prepare_jobs(graph, soc, splits),
                overlapping=overlapping,
                spare=SPARE_STACK,
                module=IRModule(graph.name, (), Entry((), (), (), (), ())),
            ),
            self.observe,
        )
        check_stack(lowered.module, soc)
        module, plan = self._scheduled(lowered.module, cycles_of(graph, soc))
        module = accepted(module, plan, soc)
        self.observe("overlap-runs", module)
        self.observe("memory", json.dumps(plan_json(plan), indent=2))
        encoded = encode_commands(graph, soc, lowered.jobs, lowered.copies, plan, splits)
        module = with_counts(module, lowered.jobs, encoded)
        return Compiled(
            soc=soc,
            options=self.options,
            source=self.source,
            graph=graph,
            decisions=decisions,
            module=module,
            copies=lowered.copies,
            plan=plan,
            jobs=lowered.jobs,
            splits=splits,
            commands=padded(encoded, lowered.jobs),
            contract=agreed(module, plan, graph, soc, encoded),
        )

    def _scheduled(
        self, module: IRModule, cycles: Mapping[str, int]
    ) -> tuple[IRModule, MemoryPlan]:
        """Let as many devices work at the same time as the pools have room for.

        All asynchronous ones are tried first, cores included, then DMA engines alone, then one
        device at a time. Only the last of these is worth an explanation of what does not fit.
        """
        soc, options, host = self.soc, self.options, driver_cycles(self.soc)[:2]
        engines, copiers = (
            frozenset(each.name for each in among if each.spec.asynchronous)
            for among in (soc.engines, soc.dmas)
        )
        cores = frozenset(core.name for core in soc.remote_cpus)
        for devices in (engines | cores, copiers):
            overlapped = OverlapRuns(devices=devices, cycles=cycles, host=host).run(module)
            verify(overlapped)
            if overlapped != module:
                problem = build_problem(overlapped, soc, self.taken)
                answer = solve(problem, name=options.algorithm, effort=options.effort)
                if isinstance(answer, MemoryPlan):
                    return overlapped, answer
        steps = [*(step.operator for step in module.entry.steps), "the caller reads"]
        problem = build_problem(module, soc, self.taken)
        plan = plan_memory(problem, steps, name=options.algorithm, effort=options.effort)
        return module, plan


def _wanted(error: PlanError) -> int:
    """Return the bytes that the remedies of an error ask for."""
    sizes = {key: size for fault in error.faults for key, size in fault.wants}
    return sum(sizes.values()) if sizes else UNLIMITED


def with_plan(compiled: Compiled, plan: MemoryPlan) -> Compiled:
    """Return the same program on another plan; nothing checks that the plan is right."""
    graph, soc, jobs = compiled.graph, compiled.soc, compiled.jobs
    commands = encode_commands(graph, soc, jobs, compiled.copies, plan, compiled.splits)
    module = with_counts(compiled.module, jobs, commands)
    return replace(
        compiled,
        plan=plan,
        module=module,
        commands=padded(commands, jobs),
        contract=contract_of(module, plan, graph, soc),
    )


def explanation(compiled: Compiled) -> Explanation:
    """Return where every buffer of the compiled network is, and why (C5)."""
    soc, graph = compiled.soc, compiled.graph
    stories = buffer_stories(soc, graph, compiled.module, compiled.plan)
    decisions = compiled.decisions
    return Explanation(soc=soc.name, model=graph.name, buffers=stories, decisions=decisions)
