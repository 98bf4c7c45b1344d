# SPDX-License-Identifier: Apache-2.0
"""What is computed twice from the same operands is computed once."""

from atoll.ir.graph import Graph, Tensor
from atoll.rewrite.edit import Given, without


def share_operators(graph: Graph, given: Given) -> Graph:
    """Read the first result in the place of a second one of equal operands and options.

    Equal constants are equal operands. Outputs of the network stay bytes of their own.
    """
    first: dict[object, tuple[str, ...]] = {}
    instead: dict[str, str] = {}
    for op in graph.operators:
        if op.body is not None:
            continue
        operands = tuple(_value(instead.get(name, name), graph) for name in op.inputs)
        results = tuple((t.shape, t.dtype, t.quantization) for t in graph.results(op))
        options = tuple(sorted(op.attributes.items()))
        key = (op.kind, operands, options, results)
        outputs = first.setdefault(key, op.outputs)
        if outputs is not op.outputs and given.may_go(op, graph):
            instead |= dict(zip(op.outputs, outputs, strict=True))
    return without(graph, instead)


def _value(name: str, graph: Graph) -> object:
    """Return what two operands have in common if they have the same value."""
    if not name:
        return name
    tensor: Tensor = graph.tensor(name)
    if tensor.data is None:
        return name
    return (tensor.shape, tensor.dtype, tensor.quantization, tensor.data)
