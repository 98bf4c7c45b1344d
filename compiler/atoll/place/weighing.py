# SPDX-License-Identifier: Apache-2.0
"""What operators cost where all their neighbours are known, and how sure that is.

Cycles of cores that nobody measured rest on another core. Such a core may be `FASTER` times as
fast, each kind by itself: a scenario names the kinds that are.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from itertools import combinations

from atoll.cost.bands import Parts, Pessimistic, add_parts, pessimistic
from atoll.cost.basis import basis_of, driver_source, stands_in
from atoll.cost.copies import copy_cycles, layout_cycles
from atoll.cost.core_costs import CoreCost, asking_cycles
from atoll.cost.data.assumed import FASTER
from atoll.cost.operators import Cost, Recorder, parts_of, split_cycles
from atoll.ir.graph import Graph, Operator
from atoll.ops.operand_layouts import input_layouts, output_layout
from atoll.place.routes import Routes
from atoll.reach.candidates import homes_of, without_sizes
from atoll.records import dataclass
from atoll.resolve.soc import Access, Cpu, Device, Npu, ResolvedSoc

Kind = tuple[str, str, bool]
Scenario = frozenset[Kind]
AS_ESTIMATED: Scenario = frozenset()


def kind_of_core(core: Cpu) -> Kind:
    """Return what cores have in common that are wrong by the same factor."""
    return core.spec.name, str(core.instructions), bool(core.cache)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Cycles of an operator: those that are known, and those of each kind of core; by source."""

    known: int
    by_kind: Mapping[Kind, int]
    sources: Parts


@dataclass(frozen=True, slots=True)
class Weighing:
    """Weighs groups of operators, given a device for each operator of the network.

    Attributes:
        graph: before placement.
        soc: the chip.
        spread: cores of one kind are weighed together.
    """

    graph: Graph
    soc: ResolvedSoc
    spread: bool
    _roomy: ResolvedSoc = field(init=False)
    _routes: Routes = field(init=False)
    _readers: dict[str, list[Operator]] = field(init=False)
    _makers: dict[str, str] = field(init=False)
    _parts: dict[tuple[str, str], _Parts] = field(init=False, default_factory=dict)
    _ways: dict[tuple[str, str, str], Parts | None] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        readers: dict[str, list[Operator]] = {}
        makers: dict[str, str] = {}
        for op in self.graph.operators:
            makers |= {self.graph.storage(name): op.name for name in op.outputs}
            for name in dict.fromkeys(map(self.graph.storage, op.reads)):
                readers.setdefault(name, []).append(op)
        roomy = without_sizes(self.soc)
        object.__setattr__(self, "_roomy", roomy)
        object.__setattr__(self, "_routes", Routes(roomy))
        object.__setattr__(self, "_readers", readers)
        object.__setattr__(self, "_makers", makers)

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        """Every choice of kinds of cores that are faster than their estimates, none first."""
        kinds = sorted({kind_of_core(core) for core in self.soc.cpus if stands_in(core)})
        counts = range(len(kinds) + 1)
        return tuple(frozenset(each) for count in counts for each in combinations(kinds, count))

    def unreachable_text(self, op: Operator, where: Mapping[str, str]) -> str | None:
        """Say which tensor of `op` no copy brings to or from its device, None if all get there."""
        device = where[op.name]
        for name in self._tensors((op,)):
            writer = self._writer(name, where)
            for reader in self._readers_of(name, where):
                if device in (writer, reader) and self._way(name, writer, reader) is None:
                    return f"no copy brings '{name}' from '{writer}' to '{reader}'"
        return None

    def feasible(self, ops: Iterable[Operator], where: Mapping[str, str]) -> bool:
        """Tell whether every tensor of `ops` gets from its writer to each reader."""
        return all(self.unreachable_text(op, where) is None for op in ops)

    def total(
        self, ops: Iterable[Operator], where: Mapping[str, str], scenario: Scenario = AS_ESTIMATED
    ) -> int:
        """Predict what `ops` take, all copies of their tensors included."""
        ops = tuple(ops)
        computing = sum(self._compute_cycles(op, where[op.name], scenario) for op in ops)
        return computing + self._copy_cycles(ops, where)

    def cost_alone(self, op: Operator, device: str) -> int:
        """Return the cycles of `op` on a device, without copies."""
        return self._compute_cycles(op, device, AS_ESTIMATED)

    def cost(self, op: Operator, where: Mapping[str, str]) -> Cost:
        """Estimate `op` where it is."""
        device = where[op.name]
        cycles = self._compute_cycles(op, device, AS_ESTIMATED)
        copying, basis = self._copy_cycles((op,), where), basis_of(self.soc, (device,))
        return Cost(cycles=cycles, copying=copying, basis=basis, parts=self.parts((op,), where))

    def parts(self, ops: Iterable[Operator], where: Mapping[str, str]) -> Parts:
        """Return of which source the cycles of `total` are."""
        ops = tuple(ops)
        computing = (self._parts_on(op, where[op.name]).sources for op in ops)
        return add_parts(*computing, *self._copies(ops, where))

    def pessimistic(self, ops: Iterable[Operator], where: Mapping[str, str]) -> Pessimistic:
        """Return the most that `total` may be."""
        ops = tuple(ops)
        return pessimistic(self.total(ops, where), self.parts(ops, where))

    def against(self, op: Operator, device: str, where: Mapping[str, str]) -> str:
        """Say what `op` would take on another device, or why its tensors keep it off."""
        there = {**where, op.name: device}
        if why := self.unreachable_text(op, there):
            return why
        cost = self.cost(op, there)
        more = self.total((op,), there) - self.total((op,), where)
        turns = next((each for each in self.scenarios if self._fewer(op, there, where, each)), None)
        if more >= 0:
            return f"{cost}, {more:,} more" + (
                f"; fewer if {_scenario_text(turns)}" if turns else ""
            )
        unless = (each for each in self.scenarios if not self._fewer(op, there, where, each))
        if scenario := next(unless, None):
            return f"{cost}, {-more:,} fewer, but not if {_scenario_text(scenario)}"
        return f"{cost}, {-more} fewer, but no faster plan of the whole network was found"

    def _fewer(
        self, op: Operator, there: Mapping[str, str], where: Mapping[str, str], scenario: Scenario
    ) -> bool:
        return self.total((op,), there, scenario) < self.total((op,), where, scenario)

    def _tensors(self, ops: Iterable[Operator]) -> Iterator[str]:
        names = (name for op in ops for name in (*op.reads, *op.outputs))
        for name in dict.fromkeys(map(self.graph.storage, names)):
            if self.graph.tensor(name).data is None:
                yield name

    def _writer(self, name: str, where: Mapping[str, str]) -> str:
        return where[self._makers[name]] if name in self._makers else self.soc.host

    def _readers_of(self, name: str, where: Mapping[str, str]) -> frozenset[str]:
        read = any(self.graph.storage(each) == name for each in self.graph.outputs)
        readers = (where[op.name] for op in self._readers.get(name, ()))
        return frozenset(readers) | ({self.soc.host} if read else frozenset())

    def _copy_cycles(self, ops: Iterable[Operator], where: Mapping[str, str]) -> int:
        return sum(sum(each.values()) for each in self._copies(ops, where))

    def _copies(self, ops: Iterable[Operator], where: Mapping[str, str]) -> Iterator[Parts]:
        """Yield the cycles by source of each copy and each change of layout."""
        for name in self._tensors(ops):
            writer, tensor = self._writer(name, where), self.graph.tensor(name)
            laid = {
                device.name: layout
                for op in self._readers.get(name, ())
                if isinstance(device := self.soc.device(where[op.name]), Npu)
                for at, layout in input_layouts(op, self.graph, device).items()
                if op.inputs[at] == name
            }
            for reader in self._readers_of(name, where):
                if reader not in laid:
                    yield self._way(name, writer, reader) or {}
                elif reader != writer:
                    recorder = Recorder()
                    layout_cycles(tensor, laid[reader], self.soc, recorder)
                    yield recorder.sources

    def _way(self, name: str, writer: str, reader: str) -> Parts | None:
        """Return the cycles to copy a tensor from device to device, None if nothing can.

        What the pools' speeds add counts as the mover's.
        """
        key = name, writer, reader
        if key not in self._ways:
            tensor = self.graph.tensor(name)
            homes = homes_of(self._roomy, {writer: Access.WRITE}, tensor)
            if any(self._routes.readable(reader, home, tensor.size) for home in homes):
                recorder = Recorder()
                cycles = copy_cycles(tensor, writer, reader, self.soc, recorder)
                self._ways[key] = _scale_parts(recorder.sources, cycles)
            else:
                self._ways[key] = None
        return self._ways[key]

    def _compute_cycles(self, op: Operator, device: str, scenario: Scenario) -> int:
        parts = self._parts_on(op, device)
        faster = {True: FASTER, False: 1}
        each = (cycles // faster[kind in scenario] for kind, cycles in parts.by_kind.items())
        return parts.known + sum(each)

    def _parts_on(self, op: Operator, device: str) -> _Parts:
        if (op.name, device) not in self._parts:
            self._parts[op.name, device] = self._split(op, self.soc.device(device))
        return self._parts[op.name, device]

    def _split(self, op: Operator, device: Device) -> _Parts:
        host = self.soc.host_cpu
        known, by_core = split_cycles(op, self.graph, device, self.soc)
        if isinstance(device, Cpu):
            if self.spread:
                cost = CoreCost(device, self.soc)
                parts = len(cost.helpers(op, self.graph)) + 1
                by_core = cost.spread(op, self.graph, parts) or by_core
            by_kind = {kind_of_core(device): by_core}
            sources = parts_of(op, self.graph, device, self.soc, by_core, by_core)
            if device != host:
                kind, asking = kind_of_core(host), asking_cycles(self.soc)
                by_kind[kind] = by_kind.get(kind, 0) + asking
                sources = add_parts(sources, {driver_source(self.soc): asking})
            return _Parts(0, by_kind, sources)
        sources = parts_of(op, self.graph, device, self.soc, known + by_core, known)
        if isinstance(device, Npu) and (layout := output_layout(op, self.graph, device)):
            recorder = Recorder()
            results = map(self.graph.tensor, op.outputs)
            known += sum(layout_cycles(each, layout, self.soc, recorder) for each in results)
            sources = add_parts(sources, recorder.sources)
        return _Parts(known, {kind_of_core(host): by_core}, sources)


def _scale_parts(parts: Parts, cycles: int) -> Parts:
    """Return parts whose sum is some cycles, the further ones with the first source."""
    first = next(iter(parts), None)
    return add_parts(parts, {first: cycles - sum(parts.values())}) if first else {}


def _scenario_text(scenario: Scenario) -> str:
    kinds = " and ".join(sorted({name for name, *_ in scenario}))
    return f"{kinds}, which nobody measured, is {FASTER} times faster than that"
