# SPDX-License-Identifier: Apache-2.0
"""Operators that are compiled as simpler ones: a network is written with those alone."""

from collections.abc import Iterator
from dataclasses import replace

from atoll.ir.graph import Graph, Operator
from atoll.ops.kind import Parts
from atoll.ops.registry import kind_of


def in_parts(graph: Graph) -> Graph:
    """Return a network whose operators passed their checks, each as its kind's `parts` say.

    The order of operators, the interface and the names that the network has stay.
    """
    if all(kind_of(op).parts(op, graph) is None for op in graph.operators):
        return graph
    operators, tensors = list[Operator](), list(graph.tensors)
    taken = {*graph.by_name, *(op.name for op in graph.operators)}
    for op in graph.operators:
        parts = kind_of(op).parts(op, graph)
        if parts is None:
            operators.append(op)
            continue
        parts = _rename(parts, taken - {op.name})
        operators += parts.operators
        tensors += parts.tensors
        taken |= set(_names(parts))
    named = {*graph.filled, *graph.outputs}
    named.update(name for op in operators for name in (*op.inputs, *op.outputs))
    kept = (tensor for tensor in tensors if tensor.name in named)
    return replace(graph, operators=tuple(operators), tensors=tuple(kept))


def _names(parts: Parts) -> Iterator[str]:
    yield from (tensor.name for tensor in parts.tensors)
    yield from (op.name for op in parts.operators)


def _rename(parts: Parts, taken: set[str]) -> Parts:
    """Give what is new names that nothing has."""
    names: dict[str, str] = {}
    for name in _names(parts):
        new = name
        while new in taken or new in names.values():
            new += "_"
        names[name] = new

    def rename(tensors: tuple[str, ...]) -> tuple[str, ...]:
        own = {tensor.name for tensor in parts.tensors}
        return tuple(names[name] if name in own else name for name in tensors)

    return Parts(
        operators=tuple(
            replace(op, name=names[op.name], inputs=rename(op.inputs), outputs=rename(op.outputs))
            for op in parts.operators
        ),
        tensors=tuple(replace(tensor, name=names[tensor.name]) for tensor in parts.tensors),
    )
