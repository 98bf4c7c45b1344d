# SPDX-License-Identifier: Apache-2.0
"""Check that a graph from text, or from a pass over it, can be run in its order."""

from collections.abc import Iterator

from atoll.diagnostics.errors import AtollError, Fault
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of

_MISFITS = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""How the check of a kind ends where operands or options are not those of any file."""


def verify_graph(graph: Graph, accepted: Graph | None = None) -> None:
    """Accept a graph whose operators pass their kinds' checks and read what was written before.

    Args:
        graph: any.
        accepted: one with the same inputs and outputs, whose operators were judged; those that it
            has, with other tensors of the same values, are not judged again.

    Raises:
        ProgramError: E078; all broken rules.
        AtollError: the codes of front ends; an operator is none that Atoll compiles.
    """
    faults = [*_order_faults(graph)]
    faults += (fault for op in _new_operators(graph, accepted) for fault in _misfit(op, graph))
    if accepted and (accepted.inputs, accepted.outputs) != (graph.inputs, graph.outputs):
        faults.append(ill_formed("the graph", "has other inputs or outputs than it had"))
    if faults:
        raise ProgramError.all(faults)


def _order_faults(graph: Graph) -> Iterator[Fault]:
    written = {tensor.name for tensor in graph.tensors if tensor.data is not None}
    written.update(graph.filled)
    in_part = {graph.storage(name) for name in written}
    names: set[str] = set()
    for op in graph.operators:
        where = f"operator '{op.name}'"
        if op.name in names:
            yield ill_formed(where, "has the name of another operator")
        for name in op.reads:
            if name not in written and graph.storage(name) not in in_part:
                yield ill_formed(where, f"reads '{name}' before it is written")
        for name in op.outputs:
            if name in written:
                yield ill_formed(where, f"writes '{name}', which is written before")
        names.add(op.name)
        written.update(op.outputs)
        in_part.update(map(graph.storage, op.outputs))
    for name in graph.outputs:
        if name not in written and graph.storage(name) not in in_part:
            yield ill_formed(f"output '{name}'", "is never written")


def _new_operators(graph: Graph, accepted: Graph | None) -> Iterator[Operator]:
    known = {op.name: _form(op) for op in accepted.operators} if accepted else {}
    yield from (op for op in graph.operators if known.get(op.name) != _form(op))


def _form(op: Operator) -> tuple[object, ...]:
    """Return the kind of an operator, and which operands and how many results it has."""
    return op.kind, tuple(map(bool, op.inputs)), len(op.outputs)


def _misfit(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Yield a fault if an operator is none of its kind."""
    where = f"operator '{op.name}'"
    try:
        kind_of(op).check(op, graph)
    except AtollError as error:
        yield from error.faults
    except _MISFITS as fault:
        yield ill_formed(where, f"has not the operands and options of a {op.kind} ({fault!r:.80})")
