"""Put pinned tensors into their pools, with a copy where the two sides of one differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from atoll.description.faults import in_order, note
from atoll.errors import Fault, PlacementError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import COPY
from atoll.place.annotations import POOL_SCOPE
from atoll.place.candidates import allows, needs_of, roles_of
from atoll.place.constraints import Constraint, ScopeLog, merged_pool
from atoll.place.copy_engines import mover_of
from atoll.place.replicas import Replica, ReplicaNames, readers_of, with_replicas
from atoll.place.requests import PinRequest, Requests
from atoll.resolve.se_scope import SEScope
from atoll.resolve.soc import Access, Npu, ResolvedSoc


def apply_pins(graph: Graph, soc: ResolvedSoc, requests: Requests, log: ScopeLog) -> Graph:
    """Return a placed graph in which every pin holds.

    A tensor pinned where operators read it gets a replica there; `elide-copies` drops those that
    are not needed. Copies that a pin makes necessary are allowed where the pin speaks of one side
    only, or where the user frees the tensor.

    Raises:
        PlacementError: E049; a device that touches the tensor does not reach the pool, two pins
            differ, or the pool does not hold such tensors.
    """
    if not requests.pins:
        return graph
    pinning = _Pinning(graph, soc, requests)
    for name in requests.pins:
        pinning.add(graph.tensor(name))
    if pinning.faults:
        raise PlacementError.all(in_order(pinning.faults))
    for name, asked in pinning.held:
        scope = SEScope(memory_scope=f"{POOL_SCOPE}{asked.pin.pool}")
        log.ask(name, Constraint(scope, "", f"asked for by {asked.source}", asked.at))
    return pinning.graph()


class _Pinning:
    def __init__(self, graph: Graph, soc: ResolvedSoc, requests: Requests) -> None:
        self.faults: list[Fault] = []
        self._graph = graph
        self._soc = soc
        self._requests = requests
        self._names = ReplicaNames(graph)
        self._needs = needs_of(graph, soc)
        self._readers = readers_of(graph)
        self._makers = {name: op for op in graph.operators for name in op.outputs}
        self.held: list[tuple[str, PinRequest]] = []
        self._homes: dict[str, str] = {}
        self._replicas: list[Replica] = []

    def graph(self) -> Graph:
        """Return the graph with all pins."""
        tensors = tuple(
            replace(tensor, pool=self._homes.get(tensor.name, tensor.pool))
            for tensor in self._graph.tensors
        )
        graph = replace(self._graph, tensors=tensors)
        replicas: dict[str, list[Replica]] = {}
        for each in self._replicas:
            source = graph.tensor(each.source)
            mover = mover_of(source, self._writer(source), each.tensor.pool, self._soc)
            replicas.setdefault(mover, []).append(each)
        for mover, made in replicas.items():
            graph = with_replicas(graph, mover, made)
        return graph

    def add(self, tensor: Tensor) -> None:
        """Apply the pins of one tensor."""
        asked = self._requests.pins[tensor.name]
        faults = [*self._contradictions(tensor, asked)]
        faults += (fault for each in asked for fault in self._obstacles(tensor, each))
        self.faults += faults
        if faults:
            return
        storage = self._graph.storage(tensor.name)
        for each in asked:
            if each.writes and self._reaches(self._writer(tensor), Access.WRITE, each):
                self._homes[storage] = each.pin.pool
                self.held.append((storage, each))
        for each in asked:
            if each.reads and self._homes.get(storage) != each.pin.pool:
                self._replicate(tensor, each)
            elif each.reads and (storage, each) not in self.held:
                self.held.append((storage, each))

    def _replicate(self, tensor: Tensor, asked: PinRequest) -> None:
        readers = self._operators(tensor)
        served = [op.name for op in readers if self._reaches(op.device, Access.READ, asked)]
        if served:
            self._replicas.append(self._names.replica(tensor, served, asked.pin.pool))
            self.held.append((self._replicas[-1].tensor.name, asked))

    def _operators(self, tensor: Tensor) -> list[Operator]:
        return [op for op in self._readers[tensor.name] if op.kind != COPY]

    def _writer(self, tensor: Tensor) -> str | None:
        needs = self._needs[self._graph.storage(tensor.name)].items()
        return next((name for name, need in needs if need is Access.WRITE), None)

    def _reaches(self, device: str | None, need: Access, asked: PinRequest) -> bool:
        return device is None or allows(self._soc.pool(asked.pin.pool).reach[device], need)

    def _contradictions(self, tensor: Tensor, asked: Sequence[PinRequest]) -> Iterator[Fault]:
        """Yield pins of one side that differ."""
        for side in ("writes", "reads"):
            speaking = [each for each in asked if getattr(each, side)]
            for first, second in pairwise(speaking):
                if merged_pool(first.pin.pool, second.pin.pool) is None:
                    yield Fault(
                        code="E049",
                        message=f"tensor '{tensor.name}'{self._users(tensor)} is pinned to both "
                        f"'{first.pin}' and '{second.pin}'",
                        at=second.at,
                        other=note(first.at, f"'{first.pin}' is asked for here"),
                        remedy="delete one, or pin one ':in' and the other ':out'",
                    )

    def _obstacles(self, tensor: Tensor, asked: PinRequest) -> Iterator[Fault]:
        """Yield what keeps one pin from being held."""
        pool = self._soc.pool(asked.pin.pool)
        if pool.role not in roles_of(tensor):
            what = "an activation" if tensor.data is None else "a constant"
            what = what if tensor.initial is None else "a state"
            message = f"is {what}, which pool '{pool.name}' (role '{pool.role}') does not hold"
            yield self._fault(tensor, asked, message, "pin it to a pool of another role")
            return
        packed = (op for op in self._operators(tensor) if self._is_accelerated(op))
        if tensor.data is not None and (op := next(packed, None)):
            message = f"is a constant that '{op.device}' reads in packed form for '{op.name}'"
            yield self._fault(tensor, asked, message, "pin activations, or place the operator")
            return
        freed = tensor.name in self._requests.free and asked.pin.applies == "both"
        if not freed:
            yield from self._out_of_reach(tensor, asked)

    def _out_of_reach(self, tensor: Tensor, asked: PinRequest) -> Iterator[Fault]:
        writer, maker = self._writer(tensor), self._makers.get(tensor.name)
        if asked.writes and not self._reaches(writer, Access.WRITE, asked):
            by = (
                f"'{writer}' writes it in operator '{maker.name}'" if maker else "the host fills it"
            )
            yield self._denied(tensor, asked, f"{by} and does not write that pool", writer, "rw")
        for op in self._operators(tensor) if asked.reads else ():
            if not self._reaches(op.device, Access.READ, asked):
                written = f"'{writer}' writes it, and " if writer else ""
                message = f"{written}'{op.device}' reads it in operator '{op.name}' "
                yield self._denied(
                    tensor, asked, f"{message}and does not reach that pool", op.device, "ro"
                )

    def _denied(
        self, tensor: Tensor, asked: PinRequest, why: str, device: str | None, access: str
    ) -> Fault:
        pool = asked.pin.pool
        copying = f"add '{tensor.name}' to 'free', " if asked.pin.applies == "both" else ""
        remedy = f"{copying}set 'pools.{pool}.reach.{device}' to {access}, or pin it elsewhere"
        return self._fault(tensor, asked, f"is pinned to '{asked.pin}', but {why}", remedy)

    def _fault(self, tensor: Tensor, asked: PinRequest, why: str, remedy: str) -> Fault:
        pool = self._soc.pool(asked.pin.pool)
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

    def _is_accelerated(self, op: Operator) -> bool:
        return isinstance(self._soc.device(op.device), Npu)
