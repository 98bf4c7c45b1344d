# SPDX-License-Identifier: Apache-2.0
"""Second tensors with the content of a first one, and the copies that fill them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import COPY
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Replica:
    """A second tensor with the content of `source`, for operators that cannot read the first.

    Attributes:
        source: name of the tensor that it repeats.
        tensor: the new one.
        readers: names of the operators that read it in place of `source`.
    """

    source: str
    tensor: Tensor
    readers: frozenset[str]


class ReplicaNames:
    """Makes names that a graph does not have yet."""

    def __init__(self, graph: Graph) -> None:
        self._taken = {tensor.name for tensor in graph.tensors}

    def replica(self, source: Tensor, readers: Iterable[str], pools: Sequence[str] = ()) -> Replica:
        """Make a replica of `source` in one of `pools`, or in any pool; that of a state is none."""
        name = next(
            name
            for number in count(1)
            if (name := f"{source.name}_copy{number}") not in self._taken
        )
        self._taken.add(name)
        tensor = replace(source, name=name, index=-1, pools=tuple(pools), initial=None)
        return Replica(source.name, tensor, frozenset(readers))


def readers_of(graph: Graph) -> dict[str, list[Operator]]:
    """Return the operators that read each tensor, in order, each once."""
    readers: dict[str, list[Operator]] = {tensor.name: [] for tensor in graph.tensors}
    for op in graph.operators:
        for name in dict.fromkeys(op.reads):
            readers[name].append(op)
    return readers


def with_replicas(graph: Graph, mover: str, replicas: Sequence[Replica]) -> Graph:
    """Return the graph with copies on `mover`, each right before its first reader, else at the end.

    A replica of a constant is a constant and needs no copy.
    """
    if not replicas:
        return graph
    tensors = (*graph.tensors, *(replica.tensor for replica in replicas))
    return replace(graph, tensors=tensors, operators=tuple(_operators(graph, mover, replicas)))


def _operators(graph: Graph, mover: str, replicas: Sequence[Replica]) -> Iterator[Operator]:
    served: dict[str, list[Replica]] = {}
    for replica in replicas:
        for reader in replica.readers:
            served.setdefault(reader, []).append(replica)
    numbers = copy_names(graph)
    filled: set[str] = set()
    for op in graph.operators:
        mine = served.get(op.name, [])
        for replica in mine:
            if replica.tensor.data is None and replica.tensor.name not in filled:
                filled.add(replica.tensor.name)
                yield _copy(replica, mover, next(numbers))
        names = {replica.source: replica.tensor.name for replica in mine}
        yield op.rename_operands(names)
    for replica in replicas:
        if not replica.readers:
            yield _copy(replica, mover, next(numbers))


def with_exits(graph: Graph, replicas: Sequence[Replica]) -> Graph:
    """Return the graph whose outputs are the replicas of what they were, under the same names."""
    if not replicas:
        return graph
    names = {replica.source: replica.tensor.name for replica in replicas}
    names |= {name: source for source, name in names.items()}
    known = graph.by_name

    def rename(tensor: Tensor) -> Tensor:
        if tensor.name not in names:
            return tensor
        name = names[tensor.name]
        return replace(tensor, name=name, index=known[name].index)

    operators = (
        replace(
            op.rename_operands(names), outputs=tuple(names.get(name, name) for name in op.outputs)
        )
        for op in graph.operators
    )
    return replace(graph, tensors=tuple(map(rename, graph.tensors)), operators=tuple(operators))


def copy_names(graph: Graph) -> Iterator[str]:
    """Yield names for copies that no operator of `graph` has."""
    taken = {op.name for op in graph.operators}
    return (name for number in count() if (name := f"{COPY}_{number}") not in taken)


def _copy(replica: Replica, mover: str, name: str) -> Operator:
    return Operator(
        name=name,
        kind=COPY,
        inputs=(replica.source,),
        outputs=(replica.tensor.name,),
        attributes={},
        device=mover,
    )
