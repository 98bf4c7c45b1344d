"""Check that a graph from text, or from a pass over it, can be run in its order."""

from collections.abc import Iterator

from atoll.errors import AtollError, Fault
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of

_MISFITS = (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError)
"""How the check of a kind ends where operands or options are not those of any file."""


def verify_graph(graph: Graph) -> None:
    """Accept a graph whose operators pass their kinds' checks and read what was written before.

    Raises:
        ProgramError: E078; all broken rules.
        AtollError: the codes of front ends; an operator is none that Atoll compiles.
    """
    if faults := tuple(_faults(graph)):
        raise ProgramError.all(faults)


def _faults(graph: Graph) -> Iterator[Fault]:
    written = {tensor.name for tensor in graph.tensors if tensor.data is not None}
    written.update(graph.filled)
    names: set[str] = set()
    for op in graph.operators:
        where = f"operator '{op.name}'"
        if op.name in names:
            yield ill_formed(where, "has the name of another operator")
        names.add(op.name)
        yield from _unreadable(op, graph, written)
        for name in op.outputs:
            if name in written:
                yield ill_formed(where, f"writes '{name}', which is written before")
        written.update(op.outputs)
        yield from _misfit(op, graph)
    for name in graph.outputs:
        if not _is_there(name, graph, written):
            yield ill_formed(f"output '{name}'", "is never written")


def _unreadable(op: Operator, graph: Graph, written: set[str]) -> Iterator[Fault]:
    for name in op.reads:
        if not _is_there(name, graph, written):
            yield ill_formed(f"operator '{op.name}'", f"reads '{name}' before it is written")


def _is_there(name: str, graph: Graph, written: set[str]) -> bool:
    """Tell whether bytes of a tensor were written, under its name or that of another view."""
    storage = graph.storage(name)
    beside = (each.name for each in graph.tensors if storage in (each.name, each.view))
    return name in written or storage in written or not written.isdisjoint(beside)


def _misfit(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Yield a fault if an operator is none of its kind."""
    where = f"operator '{op.name}'"
    try:
        kind_of(op).check(op, graph)
    except AtollError as error:
        yield from error.faults
    except _MISFITS as fault:
        yield ill_formed(where, f"has not the operands and options of a {op.kind} ({fault!r:.80})")
