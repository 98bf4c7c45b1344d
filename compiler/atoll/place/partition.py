"""Choose the device of every operator, and remember why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atoll.description.faults import in_order
from atoll.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.operand_layouts import input_layouts, output_layout
from atoll.ops.registry import COPY, kind_of
from atoll.place.basis import MEASURED, basis_of, stands_in
from atoll.place.capabilities import NO_MAILBOX, obstacles, pin_obstacles
from atoll.place.copy_costs import copy_cycles, layout_cycles
from atoll.place.costs import Cost, busy_cycles, compute_cycles, helpers_for, spread_cycles
from atoll.place.list_costs import joint_saving
from atoll.place.replicas import readers_of
from atoll.place.requests import Requests
from atoll.place.wishes import Wish, unify, wishes_for
from atoll.resolve.engine_parts import emitter_of, links
from atoll.resolve.se_scope import ScopeTable
from atoll.resolve.soc import Cpu, Device, Engine, Npu, ResolvedSoc

NO_REQUESTS = Requests()

FASTER = 10
"""How many times as fast as its estimate a core that nobody measured may well be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why an operator runs where it runs.

    Attributes:
        operator: its name.
        device: where it runs.
        reason: why there, for people.
        rejected: each other device that was weighed and why it was not taken, in canonical order.
        asked: somebody named the device.
        basis: what the figures in `reason` and `rejected` rest on.
        turns_to: the device that would be chosen if each core whose cycles rest on another one
            were `FASTER` times as fast; "" if it is the same.
        pinned: devices that nothing but pins kept it off.
    """

    operator: str
    device: str
    reason: str
    rejected: tuple[tuple[str, str], ...] = ()
    asked: bool = False
    basis: str = MEASURED
    turns_to: str = ""
    pinned: tuple[str, ...] = ()

    def __str__(self) -> str:
        others = "".join(f"; not {device}: {why}" for device, why in self.rejected)
        return f"{self.operator} on {self.device}: {self.reason}{others}"


def assigned(graph: Graph, decisions: tuple[Decision, ...]) -> Graph:
    """Return `graph` with the devices of `decisions`, one for each operator in order."""
    pairs = zip(graph.operators, decisions, strict=True)
    return graph.with_operators(replace(op, device=decision.device) for op, decision in pairs)


def decide(
    graph: Graph,
    soc: ResolvedSoc,
    requests: Requests = NO_REQUESTS,
    *,
    accelerators: bool = True,
    spread: bool = False,
) -> tuple[Decision, ...]:
    """Choose a device for every operator: the one asked for, else the cheapest that can run it.

    Weighed are the accelerators and the default device; another core runs an operator only if
    somebody asks for it, or if the default device cannot keep a pin. With `spread`, cores of one
    kind are weighed together.

    Raises:
        PlacementError: E048, E049; a device that is asked for cannot run the operator, or two
            are asked for.
    """
    chooser = _Chooser(graph, soc, requests, accelerators=accelerators, spread=spread)
    decisions = tuple(map(chooser.decide, graph.operators))
    if chooser.faults:
        raise PlacementError.all(in_order(chooser.faults))
    return decisions


class _Chooser:
    """Decides operators in order; remembers where those before it run."""

    def __init__(
        self,
        graph: Graph,
        soc: ResolvedSoc,
        requests: Requests,
        *,
        accelerators: bool,
        spread: bool,
    ) -> None:
        self.faults: list[Fault] = []
        self._graph = graph
        self._soc = soc
        self._requests = requests
        self._accelerators = accelerators
        self._spread = spread
        scopes = ScopeTable(soc)
        self._wishes = {
            op.name: unify(op, wishes_for(op, scopes, requests)) for op in graph.operators
        }
        self._readers = readers_of(graph)
        self._writer = dict.fromkeys(graph.filled, soc.host)
        self._before = ""

    def decide(self, op: Operator) -> Decision:
        """Choose the device of `op`."""
        wish = self._wishes[op.name]
        if isinstance(wish, Fault):
            self.faults.append(wish)
        decision = self._asked(op, wish) if isinstance(wish, Wish) else self._free(op)
        self._writer |= dict.fromkeys(op.outputs, decision.device)
        self._before = decision.device
        return decision

    def _asked(self, op: Operator, wish: Wish) -> Decision:
        device = self._soc.device(wish.device)
        if why := next(self._refusals(op, device), None):
            results = ", ".join(f"'{name}'" for name in op.outputs)
            self.faults.append(
                Fault(
                    code="E048",
                    message=f"'{wish.device}' ({wish.source}) cannot run operator '{op.name}', "
                    f"which makes tensor {results}: {wish.device} {why}",
                    at=wish.at,
                    remedy=self._another(op)
                    + (", or give it 'mailbox' and 'irq'" if why == NO_MAILBOX else ""),
                )
            )
        return Decision(operator=op.name, device=wish.device, reason=wish.source, asked=True)

    def _another(self, op: Operator) -> str:
        """Say what to ask for where a device cannot run `op`."""
        if not kind_of(op).on_cores:
            return "ask for no device: an accelerator that can run it is chosen"
        return f"ask for another device, such as '{self._soc.host}'"

    def _free(self, op: Operator) -> Decision:
        if op.kind == COPY:
            return Decision(operator=op.name, device=self._soc.host, reason="the host copies")
        rejected: dict[str, str] = {}
        able: list[Device] = []
        for npu in self._soc.npus if self._accelerators else ():
            if why := self._obstacle(op, npu):
                rejected[npu.name] = why
            else:
                able.append(npu)
        pinned = [name for name in rejected if self._only_pinned(op, self._soc.device(name))]
        if not kind_of(op).on_cores:
            return self._off_cores(op, able, rejected)
        able.append(self._core(op, rejected))
        if len(able) == 1:
            reason = self._default_reason(rejected, pinned)
            return replace(self._decision(op, able[0], reason, rejected), pinned=tuple(pinned))
        costs = {device.name: self._cost(op, device) for device in able}
        alone, best = self._best(able, {name: cost.total for name, cost in costs.items()})
        dearer = {name: f"{cost}, not fewer" for name, cost in costs.items() if name != best.name}
        reason = str(costs[best.name])
        if best is not alone:
            reason = f"{reason}, {self._saved(best)} fewer where it goes on by itself"
        _, turned = self._best(able, {each.name: self._faster(op, each, costs) for each in able})
        turns = "" if turned is best else turned.name
        if turns:
            reason += f"; '{turns}' if unmeasured cores are {FASTER} times faster than that"
        decision = self._decision(op, best, reason, rejected | dearer)
        basis = basis_of(self._soc, costs)
        return replace(decision, basis=basis, turns_to=turns, pinned=tuple(pinned))

    def _best(self, able: Sequence[Device], totals: Mapping[str, int]) -> tuple[Device, Device]:
        """Return the cheapest device by itself, and the one that is after what lists save."""
        alone = best = min(able, key=lambda device: totals[device.name])
        if isinstance(alone, Cpu):
            best = min(able, key=lambda device: totals[device.name] - self._saved(device))
        return alone, best

    def _faster(self, op: Operator, device: Device, costs: Mapping[str, Cost]) -> int:
        """Return the total if each core that was not measured were `FASTER` times as fast."""
        cost, own = costs[device.name], 0
        if isinstance(device, Engine):
            own = busy_cycles(op, self._graph, device, self._soc)
        core = device if isinstance(device, Cpu) else self._soc.host_cpu
        by_core = max(0, cost.cycles - own)
        return cost.total - (by_core - by_core // FASTER if stands_in(core) else 0)

    def _saved(self, device: Device) -> int:
        """Return what the host saves if `device` goes on from the operator before by itself."""
        if device.name != self._before or not isinstance(device, Engine):
            return 0
        return joint_saving(device, self._soc) if links(emitter_of(device)) else 0

    def _off_cores(
        self, op: Operator, able: Sequence[Device], rejected: Mapping[str, str]
    ) -> Decision:
        """Choose an accelerator for what no core runs."""
        if able:
            costs = {device.name: self._cost(op, device) for device in able}
            best = min(able, key=lambda device: costs[device.name].total)
            reason = f"{kind_of(op).why_off_cores(op)}, {costs[best.name]}"
            decision = self._decision(op, best, reason, rejected)
            return replace(decision, basis=costs[best.name].basis)
        why = "; ".join(f"{name} {reason}" for name, reason in rejected.items())
        pinned = [name for name in (*op.inputs, *op.outputs) if name in self._requests.pins]
        self.faults.append(
            Fault(
                code="E048",
                message=f"no device can run operator '{op.name}', which no core runs: {why}",
                remedy=f"let '{pinned[0]}' be copied: --free {pinned[0]}"
                if pinned
                else "leave accelerators out with --no-accelerators",
            )
        )
        return Decision(operator=op.name, device=self._soc.host, reason=why)

    def _default_reason(self, rejected: Mapping[str, str], pinned: Sequence[str]) -> str:
        if not self._accelerators:
            return "accelerators are switched off"
        if pinned:
            return f"pins keep it off {', '.join(pinned)}, which could run it"
        return "no accelerator can run it" if rejected else "the chip has no accelerator"

    def _core(self, op: Operator, rejected: dict[str, str]) -> Device:
        """Return the core for `op`: the default device, else the host, else one that keeps pins."""
        first = (self._soc.default_device, self._soc.host)
        cores = sorted(self._soc.cpus, key=lambda core: (*(core.name != name for name in first),))
        for core in cores:
            if (why := self._obstacle(op, core)) is None:
                return core
            rejected[core.name] = why
        rejected.pop(cores[0].name)
        return cores[0]

    def _obstacle(self, op: Operator, device: Device) -> str | None:
        found = obstacles(op, self._graph, device, self._soc)
        pins = pin_obstacles(op, self._graph, device, self._soc, self._requests)
        return next(found, None) or next(pins, None)

    def _only_pinned(self, op: Operator, device: Device) -> bool:
        """Tell whether nothing but a pin keeps `op` off a device."""
        return next(obstacles(op, self._graph, device, self._soc), None) is None

    def _refusals(self, op: Operator, device: Device) -> Iterator[str]:
        if isinstance(device, Npu) and not self._accelerators:
            yield "is an accelerator, and accelerators are switched off"
        if op.kind != COPY:
            yield from obstacles(op, self._graph, device, self._soc)

    def _cost(self, op: Operator, device: Device) -> Cost:
        """Estimate `op` on `device`, copies from and to neighbours with a known device included."""
        copying = 0
        laid: Mapping[int, Layout] = {}
        if isinstance(device, Npu):
            laid = input_layouts(op, self._graph, device)
        for at, name in enumerate(op.inputs):
            writer, tensor = self._writer.get(name), self._graph.by_name.get(name)
            if tensor and writer and not (at in laid and writer == device.name):
                copying += self._moving(tensor, writer, device.name, laid.get(at))
        for name in op.outputs:
            tensor = self._graph.tensor(name)
            if isinstance(device, Npu) and (layout := output_layout(op, self._graph, device)):
                copying += layout_cycles(tensor, layout, self._soc)
                continue
            for reader in self._known_readers(name):
                copying += copy_cycles(tensor, device.name, reader, self._soc)
        cycles = compute_cycles(op, self._graph, device, self._soc)
        if self._spread and isinstance(device, Cpu):
            helpers = helpers_for(op, self._graph, device, self._soc)
            parts = len(helpers) + 1
            cycles = spread_cycles(op, self._graph, device, self._soc, parts) or cycles
        return Cost(cycles=cycles, copying=copying, basis=basis_of(self._soc, (device.name,)))

    def _moving(self, tensor: Tensor, writer: str, reader: str, layout: Layout | None) -> int:
        """Return the cycles to bring a tensor to where, and how, a device reads it."""
        if layout:
            return layout_cycles(tensor, layout, self._soc)
        return copy_cycles(tensor, writer, reader, self._soc)

    def _known_readers(self, name: str) -> frozenset[str]:
        wishes = (self._wishes[reader.name] for reader in self._readers[name])
        return frozenset(wish.device for wish in wishes if isinstance(wish, Wish))

    def _decision(
        self, op: Operator, device: Device, reason: str, rejected: Mapping[str, str]
    ) -> Decision:
        names = (each.name for each in self._soc.devices if each.name != device.name)
        ordered = tuple((name, rejected[name]) for name in names if name in rejected)
        return Decision(operator=op.name, device=device.name, reason=reason, rejected=ordered)
