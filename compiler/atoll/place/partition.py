# SPDX-License-Identifier: Apache-2.0
"""Choose the device of every operator, and remember why."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache, partial
from types import MappingProxyType

from atoll.cost.bands import Parts, Pessimistic, add_parts, could_be_less
from atoll.cost.basis import basis_of, driver_source, joint_basis, stands_in
from atoll.cost.copies import Computing, copy_cycles, layout_cycles
from atoll.cost.core_costs import CoreCost
from atoll.cost.data.assumed import FASTER
from atoll.cost.lists import joint_saving
from atoll.cost.operators import Cost, Recorder, compute_cycles, cost_parts, split_cycles
from atoll.description.faults import in_order
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.operand_layouts import input_layouts, output_layout
from atoll.ops.registry import COPY, kind_of
from atoll.place.capabilities import NO_MAILBOX, obstacles, pin_obstacles, takes_constants
from atoll.place.constraints import Joined, constraints_of, unify
from atoll.place.decision import Decision, Why
from atoll.place.faster_cores import FasterCores
from atoll.place.regions import whole_name
from atoll.place.replicas import readers_of
from atoll.place.requests import Requests
from atoll.place.shared_pins import NO_PINS, SharedPins, shared_pins
from atoll.place.supply import Supply
from atoll.place.weighing import Weighing
from atoll.reach.candidates import allows, homes_of, without_sizes
from atoll.records import dataclass
from atoll.resolve.engine_parts import code_of
from atoll.resolve.se_scope import ScopeTable
from atoll.resolve.soc import Access, Cpu, Device, Npu, ResolvedSoc
from atoll.resolve.timeless import sizeless
from atoll.utils.remember import MOST_OPERATORS, Alike, remember

NETWORKS_AT_HAND, CHOICES_AT_HAND = 64, 64
"""Networks on chips of which a process keeps what is known, and choices of devices of each."""

NO_REQUESTS = Requests()
NO_DEVICES: Mapping[str, str] = MappingProxyType({})
NO_LAYOUTS: Mapping[int, Layout] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Spot:
    """An operator, and what is known of its neighbours by the time it is decided.

    Attributes:
        writers: the devices that write its inputs, as far as they are known.
        before: the device of the operator before it.
    """

    op: Operator
    writers: Mapping[str, str]
    before: str


def assign(graph: Graph, decisions: tuple[Decision, ...]) -> Graph:
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
    unlike: bool = False,
    devices: Mapping[str, str] = NO_DEVICES,
    explains: bool = False,
    shared: bool = False,
) -> tuple[Decision, ...]:
    """Choose a device for every operator: the one asked for, else the cheapest that can run it.

    Weighed are the accelerators and the default device; another core runs an operator only if
    somebody asks for it, or if the default device cannot keep a pin. With `spread`, cores of one
    kind are weighed together. With `unlike`, operators go on from there to any core that is surely
    faster, even if others that nobody measured are `FASTER` times as fast as they count. `devices`
    are those that a candidate chooses, by operator, where nobody asks for another one. With
    `explains`, decisions say of every other device why not there. With `shared`, all that touch a
    tensor reach one pool of a list that it is pinned to, the first one that some devices share.

    Raises:
        PlacementError: E048, E049; a device that is asked for cannot run the operator, or two
            are asked for.
    """
    chooser = _Chooser(
        graph,
        soc,
        requests,
        accelerators=accelerators,
        spread=spread,
        devices=devices,
        shared=shared,
    )
    decisions = tuple(map(chooser.decide, graph.operators))
    if chooser.faults:
        raise PlacementError.all(in_order(chooser.faults))
    if all(map(chooser.feeds, decisions)) and chooser.supplies(decisions):
        decisions = chooser.move_to_faster_cores(decisions) if unlike else decisions
        return chooser.explain_rejections(decisions) if explains else decisions
    fed = chooser.choose_reachable(decisions)
    return chooser.explain_rejections(fed) if fed and explains else fed or chooser.near_host()


def runners_of(
    graph: Graph, soc: ResolvedSoc, requests: Requests, *, accelerators: bool
) -> Mapping[str, tuple[str, ...]]:
    """Return the devices that nothing but reach and room may keep from each operator.

    What is asked has been joined before.
    """
    chooser = _Chooser(graph, soc, requests, accelerators=accelerators, spread=False)
    return {op.name: chooser.runners(op) for op in graph.operators}


_Weighable = tuple[tuple[str, ...], Mapping[str, str], tuple[str, ...]]


@dataclass(frozen=True)
class _Knowledge:
    """What is known of a network on a chip, whatever its speeds and the sizes of its pools.

    Attributes:
        asked: of each operator.
        makers: the operator that makes each tensor.
        readers: those that read it.
        weighable: the devices among which each operator has a choice with or without accelerators,
            why not others, and which of these nothing but pins keeps it off; added to as it is
            found, as all that follows.
        layouts: those that devices want of operands, and give results.
        obstacles: what keeps operators off devices, None if nothing does.
        fed: whether the constants of operators can be where devices read them.
        supplied: whether tensors get to the devices of all operators.
    """

    asked: Mapping[str, Joined | Fault]
    operators: Mapping[str, Operator]
    makers: Mapping[str, str]
    readers: Mapping[str, Sequence[Operator]]
    weighable: dict[tuple[str, bool], _Weighable] = field(default_factory=dict)
    layouts: dict[tuple[str, str], tuple[Mapping[int, Layout], Layout | None]] = field(
        default_factory=dict
    )
    obstacles: dict[tuple[str, str], str | None] = field(default_factory=dict)
    fed: dict[tuple[str, str], bool] = field(default_factory=dict)
    supplied: dict[tuple[object, ...], bool] = field(default_factory=dict)


def _knowledge_key(graph: Graph, soc: ResolvedSoc, requests: Requests) -> Alike | None:
    """Return what that depends on, None where pins are held against the sizes of pools."""
    if requests.pins or len(graph.operators) > MOST_OPERATORS:
        return None
    sign = soc.name, graph.name, len(graph.operators)
    return Alike(sign, sizeless(soc), graph, requests, code_of(*soc.engines))


@remember(_knowledge_key, most=NETWORKS_AT_HAND)
def _knowledge(graph: Graph, soc: ResolvedSoc, requests: Requests) -> _Knowledge:
    scopes = ScopeTable(soc)
    return _Knowledge(
        asked={
            op.name: unify(op, constraints_of(op, scopes, requests), scopes)
            for op in graph.operators
        },
        operators={op.name: op for op in graph.operators},
        makers={name: op.name for op in graph.operators for name in op.outputs},
        readers=readers_of(graph),
    )


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
        devices: Mapping[str, str] = NO_DEVICES,
        shared: bool = False,
    ) -> None:
        self.faults: list[Fault] = []
        self._graph = graph
        self._soc = soc
        self._requests = requests
        self._accelerators = accelerators
        self._spread = spread
        self._devices = devices
        self._known = known = _knowledge(graph, soc, requests)
        self._asked = known.asked
        self._shared = shared_pins(graph, soc, requests) if shared else NO_PINS
        self._roomy = without_sizes(soc)
        self._operators = known.operators
        self._makers = known.makers
        self._readers = known.readers
        self._writer: dict[str, str] = dict.fromkeys(graph.filled, soc.host)
        self._before = ""

    def supplies(self, decisions: Sequence[Decision]) -> bool:
        """Tell whether tensors get to the devices of decisions, however large they are."""
        known, key = self._known.supplied, (bool(self._shared), *(e.device for e in decisions))
        if key not in known:
            if len(known) >= CHOICES_AT_HAND:
                known.clear()
            devices = {each.operator: (each.device,) for each in decisions}
            known[key] = self._supply(devices).possible
        return known[key]

    def feeds(self, decision: Decision) -> bool:
        """Say whether the constants of an operator can be where its device reads them."""
        return self._reads_constants(self._operators[decision.operator], decision.device)

    def choose_reachable(self, usual: Sequence[Decision]) -> tuple[Decision, ...] | None:
        """Choose devices to which every tensor gets, None if there are none.

        Of the devices of an operator that leave such a choice for those after it, the cheapest is
        taken; cores that nobody asks for are among them.
        """
        devices = {op.name: self.runners(op) for op in self._graph.operators}
        chosen = self._supply(devices, self._first_shared(usual, devices)).solve(self._by_cost)
        if chosen is None and self._shared:
            chosen = self._supply(devices).solve(self._by_cost)
        if chosen is None:
            return None
        self._writer = dict.fromkeys(self._graph.filled, self._soc.host)
        self._before = ""
        return tuple(self._on_fed(op, chosen[op.name]) for op in self._graph.operators)

    def _first_shared(
        self, usual: Sequence[Decision], devices: Mapping[str, Iterable[str]]
    ) -> SharedPins:
        """Narrow each list that usual devices share no pool of to its first that others share."""
        pins, where = self._shared, {each.operator: each.device for each in usual}
        for name, pin in self._shared.items():
            if any(self._share(name, pool, where) for pool in pin.pools):
                continue
            for pool in pin.pools if len(pin.pools) > 1 else ():
                tried = {**pins, name: replace(pin, pools=(pool,))}
                if self._supply(devices, tried).possible:
                    pins = tried
                    break
        return pins

    def _share(self, name: str, pool: str, where: Mapping[str, str]) -> bool:
        """Tell whether all that touch a tensor that one pool has to serve reach a pool."""
        reach, maker = self._soc.pool(pool).reach, self._makers.get(name)
        writer = where[maker] if maker else self._soc.host
        reading = (where[each] for each in self._shared[name].readers)
        return allows(reach[writer], Access.WRITE) and all(
            allows(reach[each], Access.READ) for each in reading
        )

    def move_to_faster_cores(self, decisions: tuple[Decision, ...]) -> tuple[Decision, ...]:
        """Give operators that nobody asked for to cores that are surely faster."""
        operators, usual = self._operators, {each.operator: each for each in decisions}
        free = (op for op in operators.values() if not usual[op.name].asked and op.kind != COPY)
        cores = {
            op.name: [each for each in self.runners(op) if isinstance(self._soc.device(each), Cpu)]
            for op in free
        }
        weighing = Weighing(self._graph, self._soc, spread=self._spread)
        where = FasterCores(weighing, cores, self._requests.robust).choose_devices(
            {each.operator: each.device for each in decisions}
        )
        found = tuple(
            each if where[each.operator] == each.device else self._move(each, weighing, where)
            for each in decisions
        )
        return found if self.supplies(found) else decisions

    def _move(self, usual: Decision, weighing: Weighing, where: Mapping[str, str]) -> Decision:
        device = where[usual.operator]

        def find() -> Why:
            cost = weighing.cost(self._operators[usual.operator], where)
            return Why(reason=str(cost), basis=cost.basis, costs={device: cost})

        return replace(usual, device=device, find=find)

    def explain_rejections(self, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
        """Say of every device that was not weighed why it does not run an operator."""
        weighing = cache(lambda: Weighing(self._graph, self._soc, spread=self._spread))
        where = {each.operator: each.device for each in decisions}

        pairs = zip(self._graph.operators, decisions, strict=True)
        return tuple(
            decision
            if op.kind == COPY
            else decision.with_reasons(partial(self._explain, op, decision, where, weighing))
            for op, decision in pairs
        )

    def _explain(
        self,
        op: Operator,
        decision: Decision,
        where: Mapping[str, str],
        find_weighing: Callable[[], Weighing],
        usual: Why,
    ) -> Why:
        rejected, costs, weighing = dict(usual.rejected), dict(usual.costs), find_weighing()
        here, within = weighing.cost(op, where), list(usual.within)
        for device in self._soc.devices:
            name, there = device.name, {**where, op.name: device.name}
            if name in (decision.device, *rejected):
                continue
            why = self._unable(op, device, decision)
            rejected[name] = why or weighing.against(op, name, where)
            if why is None and weighing.unreachable_text(op, there) is None:
                costs[name] = weighing.cost(op, there)
                no_less = here.total <= costs[name].total
                if no_less and could_be_less(costs[name].parts, here.parts):
                    within.append(name)
        names = [each.name for each in self._soc.devices]
        further = tuple(each for each in within if each not in usual.within)
        told = within_text(decision.device, further, {decision.device: here, **costs})
        return replace(
            usual,
            reason=usual.reason + told,
            rejected=tuple((name, rejected[name]) for name in names if name in rejected),
            within=tuple(name for name in names if name in within),
            costs=costs,
        )

    def _unable(self, op: Operator, device: Device, decision: Decision) -> str | None:
        """Say what keeps an operator off a device beside its cost and the ways of its tensors."""
        if isinstance(device, Npu) and not self._accelerators:
            return "is an accelerator, and accelerators are switched off"
        if why := self._obstacle(op, device):
            return why
        if decision.asked:
            return f"'{decision.device}' is asked for"
        if why := self._not_asked(device, self._join_scopes(op)):
            return why
        if not self._reads_constants(op, device.name):
            return "reads no pool that may hold its constants"
        return None

    def near_host(self) -> tuple[Decision, ...]:
        """Leave on accelerators only what has to be there: what is wrong then is what is asked."""
        host = self._soc.host
        runners = {op.name: self.runners(op) for op in self._graph.operators}
        why = _as_written("no choice of devices helps")
        return tuple(
            Decision(operator=op.name, device=host, find=why, joined=self._join_scopes(op))
            if host in runners[op.name]
            else self.decide(op)
            for op in self._graph.operators
        )

    def _join_scopes(self, op: Operator) -> Joined:
        joined = self._asked[op.name]
        assert isinstance(joined, Joined)
        return joined

    def _supply(
        self, devices: Mapping[str, Iterable[str]], shared: SharedPins | None = None
    ) -> Supply:
        shared = self._shared if shared is None else shared
        pins: dict[str, Collection[str]] = {
            name: {pool for each in asked if each.writes for pool in each.pin.pools}
            for name, asked in self._requests.pins.items()
            if name not in self._requests.free and any(each.writes for each in asked)
        }
        pins |= {name: each.pools for name, each in shared.items()}
        direct = {(op, name) for name, each in shared.items() for op in each.readers}
        return Supply(self._graph, self._roomy, devices, pins, direct)

    def runners(self, op: Operator) -> tuple[str, ...]:
        """Return the devices that nothing but reach may keep from an operator."""
        joined = self._join_scopes(op)
        if joined.device:
            return (joined.device,)
        able = self._able(op, joined)
        chosen = self._candidate_device(op)
        return (chosen,) if chosen in able else able

    def _candidate_device(self, op: Operator) -> str:
        """Return the device that a candidate chooses for an operator or its stripe, "" if none."""
        return self._devices.get(whole_name(op.name), "")

    def _able(self, op: Operator, joined: Joined) -> tuple[str, ...]:
        if op.kind == COPY:
            return (self._soc.host,)
        npus = self._soc.npus if self._accelerators else ()
        cores = self._soc.cpus if kind_of(op).on_cores else ()
        return tuple(
            each.name
            for each in (*cores, *npus)
            if each.name in joined.devices
            and self._obstacle(op, each) is None
            and self._reads_constants(op, each.name)
        )

    def _reads_constants(self, op: Operator, device: str) -> bool:
        known, key = self._known.fed, (op.name, device)
        if key not in known:
            known[key] = self._finds_constants(op, device)
        return known[key]

    def _finds_constants(self, op: Operator, device: str) -> bool:
        found = self._soc.device(device)
        if isinstance(found, Npu):
            supports = (each for each in found.spec.operators if each.kind == op.kind)
            packs = any(each.constants for each in supports)
            if packs and takes_constants(found, self._soc):
                return True
        constants = (each for each in map(self._graph.tensor, op.reads) if each.data is not None)
        return all(homes_of(self._roomy, {device: Access.READ}, each) for each in constants)

    def _by_cost(
        self, op: Operator, names: Collection[str], chosen: Mapping[str, str]
    ) -> Sequence[str]:
        """Put devices in order, the cheapest first."""
        makers = {name: self._makers.get(name) for name in op.inputs}
        self._writer |= {name: chosen[maker] for name, maker in makers.items() if maker}
        if op.kind == COPY or len(names) == 1:
            return sorted(names)
        devices = [each for each in self._soc.devices if each.name in names]
        spot = self._spot(op)
        costs = {each.name: self._weight(spot, each) for each in devices}
        first = (self._soc.default_device, self._soc.host)
        order = (*(each.name for each in self._soc.npus), *first)
        return sorted(
            costs,
            key=lambda name: (costs[name], order.index(name) if name in order else len(order)),
        )

    def _on_fed(self, op: Operator, device: str) -> Decision:
        """Decide for a device that the search has found, and say what was wrong with others."""
        spot, usual = self._spot(op), self.decide(op)
        self._writer |= dict.fromkeys(op.outputs, device)
        self._before = device
        if usual.device == device:
            return usual
        why = "no copy brings its tensors from and to the devices of its neighbours"
        decision = self._instead(spot, usual, device, why, f"'{usual.device}' cannot be fed")
        if not self._shared:
            return decision
        return replace(decision, pinned=(*usual.pinned, usual.device))

    def decide(self, op: Operator) -> Decision:
        """Choose the device of `op`."""
        joined = self._asked[op.name]
        if isinstance(joined, Fault):
            self.faults.append(joined)
            joined = Joined(devices=tuple(device.name for device in self._soc.devices))
        spot = self._spot(op)
        decision = self._on_asked(op, joined) if joined.device else self._free(spot, joined)
        chosen = "" if joined.device or op.kind == COPY else self._candidate_device(op)
        if chosen and chosen != decision.device:
            decision = self._on_chosen(spot, decision, chosen, joined)
        if decision.joined is not joined:
            decision = replace(decision, joined=joined)
        self._writer |= dict.fromkeys(op.outputs, decision.device)
        self._before = decision.device
        return decision

    def _spot(self, op: Operator) -> _Spot:
        """Return an operator with what is known of its neighbours now."""
        writers = {name: self._writer[name] for name in op.inputs if name in self._writer}
        return _Spot(op, writers, self._before)

    def _on_chosen(self, spot: _Spot, usual: Decision, chosen: str, joined: Joined) -> Decision:
        """Decide for the device that a candidate chooses."""
        op = spot.op
        if chosen not in self._able(op, joined):
            self.faults.append(
                Fault(
                    code="E048",
                    message=f"'{chosen}', which a candidate chooses, cannot run operator "
                    f"'{op.name}'",
                    remedy=self._another(op),
                )
            )
            return usual
        return self._instead(
            spot, usual, chosen, "the search has it elsewhere", f"not on '{usual.device}'"
        )

    def _instead(self, spot: _Spot, usual: Decision, device: str, why: str, words: str) -> Decision:
        """Return the decision for a device that is not the one of fewest cycles."""

        def find() -> Why:
            cost = self._cost(spot, self._soc.device(device))
            rejected = {**dict(usual.why.rejected), usual.device: why}
            return Why(
                reason=f"{cost}; {words}",
                rejected=self._in_order(device, rejected),
                basis=cost.basis,
                costs={device: cost},
            )

        return replace(usual, device=device, find=find)

    def _on_asked(self, op: Operator, wish: Joined) -> Decision:
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
                    + (", or give it a 'mailbox'" if why == NO_MAILBOX else ""),
                )
            )
        return Decision(
            operator=op.name, device=wish.device, find=_as_written(wish.source), asked=True
        )

    def _another(self, op: Operator) -> str:
        """Say what to ask for where a device cannot run `op`."""
        if not kind_of(op).on_cores:
            return "ask for no device: an accelerator that can run it is chosen"
        return f"ask for another device, such as '{self._soc.host}'"

    def _free(self, spot: _Spot, joined: Joined) -> Decision:
        op = spot.op
        if op.kind == COPY:
            said = _as_written("the host copies")
            return Decision(operator=op.name, device=self._soc.host, find=said)
        names, rejected, pinned = self._weighable(op, joined)
        able = [self._soc.device(name) for name in names]
        if not kind_of(op).on_cores:
            return self._off_cores(spot, able, rejected)
        if not able:
            return self._nowhere(op, joined, rejected)
        if len(able) > 1:
            weights = {device.name: self._weight(spot, device) for device in able}
            alone, best = self._best(spot, able, weights)
            find = partial(self._compare, spot, able, alone, best, rejected)
        else:
            best = able[0]
            find = partial(self._only, best, joined, pinned, rejected)
        return Decision(operator=op.name, device=best.name, find=find, pinned=pinned, joined=joined)

    def _only(
        self, best: Device, joined: Joined, pinned: Sequence[str], rejected: Mapping[str, str]
    ) -> Why:
        """Say why there is no choice."""
        reason = self._default_reason(best, joined, pinned)
        return Why(reason=reason, rejected=self._in_order(best.name, rejected))

    def _weighable(self, op: Operator, joined: Joined) -> _Weighable:
        known, key = self._known.weighable, (op.name, self._accelerators)
        if key not in known:
            known[key] = self._find_weighable(op, joined)
        return known[key]

    def _find_weighable(self, op: Operator, joined: Joined) -> _Weighable:
        rejected: dict[str, str] = {}
        able: list[str] = []
        pinned: list[str] = []
        for npu in self._soc.npus if self._accelerators else ():
            unable = self._first_obstacle(op, npu)
            why = self._not_asked(npu, joined) or unable or self._pin_obstacle(op, npu)
            if why is None:
                able.append(npu.name)
                continue
            rejected[npu.name] = why
            pinned += [npu.name] if unable is None else []
        if kind_of(op).on_cores and (core := self._core(op, joined, rejected)):
            able.append(core.name)
        return tuple(able), rejected, tuple(pinned)

    def _compare(
        self,
        spot: _Spot,
        able: Sequence[Device],
        alone: Device,
        best: Device,
        rejected: Mapping[str, str],
    ) -> Why:
        """Say why one of several devices is the best one."""
        costs = {device.name: self._cost(spot, device) for device in able}
        dearer = {
            name: f"{cost}, {self._difference(cost, costs[best.name])}"
            for name, cost in costs.items()
            if name != best.name
        }
        reason = str(costs[best.name])
        if best is not alone:
            saved = self._saved_cycles(spot, best)
            reason = f"{reason}, {saved} fewer where it goes on by itself"
        turned = best
        if any(map(stands_in, self._soc.cpus)):
            faster = {e.name: (False, sum(self._cycles(spot, e, _faster_cycles))) for e in able}
            _, turned = self._best(spot, able, faster)
        turns = "" if turned is best else turned.name
        if turns:
            reason += f"; '{turns}' if unmeasured cores are {FASTER} times faster than that"
        within = self._within(spot, costs, best.name)
        return Why(
            reason=reason + within_text(best.name, within, costs),
            rejected=self._in_order(best.name, {**rejected, **dearer}),
            basis=joint_basis(cost.basis for cost in costs.values()),
            turns_to=turns,
            within=within,
            costs=costs,
        )

    def _within(self, spot: _Spot, costs: Mapping[str, Cost], best: str) -> tuple[str, ...]:
        """Return the devices that may be faster than the best with every figure in its band."""
        parts = {name: self._with_lists(spot, name, cost.parts) for name, cost in costs.items()}
        return tuple(
            name for name in costs if name != best and could_be_less(parts[name], parts[best])
        )

    def _with_lists(self, spot: _Spot, device: str, parts: Parts) -> Parts:
        """Take off what the host saves where a device goes on by itself."""
        saved = self._saved_cycles(spot, self._soc.device(device))
        return add_parts(parts, {driver_source(self._soc): -saved})

    def _weight(self, spot: _Spot, device: Device) -> Pessimistic:
        """Return by what devices are chosen: cycles, or the most that these may be."""
        if self._requests.robust:
            return self._cost(spot, device).pessimistic
        return False, sum(self._cycles(spot, device, compute_cycles))

    def _difference(self, cost: Cost, best: Cost) -> str:
        """Say why a cost is not the best one."""
        if self._requests.robust and cost.total < best.total:
            (unknown, cycles), (_, least) = cost.pessimistic, best.pessimistic
            fewer = f"{best.total - cost.total:,} fewer"
            return (
                f"{fewer}, but nobody knows how many at most"
                if unknown
                else (f"{fewer}, but up to {cycles - least:,} more at the high ends of the bands")
            )
        more = cost.total - best.total
        return f"{more:,} more" if more > 0 else "not fewer"

    def _best(
        self, spot: _Spot, able: Sequence[Device], weights: Mapping[str, Pessimistic]
    ) -> tuple[Device, Device]:
        """Return the cheapest device by itself, and the one that is after what lists save."""

        def after_lists(device: Device) -> Pessimistic:
            unknown, cycles = weights[device.name]
            return unknown, cycles - self._saved_cycles(spot, device)

        alone = min(able, key=lambda device: weights[device.name])
        return alone, min(able, key=after_lists) if isinstance(alone, Cpu) else alone

    def _saved_cycles(self, spot: _Spot, device: Device) -> int:
        """Return what the host saves if `device` goes on from the operator before by itself."""
        return joint_saving(device, self._soc) if device.name == spot.before else 0

    def _off_cores(
        self, spot: _Spot, able: Sequence[Device], rejected: Mapping[str, str]
    ) -> Decision:
        """Choose an accelerator for what no core runs."""
        op = spot.op
        if able:
            best = min(able, key=lambda device: self._weight(spot, device))

            def find() -> Why:
                cost = self._cost(spot, best)
                reason = f"{kind_of(op).why_off_cores(op)}, {cost}"
                others = self._in_order(best.name, rejected)
                return Why(reason=reason, rejected=others, basis=cost.basis)

            return Decision(operator=op.name, device=best.name, find=find)
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
        return Decision(operator=op.name, device=self._soc.host, find=_as_written(why))

    def _default_reason(self, device: Device, joined: Joined, pinned: Sequence[str]) -> str:
        """Say why `device` is the only one that is weighed."""
        npus = [npu for npu in self._soc.npus if npu.name in joined.devices]
        if isinstance(device, Npu):
            what = f"no other device that is {joined.scope} can run it"
        elif not npus:
            is_so = f" that is {joined.scope}" if joined.constraints else ""
            what = f"the chip has no accelerator{is_so}"
        elif not self._accelerators:
            what = "accelerators are switched off"
        elif pinned:
            what = f"pins keep it off {', '.join(pinned)}, which could run it"
        elif joined.constraints:
            what = f"no accelerator that is {joined.scope} can run it"
        else:
            what = "no accelerator can run it"
        return f"{joined.source}; {what}" if joined.constraints else what

    def _not_asked(self, device: Device, joined: Joined) -> str | None:
        """Say so where a scope that is asked for leaves a device out."""
        return None if device.name in joined.devices else f"is not {joined.scope}"

    def _nowhere(self, op: Operator, joined: Joined, rejected: Mapping[str, str]) -> Decision:
        why = "; ".join(f"{name} {reason}" for name, reason in rejected.items())
        self.faults.append(
            Fault(
                code="E048",
                message=f"no device that is {joined.scope} ({joined.source}) can run operator "
                f"'{op.name}': {why}",
                at=joined.at,
                remedy=self._another(op),
            )
        )
        return Decision(operator=op.name, device=self._soc.host, find=_as_written(why))

    def _core(self, op: Operator, joined: Joined, rejected: dict[str, str]) -> Device | None:
        """Return the core for `op`: the default device, else the host, else one that keeps pins."""
        first = (self._soc.default_device, self._soc.host)
        cores = sorted(self._soc.cpus, key=lambda core: (*(core.name != name for name in first),))
        rejected |= {e.name: why for e in cores if (why := self._not_asked(e, joined))}
        cores = [core for core in cores if core.name in joined.devices]
        if not cores:
            return None
        for core in cores:
            if (why := self._obstacle(op, core)) is None:
                return core
            rejected[core.name] = why
        rejected.pop(cores[0].name)
        return cores[0]

    def _obstacle(self, op: Operator, device: Device) -> str | None:
        return self._first_obstacle(op, device) or self._pin_obstacle(op, device)

    def _first_obstacle(self, op: Operator, device: Device) -> str | None:
        known, key = self._known.obstacles, (op.name, device.name)
        if key not in known:
            known[key] = next(obstacles(op, self._graph, device, self._soc), None)
        return known[key]

    def _pin_obstacle(self, op: Operator, device: Device) -> str | None:
        return next(pin_obstacles(op, self._graph, device, self._soc, self._requests), None)

    def _refusals(self, op: Operator, device: Device) -> Iterator[str]:
        if isinstance(device, Npu) and not self._accelerators:
            yield "is an accelerator, and accelerators are switched off"
        if op.kind != COPY:
            yield from obstacles(op, self._graph, device, self._soc)

    def _cost(self, spot: _Spot, device: Device) -> Cost:
        """Estimate an operator on `device`, and what that rests on."""
        op, movers, sources = spot.op, {device.name}, Recorder()

        def moves(op: Operator, graph: Graph, mover: Device, soc: ResolvedSoc) -> int:
            movers.add(mover.name)
            return sources(op, graph, mover, soc)

        cycles, copying = self._cycles(spot, device, compute_cycles, moves)
        own = cost_parts(op, self._graph, device, self._soc, cycles)
        return Cost(
            cycles=cycles,
            copying=copying,
            basis=basis_of(self._soc, movers),
            parts=add_parts(sources.sources, own),
        )

    def _cycles(
        self, spot: _Spot, device: Device, computing: Computing, moves: Computing | None = None
    ) -> tuple[int, int]:
        """Return what an operator takes, and copies from and to neighbours with a known device.

        `computing` says what each device takes, and `moves` what those do that copy.
        """
        op, copying, moves = spot.op, 0, moves or computing
        laid, layout = self._layouts(op, device)
        for at, name in enumerate(op.inputs):
            writer, tensor = spot.writers.get(name), self._graph.by_name.get(name)
            if tensor and writer and not (at in laid and writer == device.name):
                copying += self._move_cycles(tensor, writer, device.name, laid.get(at), moves)
        for name in op.outputs:
            tensor = self._graph.tensor(name)
            if layout:
                copying += layout_cycles(tensor, layout, self._soc, moves)
                continue
            for reader in self._known_readers(name):
                copying += copy_cycles(tensor, device.name, reader, self._soc, moves)
        cycles = computing(op, self._graph, device, self._soc)
        if self._spread and isinstance(device, Cpu):
            helpers = CoreCost(device, self._soc).helpers(op, self._graph)
            parts = len(helpers) + 1
            if parted := CoreCost(device, self._soc).spread(op, self._graph, parts):
                alone = compute_cycles(op, self._graph, device, self._soc)
                cycles = parted * cycles // max(1, alone)
        return cycles, copying

    def _layouts(self, op: Operator, device: Device) -> tuple[Mapping[int, Layout], Layout | None]:
        """Return the layouts that a device wants of operands, and the one that it gives results."""
        if not isinstance(device, Npu):
            return NO_LAYOUTS, None
        known, key = self._known.layouts, (op.name, device.name)
        if key not in known:
            laid = input_layouts(op, self._graph, device)
            known[key] = laid, output_layout(op, self._graph, device)
        return known[key]

    def _move_cycles(
        self, tensor: Tensor, writer: str, reader: str, layout: Layout | None, moves: Computing
    ) -> int:
        """Return the cycles to bring a tensor to where, and how, a device reads it."""
        if layout:
            return layout_cycles(tensor, layout, self._soc, moves)
        return copy_cycles(tensor, writer, reader, self._soc, moves)

    def _known_readers(self, name: str) -> frozenset[str]:
        asked = (self._asked[reader.name] for reader in self._readers[name])
        return frozenset(each.device for each in asked if isinstance(each, Joined) and each.device)

    def _in_order(self, device: str, rejected: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """Return why other devices than one were not taken, in canonical order."""
        names = (each.name for each in self._soc.devices if each.name != device)
        return tuple((name, rejected[name]) for name in names if name in rejected)


def _as_written(reason: str) -> Callable[[], Why]:
    """Return what says why where nothing has to be found out."""
    return lambda: Why(reason=reason)


def within_text(best: str, within: Sequence[str], costs: Mapping[str, Cost]) -> str:
    """Say which devices may be faster with every figure in its band, "" if none may."""
    figures = ", ".join(
        f"{name} {costs[name].total:,} {costs[name].band or ''}".rstrip()
        for name in (best, *within)
    )
    which = "either could be faster" if len(within) == 1 else "any could be the fastest"
    return f"; {figures}: {which}" if within else ""


def _faster_cycles(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc) -> int:
    """Predict as `compute_cycles` if each core that was not measured were `FASTER` times as fast.

    Of an engine, that is what the host's driver takes.
    """
    own, by_core = split_cycles(op, graph, device, soc)
    core = device if isinstance(device, Cpu) else soc.host_cpu
    return own + by_core // (FASTER if stands_in(core) else 1)
