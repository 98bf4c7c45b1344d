# SPDX-License-Identifier: Apache-2.0
"""The operators that an entry of build options names: one, those of a pattern, or a region."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from atoll.description.whom import Whom
from atoll.ir.graph import Graph, Operator

STRIPE = "_stripe"
"""What joins the name of an operator and the number of one of its stripes."""

_OF_STRIPE = re.compile(rf"{STRIPE}\d+(?:_+$)?")


def whole_name(name: str) -> str:
    """Return what a buffer of a stripe is called where its operator is not cut."""
    return _OF_STRIPE.sub("", name)


def operators_of(entry: Whom, graph: Graph) -> tuple[Operator, ...]:
    """Return the operators that an entry names, or their stripes, in order.

    Those of a region lie on a way from its first to its last operator, both included.
    """
    if entry.operators is None:
        return tuple(between(graph, str(entry.first), str(entry.last)))
    return matching_operators(entry.operators, graph)


def matching_operators(pattern: str, graph: Graph) -> tuple[Operator, ...]:
    """Return the operators that a name or a pattern means, or their stripes, in order."""
    return tuple(
        op for op in graph.operators if pattern in _names(op) or fnmatchcase(_names(op)[1], pattern)
    )


def between(graph: Graph, first: str, last: str) -> Iterator[Operator]:
    """Yield the operators that something flows through from `first` to `last`, both included."""
    after = set[str]()
    behind: list[Operator] = []
    for op in graph.operators:
        if first in _names(op) or after.intersection(op.reads):
            after.update(op.outputs)
            behind.append(op)
    before, inside = set[str](), set[str]()
    for op in reversed(behind):
        if last in _names(op) or before.intersection(op.outputs):
            before.update(op.reads)
            inside.add(op.name)
    yield from (op for op in behind if op.name in inside)


def parts_of(graph: Graph) -> dict[str, list[str]]:
    """Return the tensors that hold rows of one of the network, by the name of that."""
    found: dict[str, list[str]] = {}
    for tensor in graph.tensors:
        if tensor.rows_of:
            found.setdefault(tensor.rows_of, []).append(tensor.name)
    return found


def results_of(op: Operator, graph: Graph) -> tuple[str, ...]:
    """Return what an operator makes; of a stripe also what its rows are joined to."""
    wholes = (graph.tensor(name).rows_of for name in op.outputs)
    return (*op.outputs, *(name for name in wholes if name in graph.by_name))


def _names(op: Operator) -> tuple[str, str]:
    """Return what an operator is called, and the operator that it may be a stripe of."""
    return op.name, op.name.rpartition(STRIPE)[0] or op.name
