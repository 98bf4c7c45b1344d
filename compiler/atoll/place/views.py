"""Reshapes that move no byte: their result is a view of the tensor that they read."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import kind_of
from atoll.place.candidates import homes_of, needs_of
from atoll.place.elide_copies import ElideCopies
from atoll.place.partition import Decision
from atoll.resolve.soc import Access, ResolvedSoc


def with_views(graph: Graph, soc: ResolvedSoc) -> Graph:
    """Return a placed graph whose reshapes are views wherever one storage can serve.

    The operator goes; its output stays, as a view of its input. That needs a pool which all the
    devices that touch either reach, and an output that the caller does not read. A copy made only
    for a device whose reshape is gone goes too, so planning the result again changes nothing (P3).
    """
    elide = ElideCopies(soc)
    before = None
    while graph != before:
        before, graph = graph, elide.run(_Viewer(graph, soc).run())
    return graph


@dataclass
class _Viewer:
    """Follows the operators in their order."""

    graph: Graph
    soc: ResolvedSoc
    tensors: dict[str, Tensor] = field(init=False)
    needs: dict[str, dict[str, Access]] = field(init=False)

    def __post_init__(self) -> None:
        self.tensors = dict(self.graph.by_name)
        wanted = needs_of(self.graph, self.soc)
        self.needs = {name: dict(needs) for name, needs in wanted.items()}

    def run(self) -> Graph:
        operators = tuple(self._kept())
        return replace(self.graph, operators=operators, tensors=tuple(self.tensors.values()))

    def _kept(self) -> Iterator[Operator]:
        for op in self.graph.operators:
            if not kind_of(op).view or not self._viewed(op):
                yield op

    def _viewed(self, op: Operator) -> bool:
        """Make the output of `op` a view, if that is possible."""
        source, (result,) = self.tensors[op.inputs[0]], op.outputs
        storage, view = self.tensors[source.view or source.name], self.tensors[result]
        needs = dict(self.needs[storage.name])
        for device, need in self.needs[result].items():
            if device != op.device and needs.get(device) is not Access.WRITE:
                needs[device] = need
        pool = storage.pool or view.pool
        shared = replace(storage, pool=pool)
        possible = view.pool in ("", pool) and homes_of(self.soc, needs, shared)
        if result in self.graph.outputs or storage.data is not None or not possible:
            return False
        self.tensors |= {storage.name: shared, result: replace(view, view=storage.name, pool="")}
        self.needs[storage.name] = needs
        return True


def described(decisions: tuple[Decision, ...], graph: Graph) -> tuple[Decision, ...]:
    """Say of every operator that has become a view that it runs nowhere."""
    kept = {op.name for op in graph.operators}
    return tuple(
        decision
        if decision.operator in kept
        else replace(decision, reason="no byte moves: its output is a view", rejected=())
        for decision in decisions
    )
