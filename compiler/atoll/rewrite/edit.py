# SPDX-License-Identifier: Apache-2.0
"""What passes have in common: what must stay, who reads a tensor, and a network made anew."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.records import dataclass


def _no_device(op: Operator, graph: Graph) -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What passes are told beside the network.

    Attributes:
        named: operators and tensors that the user's requests name, which must stay.
        runs: the accelerators that can run an operator of a graph, by name.
        patterned: kinds that are part of what some accelerator takes as one; they are not fused.
    """

    named: frozenset[str] = frozenset()
    runs: Callable[[Operator, Graph], frozenset[str]] = _no_device
    patterned: frozenset[str] = frozenset()

    def may_go(self, op: Operator, graph: Graph) -> bool:
        """Tell whether an operator and its results may be left out: only operators name them."""
        fixed = self.named | {*graph.kept}
        return op.body is None and fixed.isdisjoint((op.name, *op.outputs))


def reads(graph: Graph) -> Mapping[str, int]:
    """Return how often each tensor is read, by operators and by the caller or the next run."""
    return Counter([*(name for op in graph.operators for name in op.reads), *graph.kept])


def with_parts(
    graph: Graph, operators: Iterable[Operator], tensors: Mapping[str, Tensor] | None = None
) -> Graph:
    """Return the graph with other operators, some other tensors, and none that nobody names."""
    operators, others = tuple(operators), tensors or {}
    named = {*graph.filled, *graph.outputs}
    named.update(name for op in operators for name in (*op.reads, *op.outputs))
    kept = (others.get(tensor.name, tensor) for tensor in graph.tensors if tensor.name in named)
    return replace(graph, operators=operators, tensors=tuple(kept))


def without(graph: Graph, instead: Mapping[str, str]) -> Graph:
    """Return the graph without the operators that made the keys, whose values are read instead."""
    if not instead:
        return graph
    return with_parts(
        graph,
        (
            op.rename_operands(instead)
            for op in graph.operators
            if instead.keys().isdisjoint(op.outputs)
        ),
    )
