# SPDX-License-Identifier: Apache-2.0
"""Which choices of devices get every tensor from its writer to each of its readers.

An operator has a set of devices, a tensor a set of homes: the pools in which it may be written.
Both are narrowed until each choice that is left has a partner across every edge (arc consistency),
and one operator after the other is given a device, with a way back. On a network without joins
that never goes back; it ends on every one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from atoll.ir.graph import Graph, Operator
from atoll.place.routes import Routes
from atoll.reach.candidates import allows, homes_of
from atoll.records import dataclass
from atoll.resolve.soc import Access, ResolvedSoc

MOST_RETURNS = 10_000
"""So often a search takes a choice back before it gives up."""

Preference = Callable[[Operator, Collection[str], Mapping[str, str]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Edge:
    """An operator that touches a tensor."""

    operator: str
    tensor: str
    writes: bool


class Supply:
    """Narrows the devices of operators to those that can be fed.

    Args:
        graph: without devices that count.
        soc: the chip.
        devices: those that may run each operator, by its name.
        homes: the pools that tensors are pinned to where they are written.
        direct: operators with tensors that they read without a copy.
    """

    def __init__(
        self,
        graph: Graph,
        soc: ResolvedSoc,
        devices: Mapping[str, Iterable[str]],
        homes: Mapping[str, Collection[str]],
        direct: Collection[tuple[str, str]] = (),
    ) -> None:
        self._direct = frozenset(direct)
        self._graph, self._soc, self._routes = graph, soc, Routes(soc)
        self._devices = {name: set(each) for name, each in devices.items()}
        self._edges = tuple(dict.fromkeys(self._all_edges()))
        self._of_operator: dict[str, list[_Edge]] = {op.name: [] for op in graph.operators}
        self._of_tensor: dict[str, list[_Edge]] = {}
        for edge in self._edges:
            self._of_operator[edge.operator].append(edge)
            self._of_tensor.setdefault(edge.tensor, []).append(edge)
        self._homes = {name: self._first_homes(name, homes) for name in self._of_tensor}
        self._trail: list[tuple[set[str], str]] = []
        self.possible = self._narrow(self._edges)

    def devices(self, operator: str) -> frozenset[str]:
        """Return the devices that are left to an operator."""
        return frozenset(self._devices[operator])

    def solve(self, prefer: Preference) -> Mapping[str, str] | None:
        """Return a device for every operator, None if there is no such choice.

        Args:
            prefer: puts the devices that are left to an operator in order, best first, given
                those of the operators before it.
        """
        if not self.possible:
            return None
        operators, returns = self._graph.operators, 0
        chosen: dict[str, str] = {}
        stack: list[tuple[list[str], int]] = []
        while len(stack) < len(operators):
            op = operators[len(stack)]
            stack.append((list(prefer(op, self._devices[op.name], chosen)), len(self._trail)))
            while stack:
                left, mark = stack[-1]
                self._undo(mark)
                op = operators[len(stack) - 1]
                if not left:
                    stack.pop()
                    returns += 1
                    if returns > MOST_RETURNS:
                        return None
                    continue
                chosen[op.name] = left.pop(0)
                if self._choose(op.name, chosen[op.name]):
                    break
            if not stack:
                return None
        return chosen

    def _choose(self, operator: str, device: str) -> bool:
        held = self._devices[operator]
        for other in sorted(held - {device}):
            self._remove(held, other)
        return self._narrow(self._of_operator[operator])

    def _remove(self, held: set[str], value: str) -> None:
        held.discard(value)
        self._trail.append((held, value))

    def _undo(self, mark: int) -> None:
        while len(self._trail) > mark:
            held, value = self._trail.pop()
            held.add(value)

    def _narrow(self, edges: Iterable[_Edge]) -> bool:
        """Remove choices without a partner; say whether each set has one left."""
        if not all(self._devices.values()) or not all(self._homes.values()):
            return False
        waiting = dict.fromkeys(edges)
        while waiting:
            edge = next(iter(waiting))
            del waiting[edge]
            devices, homes = self._devices[edge.operator], self._homes[edge.tensor]
            without = [d for d in devices if not any(self._fits(edge, d, h) for h in homes)]
            for device in without:
                self._remove(devices, device)
            alone = [h for h in homes if not any(self._fits(edge, d, h) for d in devices)]
            for home in alone:
                self._remove(homes, home)
            if not devices or not homes:
                return False
            waiting |= dict.fromkeys(self._of_operator[edge.operator] if without else ())
            waiting |= dict.fromkeys(self._of_tensor[edge.tensor] if alone else ())
        return True

    def _fits(self, edge: _Edge, device: str, home: str) -> bool:
        if edge.writes:
            return allows(self._soc.pool(home).reach[device], Access.WRITE)
        if (edge.operator, edge.tensor) in self._direct:
            return allows(self._soc.pool(home).reach[device], Access.READ)
        return self._routes.readable(device, home, self._graph.tensor(edge.tensor).size)

    def _all_edges(self) -> Iterable[_Edge]:
        for op in self._graph.operators:
            for name in op.outputs:
                yield _Edge(op.name, self._graph.storage(name), writes=True)
            for name in op.reads:
                storage = self._graph.storage(name)
                if self._graph.tensor(storage).data is None:
                    yield _Edge(op.name, storage, writes=False)

    def _first_homes(self, name: str, pinned: Mapping[str, Collection[str]]) -> set[str]:
        graph, host = self._graph, self._soc.host
        tensor = graph.tensor(name)
        needs = {host: Access.WRITE} if name in graph.filled else {}
        homes = homes_of(self._soc, needs, tensor)
        read = any(graph.storage(each) == name for each in graph.outputs)
        return {
            home
            for home in homes
            if home in pinned.get(name, homes)
            and (not read or self._routes.readable(host, home, tensor.size))
        }
