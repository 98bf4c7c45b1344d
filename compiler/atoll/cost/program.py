# SPDX-License-Identifier: Apache-2.0
"""What a placed and planned network takes: each operator, and the whole program."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property

from atoll.cost.bands import NO_PARTS, Parts, Pessimistic, add_parts, pessimistic
from atoll.cost.basis import basis_of_operator
from atoll.cost.contention import Work, turns, work_of
from atoll.cost.data_lines import OperatorLines, line_cycles, lines_by_operator, stores_through
from atoll.cost.kernel_runs import runs_of_placed
from atoll.cost.maintenance import maintenance_cycles
from atoll.cost.network import cost_by_operator
from atoll.cost.operators import parts_of
from atoll.cost.spent import Spent, of_host
from atoll.cost.timeline import Timeline, between_cycles, timeline_of
from atoll.cost.traffic import traffic_of
from atoll.ir.graph import Graph, Operator
from atoll.ir.job import Job
from atoll.ir.maintenance import Maintenance
from atoll.ir.statements import PrimFunc
from atoll.ir.tir import AcceleratorWait, EngineAction, Step
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc


@dataclass(frozen=True, kw_only=True)
class ProgramCost:
    """What a placed and planned network takes, in cycles of the host.

    That is what placement weighs, with what only a plan says: how many commands there are, in which
    memories the tensors are, and which operators an engine goes on with by itself.

    Attributes:
        soc: the chip.
        graph: placed, with each tensor in the pool in which the plan has it.
        lists: the steps of the program in their order, those together whose lists are one for the
            host.
        sizes: bytes of each buffer.
        jobs: of operators on engines, by operator.
        copies: for each constant that repeats another, the one that stands for both.
        pools: of each buffer of the plan.
        addresses: likewise, on the bus.
        functions: kernels and what they call, by name.
        closing: what the host does to data caches when all operators have ended.
        homes: the pool of the constants that an engine reads for each of its operators.
        used: bytes of each pool that the plan uses.
    """

    soc: ResolvedSoc
    graph: Graph
    lists: Sequence[Sequence[Step]]
    sizes: Mapping[str, int]
    jobs: Mapping[str, Job]
    copies: Mapping[str, str]
    pools: Mapping[str, str]
    addresses: Mapping[str, int]
    functions: Mapping[str, PrimFunc]
    closing: Sequence[Maintenance]
    homes: Mapping[str, str]
    used: Mapping[str, int]

    @cached_property
    def spent(self) -> Mapping[str, Spent]:
        """What each operator takes on its device, by name."""
        counts = command_counts(step for together in self.lists for step in together)
        ends = {
            step.operator: (step is together[0], step is together[-1])
            for together in self.lists
            for step in together
            if len(together) > 1
        }
        found = cost_by_operator(self.graph, self.soc, counts, self.homes, ends)
        for name, lines in self.lines.items():
            core = self.soc.device(self._placed[name].device)
            assert isinstance(core, Cpu)
            waits = line_cycles(lines, core, self.soc)
            waits += round(stores_through(self._placed[name], self.graph, core, self.soc))
            waits = of_host(waits, core, self.soc)
            found[name] = replace(found[name], cycles=found[name].cycles + waits)
        cached = self.lists if self.soc.cached_devices else ()
        for step in (each for together in cached for each in together):
            if cycles := self._maintaining(step):
                before = found[step.operator]
                found[step.operator] = replace(before, cycles=before.cycles + cycles)
        return found

    def _maintaining(self, step: Step) -> int:
        """Return what cores take to maintain caches around a step; runs have that in them."""
        op, operations = self._placed[step.operator], (*step.before, *step.after)
        if not operations:
            return 0
        ran = {step.device} if runs_of_placed(op, self.graph, self.soc) else set[str]()
        return self._maintenance(each for each in operations if each.device not in ran)

    def _maintenance(self, operations: Iterable[Maintenance]) -> int:
        operations, cycles = tuple(operations), 0
        for device in self.soc.cached_devices if operations else ():
            assert device.cache
            lines = {
                each.buffer: self._lines_of(each.buffer, device.cache.line) for each in operations
            }
            cycles += maintenance_cycles(operations, device, lines, self.soc)
        return cycles

    def _lines_of(self, buffer: str, line: int) -> int:
        begin = self.addresses[buffer]
        return -(-(begin + self.sizes[buffer]) // line) - begin // line

    @property
    def closing_cycles(self) -> int:
        """What the host takes for data caches when all operators have ended."""
        return self._maintenance(self.closing)

    @cached_property
    def lines(self) -> Mapping[str, OperatorLines]:
        """What operators move between data caches of a known size and memories, by name."""
        return lines_by_operator(self)

    @cached_property
    def _placed(self) -> Mapping[str, Operator]:
        return {op.name: op for op in self.graph.operators}

    def basis_of(self, op: Operator) -> str:
        """Return what the cycles of an operator rest on."""
        lines = self.lines.get(op.name)
        return basis_of_operator(op, self.graph, self.soc, lines=lines.basis if lines else "")

    @cached_property
    def timeline(self) -> Timeline:
        """When each operator begins and ends."""
        return timeline_of(self.lists, self._cycles, self.soc, cache(self._work))

    @cached_property
    def waiting(self) -> int:
        """Cycles of the network in which devices wait for each other's accesses to memories."""
        starts = any(isinstance(each[0].action, AcceleratorWait) for each in self.lists)
        if not starts and not any(op.helpers for op in self.graph.operators):
            return 0
        return self.length - timeline_of(self.lists, self._cycles, self.soc).length

    @property
    def turns(self) -> Parts:
        """The source of these cycles."""
        return turns(self.waiting, self.graph, self.soc) if self.waiting else NO_PARTS

    @property
    def _cycles(self) -> Mapping[str, int]:
        return {name: each.cycles for name, each in self.spent.items()}

    def _work(self, name: str) -> Work:
        """Return what the devices of an operator do for it."""
        step, op, goes_on = self._runs_by_name[name]
        moved = traffic_of(self, step, op, goes_on=goes_on)
        first = any(step is steps[0] for steps in self.lists)
        return work_of(op, self.spent[name], moved, self.soc, first=first)

    @cached_property
    def _runs_by_name(self) -> Mapping[str, tuple[Step, Operator, bool]]:
        return {op.name: (step, op, goes_on) for step, op, goes_on in self.runs()}

    @cached_property
    def sources(self) -> Mapping[str, Parts]:
        """Of which source the cycles of each operator are, by name."""
        found = {}
        for op in self.graph.operators:
            each, device = self.spent[op.name], self.soc.device(op.device)
            own = of_host(each.busy.cycles, device, self.soc) if each.busy else each.cycles
            lines = self.lines.get(op.name)
            known = lines.basis if lines else ""
            found[op.name] = parts_of(op, self.graph, device, self.soc, each.cycles, own, known)
        return found

    @property
    def most(self) -> Pessimistic:
        """The most that the network may take, with all in its band."""
        return pessimistic(self.length, add_parts(self.turns, *self.sources.values()))

    @property
    def length(self) -> int:
        """From the begin of the first operator to the end of the last one."""
        return self.timeline.length

    @property
    def sequential(self) -> int:
        """The same with one device at a time."""
        waits = sum(isinstance(each[0].action, AcceleratorWait) for each in self.lists)
        between = between_cycles(self.soc) * max(0, len(self.lists) - waits - 1)
        return between + sum(self.spent[op.name].cycles for _, op, _ in self.runs())

    def runs(self) -> Iterator[tuple[Step, Operator, bool]]:
        """Yield the steps that begin an operator, and whether its engine goes on by itself."""
        operators = self._placed
        for together in self.lists:
            for step in together:
                if not isinstance(step.action, AcceleratorWait):
                    yield step, operators[step.operator], step is not together[-1]


def command_counts(steps: Iterable[Step]) -> Mapping[str, int]:
    """Return how many commands each operator on an engine has, by operator."""
    return {
        step.operator: step.action.count for step in steps if isinstance(step.action, EngineAction)
    }
