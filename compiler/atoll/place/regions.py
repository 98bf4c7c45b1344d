# SPDX-License-Identifier: Apache-2.0
"""The operators that an entry of build options names: one, those of a pattern, or a region."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from atoll.description.whom import Whom
from atoll.ir.graph import Graph, Operator

STRIPE = "_stripe"
"""What joins the name of an operator and the number of one of its stripes."""


def operators_of(entry: Whom, graph: Graph) -> tuple[Operator, ...]:
    """Return the operators that an entry names, or their stripes, in order.

    Those of a region lie on a way from its first to its last operator, both included.
    """
    if entry.operators is None:
        return tuple(between(graph, str(entry.first), str(entry.last)))
    return matching(entry.operators, graph)


def matching(pattern: str, graph: Graph) -> tuple[Operator, ...]:
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


def _names(op: Operator) -> tuple[str, str]:
    """Return what an operator is called, and the operator that it may be a stripe of."""
    return op.name, op.name.rpartition(STRIPE)[0] or op.name
