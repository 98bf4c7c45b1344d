# SPDX-License-Identifier: Apache-2.0
"""What the compiler is asked and what it returns; the same on another plan."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from atoll.codegen.commands import command_counts, encode_commands, padded, with_counts
from atoll.contract.contract import Contract, contract_of
from atoll.cost.lists import in_list
from atoll.cost.network import spent_by
from atoll.cost.spent import Spent
from atoll.description.build import BuildRequests
from atoll.diagnostics.errors import Refusal
from atoll.diagnostics.units import format_size
from atoll.frontend.registry import Source
from atoll.ir.graph import Graph, Tensor
from atoll.ir.tir import IRModule
from atoll.lower.accelerator import Job
from atoll.lower.joined_lists import joined
from atoll.lower.timeline import timeline_of
from atoll.memory.algorithms import DEFAULT
from atoll.memory.effort import Effort
from atoll.memory.problem import MemoryPlan
from atoll.place.constraints import ScopeLog
from atoll.place.partition import Decision
from atoll.place.requests import Requests
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.stream.choose import NOTHING, Streaming
from atoll.tile.cut import Tiling


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
class CandidateStory:
    """A candidate, and what came of it.

    Attributes:
        words: what it chooses, for people.
        choices: the same for programs.
        outcome: ``chosen``, ``refused``, ``slower``, ``not clearly faster`` or ``not as asked``.
        cycles: of the network by estimate; None without a plan.
        saves: cycles less than the plan that was chosen; negative if it takes more.
        has_to_save: how many it would have had to save.
        used: bytes of each pool that its plan uses.
        refusal: why there is no plan; what it lacks is found once somebody asks.
    """

    words: str
    choices: Mapping[str, object]
    outcome: str
    cycles: int | None = None
    saves: int = 0
    has_to_save: int = 0
    used: Mapping[str, int] = field(default_factory=dict)
    refusal: Refusal | None = None

    @property
    def lacks(self) -> Mapping[str, int]:
        """Bytes by dotted key of a size, of a pool or a stack, that the refusal asks for."""
        return self.refusal.wants if self.refusal else {}

    @property
    def why(self) -> str:
        """Why it is not the plan, "" if it is."""
        if self.refusal is not None:
            needs = [f"needs '{key}' of {format_size(size)}" for key, size in self.lacks.items()]
            return " and ".join(needs) or self.refusal.faults[0].message
        if self.outcome == "not as asked":
            return "streams are asked for"
        if self.outcome == "slower":
            return f"{-self.saves} cycles more" if self.saves else "no fewer cycles"
        if self.outcome == "not clearly faster":
            return f"saves {self.saves} cycles, not {self.has_to_save}"
        return ""

    def as_json(self) -> dict[str, object]:
        """Return the story for programs."""
        return {
            "candidate": self.words,
            "choices": dict(self.choices),
            "outcome": self.outcome,
            "cycles": self.cycles,
            "used_bytes": dict(self.used),
            "lacks_bytes": dict(self.lacks),
            "why": self.why,
        }


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
        seen: the results of the stages that made it, if anybody wants them.
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
    seen: tuple[tuple[str, object], ...] = field(default=(), repr=False, compare=False)
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
        commands=padded(commands, jobs),
        contract=contract_of(module, plan, graph, soc),
    )


def placed_graph(compiled: Compiled) -> Graph:
    """Return the graph with each tensor in the pool in which the plan has it."""
    graph, places = compiled.graph, compiled.plan.placements

    def placed(tensor: Tensor) -> Tensor:
        place = places.get(graph.storage(tensor.name))
        return replace(tensor, pools=(place.pool,)) if place else tensor

    return replace(graph, tensors=tuple(map(placed, graph.tensors)))


def expected(compiled: Compiled) -> Mapping[str, Spent]:
    """Return what each operator should take on its device, by name.

    That is what placement weighs, with what only a plan says: how many commands there are, in which
    memories the tensors are, and which operators an engine goes on with by itself.
    """
    soc = compiled.soc
    found = dict(
        spent_by(placed_graph(compiled), soc, command_counts(compiled.module), compiled.homes)
    )
    for steps in joined(compiled.module.entry.steps, soc):
        for step in steps if len(steps) > 1 else ():
            engine = soc.device(step.device)
            assert isinstance(engine, Engine)
            found[step.operator] = in_list(
                found[step.operator], engine, soc, first=step is steps[0], last=step is steps[-1]
            )
    return found


def expected_length(compiled: Compiled) -> int:
    """Predict the cycles from the begin of the first operator to the end of the last one."""
    cycles = {name: each.cycles for name, each in expected(compiled).items()}
    return timeline_of(compiled.module.entry.steps, cycles, compiled.soc).length
