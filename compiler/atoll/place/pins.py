# SPDX-License-Identifier: Apache-2.0
"""Put pinned tensors into their pools, with a copy where the two sides of one differ."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from atoll.cost.copies import touch_cycles
from atoll.cost.operators import compute_cycles
from atoll.description.faults import in_order, note
from atoll.diagnostics.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import COPY
from atoll.place.capabilities import obstacles
from atoll.place.constraints import Constraint, ScopeLog, intersect_pools, memory_scope
from atoll.place.pin_trials import Holds, Trials
from atoll.place.replicas import Replica, ReplicaNames, readers_of, with_replicas
from atoll.place.requests import PinRequest, Requests
from atoll.place.scope_faults import ScopeFault, empty_rule, leaves_nothing
from atoll.reach.candidates import Needs, allows, needs_of, pools_for, roles_of, unmet_needs
from atoll.reach.movers import mover_of
from atoll.resolve.soc import Access, ResolvedSoc


def apply_pins(
    graph: Graph,
    soc: ResolvedSoc,
    requests: Requests,
    log: ScopeLog,
    holds: Holds | None = None,
) -> Graph:
    """Return a placed graph in which every pin holds.

    A tensor pinned where operators read it gets a replica there; `elide-copies` drops those that
    are not needed. Copies that a pin makes necessary are allowed where the pin speaks of one side
    only, or where the user frees the tensor. Remedies are tried with `holds`, if there is one.

    Raises:
        PlacementError: E049; a device that touches the tensor does not reach the pool, two pins
            differ, or the pool does not hold such tensors.
    """
    if not requests.pins:
        return graph
    pinning = _Pinning(graph, soc, requests)
    faulty = [name for name in requests.pins if not pinning.add(graph.tensor(name))]
    if faulty:
        told = _Pinning(graph, soc, requests, holds, faulty)
        for name in faulty:
            told.add(graph.tensor(name))
        raise PlacementError.all(in_order(told.faults))
    for name, asked in pinning.held:
        scope = memory_scope(asked.pin.pools)
        log.ask(name, Constraint(scope, "", f"asked for by {asked.source}", asked.at))
    return pinning.graph()


class _Pinning:
    def __init__(
        self,
        graph: Graph,
        soc: ResolvedSoc,
        requests: Requests,
        holds: Holds | None = None,
        faulty: Collection[str] = (),
    ) -> None:
        self.faults: list[Fault] = []
        self._trials = Trials(requests, faulty, holds) if holds else None
        self._graph = graph
        self._soc = soc
        self._requests = requests
        self._names = ReplicaNames(graph)
        self._needs = needs_of(graph, soc)
        self._readers = readers_of(graph)
        self._makers = {name: op for op in graph.operators for name in op.outputs}
        self.held: list[tuple[str, PinRequest]] = []
        self._homes: dict[str, tuple[str, ...]] = {}
        self._replicas: list[Replica] = []

    def graph(self) -> Graph:
        """Return the graph with all pins."""
        tensors = tuple(
            replace(tensor, pools=self._homes.get(tensor.name, tensor.pools))
            for tensor in self._graph.tensors
        )
        graph = replace(self._graph, tensors=tensors)
        replicas: dict[str, list[Replica]] = {}
        for each in self._replicas:
            source = graph.tensor(each.source)
            mover = mover_of(source, self._writer(source), each.tensor.pools, self._soc)
            replicas.setdefault(mover, []).append(each)
        for mover, made in replicas.items():
            graph = with_replicas(graph, mover, made)
        return graph

    def add(self, tensor: Tensor) -> bool:
        """Apply the pins of one tensor; say whether they hold."""
        before = len(self.faults)
        self._add(tensor)
        return len(self.faults) == before

    def _add(self, tensor: Tensor) -> None:
        asked = self._requests.pins[tensor.name]
        faults = [*self._contradictions(tensor, asked)]
        faults += (fault for each in asked for fault in self._obstacles(tensor, each))
        self.faults += faults
        if faults:
            return
        storage, writer = self._graph.storage(tensor.name), self._writer(tensor)
        written = [each for each in asked if each.writes]
        home = self._common(tensor, written, writer, Access.WRITE)
        if home:
            self._homes[storage] = home
            self._hold(storage, written)
        served: dict[tuple[str, ...], list[str]] = {}
        held: dict[tuple[str, ...], list[PinRequest]] = {}
        for op in self._operators(tensor):
            read = [each for each in asked if each.concerns(op)]
            pools = self._common(tensor, read, op.device, Access.READ)
            if pools:
                served.setdefault(pools, []).append(op.name)
                held.setdefault(pools, []).extend(read)
        for pools, readers in served.items():
            name = storage
            if pools != home:
                self._replicas.append(self._names.replica(tensor, readers, pools))
                name = self._replicas[-1].tensor.name
            self._hold(name, held[pools])

    def _hold(self, tensor: str, asked: Iterable[PinRequest]) -> None:
        found = ((tensor, each) for each in asked)
        self.held += (each for each in dict.fromkeys(found) if each not in self.held)

    def _common(
        self, tensor: Tensor, asked: Sequence[PinRequest], device: str | None, need: Access
    ) -> tuple[str, ...]:
        """Return the pools in which several requests let one device use a tensor."""
        served = [self._pools_serving(tensor, each, device, need) for each in asked]
        if not served or not all(served):
            return ()
        common = tuple(pool for pool in served[0] if all(pool in each for each in served))
        if not common:
            self.faults.append(self._contradiction(tensor, asked[0], asked[-1], served[0]))
        return common

    def _pools_serving(
        self, tensor: Tensor, asked: PinRequest, device: str | None, need: Access
    ) -> tuple[str, ...]:
        """Return the pools of a pin that serve one device, or all where one pool has to."""
        needs: Needs = {} if device is None else {device: need}
        if asked.joint and not self._is_free(tensor):
            needs = self._all_needs(tensor, asked)
        return self._pools_left(tensor, asked, needs)

    def _pools_left(self, tensor: Tensor, asked: PinRequest, needs: Needs) -> tuple[str, ...]:
        """Return the pools of a pin that hold such a tensor and meet needs, in the pin's order."""
        if asked.plain:
            return tuple(p for p in asked.pin.pools if not unmet_needs(self._soc.pool(p), needs))
        pools = pools_for(self._soc, needs, roles_of(tensor), tensor.size)
        return tuple(pool for pool in asked.pin.pools if pool in pools)

    def _all_needs(self, tensor: Tensor, asked: PinRequest) -> Needs:
        """Return what the devices that a pin speaks of do with a tensor."""
        needs = {op.device: Access.READ for op in self._operators(tensor) if asked.concerns(op)}
        if asked.writes and (writer := self._writer(tensor)):
            needs[writer] = Access.WRITE
        return needs

    def _is_free(self, tensor: Tensor) -> bool:
        return tensor.name in self._requests.free

    def _operators(self, tensor: Tensor) -> list[Operator]:
        return [op for op in self._readers[tensor.name] if op.kind != COPY]

    def _writer(self, tensor: Tensor) -> str | None:
        needs = self._needs[self._graph.storage(tensor.name)].items()
        return next((name for name, need in needs if need is Access.WRITE), None)

    def _reaches(self, device: str | None, need: Access, asked: PinRequest) -> bool:
        return device is None or allows(self._soc.pool(asked.pin.pools[0]).reach[device], need)

    def _contradictions(self, tensor: Tensor, asked: Sequence[PinRequest]) -> Iterator[Fault]:
        """Yield pins of one side that differ."""
        writing = [each for each in asked if each.writes and each.pin.pools]
        reading = [
            [each for each in asked if each.concerns(op) and each.pin.pools]
            for op in self._operators(tensor)
        ]
        everyone = [e for e in asked if e.reads and e.readers is None and e.pin.pools]
        told: set[tuple[int, int]] = set()
        for speaking in (writing, *reading, everyone):
            left: tuple[str, ...] = ()
            for first, second in pairwise(speaking):
                left = left or first.pin.pools
                common = intersect_pools(left, second.pin.pools)
                if common is None and (id(first), id(second)) not in told:
                    told.add((id(first), id(second)))
                    yield self._contradiction(tensor, first, second)
                left = common or left

    def _contradiction(
        self,
        tensor: Tensor,
        first: PinRequest,
        second: PinRequest,
        before: Sequence[str] = (),
    ) -> Fault:
        if first.plain and second.plain:
            return Fault(
                code="E049",
                message=f"tensor '{tensor.name}'{self._users(tensor)} is pinned to both "
                f"'{first.pin}' and '{second.pin}'",
                at=second.at,
                other=note(first.at, f"'{first.pin}' is asked for here"),
                remedy="delete one, or pin one ':in' and the other ':out'",
            )
        return leaves_nothing(
            ScopeFault(
                asked=second.words,
                of=f"tensor '{tensor.name}'",
                before=self._choices(tensor, second, before or first.pin.pools),
                rule=f"{first.words} leaves these and no other (C2)",
                at=second.at,
                other=note(first.at, f"{first.words} is asked for here"),
                remedy=f"{self._same(tensor, first, second)}delete one of the two",
            )
        )

    def _same(self, tensor: Tensor, first: PinRequest, second: PinRequest) -> str:
        """Return how `second` may ask for what `first` does, if that is possible."""
        for pool in self._pools_left(tensor, first, self._all_needs(tensor, first)):
            if self._trials is None or self._trials.may_be(second, pool):
                return f"write '{second.instead(pool)}' in its place, or "
        return ""

    def _obstacles(self, tensor: Tensor, asked: PinRequest) -> Iterator[Fault]:
        """Yield what keeps one pin from being held."""
        if not asked.plain:
            yield from self._empty(tensor, asked)
            return
        pool = self._soc.pool(asked.pin.pools[0])
        if pool.role not in roles_of(tensor):
            what = "an activation" if tensor.data is None else "a constant"
            what = what if tensor.initial is None else "a state"
            message = f"is {what}, which pool '{pool.name}' (role '{pool.role}') does not hold"
            yield self._fault(tensor, asked, message, "pin it to a pool of another role")
            return
        if not (self._is_free(tensor) and asked.joint):
            yield from self._out_of_reach(tensor, asked)

    def _empty(self, tensor: Tensor, asked: PinRequest) -> Iterator[Fault]:
        """Yield what is wrong with pools of which none is left."""
        everyone = self._all_needs(tensor, asked)
        free = self._is_free(tensor) and asked.joint
        if free and (self._holds_a_side(tensor, asked) or self._is_copied(tensor)):
            return
        each_alone = free or not asked.joint
        groups = [{name: need} for name, need in everyone.items()] if each_alone else [everyone]
        for needs in groups or [{}]:
            if self._pools_left(tensor, asked, needs):
                continue
            pools = pools_for(self._soc, needs, roles_of(tensor), tensor.size)
            before = self._choices(tensor, asked, pools)
            yield leaves_nothing(
                ScopeFault(
                    asked=asked.words,
                    of=f"tensor '{tensor.name}'{self._users(tensor)}",
                    before=before,
                    rule=empty_rule(tensor, asked.pin.pools, asked.scope, needs, self._soc),
                    at=asked.at,
                    remedy=self._nearest(tensor, asked, before),
                )
            )
            return

    def _choices(self, tensor: Tensor, asked: PinRequest, reached: Sequence[str]) -> Sequence[str]:
        """Return the pools that may be asked for instead, tried: devices may change with them.

        Where nothing can be tried, those that are `reached` by the devices that there are.
        """
        if self._trials is None:
            return reached
        roles = roles_of(tensor)
        pools = pools_for(self._soc, {}, roles, tensor.size)
        return [pool for pool in pools if self._trials.may_be(asked, pool, alone=True)]

    def _nearest(self, tensor: Tensor, asked: PinRequest, before: Sequence[str]) -> str:
        """Return the least change of a request with which something is left, tried."""
        for pool in sorted(before, key=lambda name: self._least(tensor, name)):
            if self._trials is None or self._trials.may_be(asked, pool):
                return f"write '{asked.instead(pool)}' in its place"
        if self._may_free(tensor, asked):
            return f"add '{tensor.name}' to 'free', so that it may be copied"
        return "delete it"

    def _least(self, tensor: Tensor, pool: str) -> tuple[int, int]:
        touched = touch_cycles(self._soc.pool(pool), tensor.size, self._soc)
        return self._cycles(tensor, pool), touched

    def _cycles(self, tensor: Tensor, pool: str) -> int:
        """Return the least cycles of the operators around a tensor on devices that reach a pool.

        An operator that no such device runs would cost a copy: that of the tensor's bytes.
        """
        reach, total = self._soc.pool(pool).reach, 0
        maker = self._makers.get(tensor.name)
        users = [(maker, Access.WRITE)] if maker else []
        users += [(op, Access.READ) for op in self._operators(tensor)]
        for op, need in users:
            able = (
                compute_cycles(op, self._graph, device, self._soc)
                for device in self._soc.devices
                if allows(reach[device.name], need)
                and not any(obstacles(op, self._graph, device, self._soc))
            )
            total += min(able, default=tensor.size)
        return total

    def _may_free(self, tensor: Tensor, asked: PinRequest) -> bool:
        """Tell whether 'free' would help a pin of both sides."""
        one = asked.joint and not self._is_free(tensor) and self._holds_a_side(tensor, asked)
        return one and (self._trials is None or self._trials.may_free(tensor.name))

    def _is_copied(self, tensor: Tensor) -> bool:
        """Tell whether a copy of a tensor is there already, which a request may be about."""
        return any(op.kind == COPY for op in self._readers[tensor.name])

    def _holds_a_side(self, tensor: Tensor, asked: PinRequest) -> bool:
        """Tell whether a tensor may be where a pin says for one of those who touch it."""
        needs = self._all_needs(tensor, asked).items()
        return bool(asked.pin.pools) and any(
            self._pools_left(tensor, asked, {name: need}) for name, need in needs
        )

    def _out_of_reach(self, tensor: Tensor, asked: PinRequest) -> Iterator[Fault]:
        writer, maker = self._writer(tensor), self._makers.get(tensor.name)
        if asked.writes and not self._reaches(writer, Access.WRITE, asked):
            by = (
                f"'{writer}' writes it in operator '{maker.name}'" if maker else "the host fills it"
            )
            yield self._denial(tensor, asked, f"{by} and does not write that pool", writer, "rw")
        for op in self._operators(tensor) if asked.reads else ():
            if not self._reaches(op.device, Access.READ, asked):
                written = f"'{writer}' writes it, and " if writer else ""
                message = f"{written}'{op.device}' reads it in operator '{op.name}' "
                yield self._denial(
                    tensor, asked, f"{message}and does not reach that pool", op.device, "ro"
                )

    def _denial(
        self, tensor: Tensor, asked: PinRequest, why: str, device: str | None, access: str
    ) -> Fault:
        pool = asked.pin.pools[0]
        copying = f"add '{tensor.name}' to 'free', " if self._may_free(tensor, asked) else ""
        remedy = f"{copying}set 'pools.{pool}.reach.{device}' to {access}, or pin it elsewhere"
        return self._fault(tensor, asked, f"is pinned to '{asked.pin}', but {why}", remedy)

    def _fault(self, tensor: Tensor, asked: PinRequest, why: str, remedy: str) -> Fault:
        pool = self._soc.pool(asked.pin.pools[0])
        return Fault(
            code="E049",
            message=f"tensor '{tensor.name}' {why}",
            at=asked.at,
            other=note(pool.at, f"pool '{pool.name}' is described here"),
            remedy=remedy,
        )

    def _users(self, tensor: Tensor) -> str:
        maker = self._makers.get(tensor.name)
        readers = ", ".join(f"'{op.name}' on '{op.device}'" for op in self._operators(tensor))
        made = f" from operator '{maker.name}' on '{maker.device}'" if maker else ""
        return made + (f" to {readers}" if readers else "")
