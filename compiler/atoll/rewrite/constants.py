# SPDX-License-Identifier: Apache-2.0
"""Operators on nothing but constants are computed now."""

from dataclasses import replace

import numpy as np

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.registry import OPERATORS, kind_of
from atoll.rewrite.edit import Given, with_parts

GROWTH = 4096
"""Bytes by which a result may be larger than what it is made of."""


def fold_constants(graph: Graph, given: Given) -> Graph:
    """Replace results of constants by constants, where they take little more room.

    Outputs of the network are written by operators, and stay as they are.
    """
    known = {tensor.name: tensor for tensor in graph.tensors}
    folded: dict[str, Tensor] = {}
    kept: list[Operator] = []
    for op in graph.operators:
        made = _fold(op, graph, known) if given.may_go(op, graph) else ()
        folded |= {tensor.name: tensor for tensor in made}
        known |= folded
        if not made:
            kept.append(op)
    return with_parts(graph, kept, folded) if folded else graph


def _fold(op: Operator, graph: Graph, known: dict[str, Tensor]) -> tuple[Tensor, ...]:
    """Return the results of an operator as constants, none where it must run."""
    inputs = [known[name] if name else None for name in op.inputs]
    held = sum(tensor.size for tensor in inputs if tensor)
    constant = all(tensor.data is not None for tensor in inputs if tensor)
    results = graph.results(op)
    if op.kind not in OPERATORS or not constant:
        return ()
    if sum(tensor.size for tensor in results) > held + GROWTH:
        return ()
    at = replace(graph, tensors=tuple(known.values()))
    arrays = kind_of(op).reference(op, at, [tensor.array if tensor else None for tensor in inputs])
    return tuple(
        replace(tensor, data=np.ascontiguousarray(array).tobytes())
        for tensor, array in zip(results, arrays, strict=True)
    )
