# SPDX-License-Identifier: Apache-2.0
"""Judge a graph that another package's front end made, before anything trusts it."""

from collections.abc import Iterator

from atoll.diagnostics.errors import AtollError
from atoll.ir.graph import ITEM_BYTES, Graph, Operator
from atoll.ops.registry import KINDS
from atoll.plugins.loading import CORRECT_MEMBER


def verify_graph(
    graph: object, who: str, did: str = "returned", remedy: str = CORRECT_MEMBER
) -> Graph:
    """Return `graph` if it is one.

    Raises:
        AtollError: E112; what `who` returned is something else, or its names do not fit each other.
    """
    wrong: str | None = f"an object of type '{type(graph).__name__}'"
    if isinstance(graph, Graph):
        wrong = next(_wrong(graph), None)
        if wrong is None:
            return graph
    raise AtollError("E112", f"{who} {did} {wrong}", remedy=remedy)


def _wrong(graph: Graph) -> Iterator[str]:
    """Yield what is wrong with names, types, sizes and order; kinds judge their operators."""
    for names in ([op.name for op in graph.operators], [t.name for t in graph.tensors]):
        for name in names:
            if not (name.isidentifier() and name.isascii()):
                yield f"a graph with the name '{name}', which is no identifier in C"
            if names.count(name) > 1:
                yield f"a graph with two things called '{name}'"
    for tensor in graph.tensors:
        if tensor.dtype not in ITEM_BYTES or any(extent < 1 for extent in tensor.shape):
            yield f"a graph with tensor '{tensor.name}' of {tensor.dtype}{list(tensor.shape)}"
        elif tensor.data is not None and len(tensor.data) != tensor.size:
            yield f"a graph with {len(tensor.data)} bytes of data for constant '{tensor.name}'"
    yield from _out_of_order(graph)


def _out_of_order(graph: Graph) -> Iterator[str]:
    known = {tensor.name for tensor in graph.tensors if tensor.data is not None}
    unwritten = {tensor.name for tensor in graph.tensors} - known
    for op in (_caller(graph.filled), *graph.operators):
        if op.kind and op.kind not in KINDS.names():
            yield f"a graph with an operator of kind '{op.kind}', which there is not"
        for name in filter(None, op.inputs):
            if name not in known:
                yield f"a graph in which '{op.name}' reads '{name}' before it is written"
        for name in op.outputs:
            if name not in unwritten:
                yield f"a graph in which '{op.name}' writes '{name}', which it cannot write"
        known.update(op.outputs)
        unwritten.difference_update(op.outputs)
    for name in graph.outputs:
        if name not in known:
            yield f"a graph with output '{name}', which nothing writes"


def _caller(inputs: tuple[str, ...]) -> Operator:
    """Return the caller as an operator that writes the graph's inputs."""
    return Operator(name="the caller", kind="", inputs=(), outputs=inputs, attributes={})
