# SPDX-License-Identifier: Apache-2.0
"""What the compiler returns, what it should take, and the same on another plan."""

from collections.abc import Mapping
from dataclasses import field, replace

from atoll.codegen.commands import encode_commands, pad_lists, with_counts
from atoll.contract.contract import Contract, contract_of
from atoll.cost.bands import Pessimistic
from atoll.cost.program import ProgramCost
from atoll.cost.spent import Spent
from atoll.driver.candidate import CandidateStory
from atoll.driver.task import BuildOptions
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph, Tensor
from atoll.ir.job import Job
from atoll.ir.tir import IRModule
from atoll.lower.joined_lists import join_lists
from atoll.memory.problem import MemoryPlan
from atoll.place.constraints import ScopeLog
from atoll.place.decision import Decision
from atoll.place.requests import Requests
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.timeless import timeless
from atoll.stream.choose import NOTHING, Streaming
from atoll.tile.cut import Tiling
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

GRAPHS_AT_HAND = 32
"""Graphs on plans that a process keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A network planned for a chip: everything but machine code.

    Attributes:
        source: the model file.
        network: rewritten, before it was cut into stripes and placed.
        graph: the placed graph; its operator order is the order of execution.
        decisions: why each operator of the network runs where it runs.
        copies: for each constant that repeats another, the one that stands for both.
        jobs: what accelerators were asked to run, by operator.
        splits: commands that an accelerator may spend on one operator for the sake of memory.
        commands: bytes of each command list, by buffer.
        tiling: which operators of the network were cut into stripes.
        streaming: whose constants are copied ahead.
        left_out: operators of the model file that are not run, and the pass that left each out.
        offloading: what another compiler did not do as it was asked, "" if there is nothing.
        log: what was asked of its tensors.
        requests: what was asked of its buffers.
        candidates: what was tried, this included, in order.
    """

    soc: ResolvedSoc
    options: BuildOptions
    source: Source
    network: Graph
    graph: Graph
    decisions: tuple[Decision, ...]
    module: IRModule
    copies: Mapping[str, str]
    jobs: Mapping[str, Job]
    plan: MemoryPlan
    splits: int
    commands: Mapping[str, bytes]
    contract: Contract
    tiling: Tiling = field(default_factory=Tiling)
    streaming: Streaming = NOTHING
    left_out: Mapping[str, str] = field(default_factory=dict)
    offloading: str = ""
    log: ScopeLog = field(default_factory=ScopeLog, repr=False, compare=False)
    requests: Requests = field(default_factory=Requests)
    candidates: tuple[CandidateStory, ...] = field(default=(), repr=False, compare=False)

    @property
    def homes(self) -> Mapping[str, str]:
        """The pool of the constants that an accelerator reads for each of its operators."""
        homes: dict[str, str] = {}
        for name, job in self.jobs.items():
            for constant in job.constants[:1]:
                stored = self.copies.get(constant.name, constant.name)
                homes[name] = self.plan.placements[stored].pool
        return homes


def with_plan(compiled: Compiled, plan: MemoryPlan) -> Compiled:
    """Return the same program on another plan; nothing checks that the plan is right."""
    graph, soc, jobs = compiled.graph, compiled.soc, compiled.jobs
    commands = encode_commands(graph, soc, jobs, compiled.copies, plan, compiled.splits)
    module = with_counts(compiled.module, jobs, commands)
    return replace(
        compiled,
        plan=plan,
        module=module,
        commands=pad_lists(commands, jobs),
        contract=contract_of(module, plan, graph, soc),
    )


def _placed_key(compiled: Compiled) -> Alike | None:
    graph = compiled.graph
    if len(graph.operators) > MOST_OPERATORS:
        return None
    sign = graph.name, len(graph.operators), len(compiled.plan.placements)
    return Alike(sign, graph, compiled.plan.placements)


@remember(_placed_key, most=GRAPHS_AT_HAND)
def placed_graph(compiled: Compiled) -> Graph:
    """Return the graph with each tensor in the pool in which the plan has it."""
    graph, places = compiled.graph, compiled.plan.placements

    def put_in_pool(tensor: Tensor) -> Tensor:
        place = places.get(graph.storage(tensor.name))
        return replace(tensor, pools=(place.pool,)) if place else tensor

    return replace(graph, tensors=tuple(map(put_in_pool, graph.tensors)))


def _program(compiled: Compiled) -> Alike | None:
    if len(compiled.graph.operators) > MOST_OPERATORS:
        return None
    sign = compiled.soc.sign, compiled.graph.name
    parts = compiled.soc, compiled.graph, compiled.module, compiled.plan, compiled.copies
    return Alike(sign, *parts, compiled.jobs)


@remember(_program, most=8)
def cost_of(compiled: Compiled) -> ProgramCost:
    """Return what knows what a program takes."""
    return replace(_cost_at_any_speed(compiled), soc=compiled.soc)


def _shape(compiled: Compiled) -> Alike | None:
    if len(compiled.graph.operators) > MOST_OPERATORS:
        return None
    parts = compiled.graph, compiled.module, compiled.plan, compiled.copies, compiled.jobs
    sign = compiled.soc.shape_sign, compiled.graph.name
    return Alike(sign, timeless(compiled.soc), *parts)


@remember(_shape, most=GRAPHS_AT_HAND)
def _cost_at_any_speed(compiled: Compiled) -> ProgramCost:
    """Return the same for some chip that differs in speed alone."""
    entry, soc, plan = compiled.module.entry, compiled.soc, compiled.plan
    return ProgramCost(
        soc=soc,
        graph=placed_graph(compiled),
        lists=tuple(join_lists(entry.steps, soc)),
        sizes=entry.sizes,
        jobs=compiled.jobs,
        copies=compiled.copies,
        pools={name: place.pool for name, place in plan.placements.items()},
        addresses={name: plan.address(name) for name in plan.placements},
        functions=compiled.module.by_name,
        closing=entry.after,
        homes=compiled.homes,
        used={name: each.used for name, each in plan.use.items()},
    )


def expected_cycles(compiled: Compiled) -> Mapping[str, Spent]:
    """Return what each operator should take on its device, by name."""
    return cost_of(compiled).spent


def most_cycles(compiled: Compiled) -> Pessimistic:
    """Return the most that the network may take, with all estimates in their bands."""
    return cost_of(compiled).most


def expected_length(compiled: Compiled) -> int:
    """Predict the cycles from the begin of the first operator to the end of the last one."""
    return cost_of(compiled).length
