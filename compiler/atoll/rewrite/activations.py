# SPDX-License-Identifier: Apache-2.0
"""RELU and its like become the fused activation of the operator whose result they read."""

from dataclasses import replace
from functools import partial

import numpy as np

from atoll.diagnostics.errors import AtollError, attempt_edit
from atoll.ir.graph import Graph, Operator
from atoll.ops.quantization import ACTIVATIONS, activation_range
from atoll.ops.registry import OPERATORS, kind_of
from atoll.rewrite.edit import Given, reads, with_parts

_VALUES = np.arange(256, dtype=np.uint8).view(np.int8)


def fuse_activations(graph: Graph, given: Given) -> Graph:
    """Let operators clamp what they make, where nothing else reads it before it is clamped.

    That is so where the table of the second operator clamps just as a fused activation does; both
    results then have one scale. The name of the second result stays.
    """
    count, made = reads(graph), {name: op for op in graph.operators for name in op.outputs}
    fused: dict[str, Operator] = {}
    gone = set[str]()
    for op in graph.operators:
        maker = made.get(op.inputs[0]) if len(op.inputs) == 1 else None
        maker = fused.get(maker.name, maker) if maker else None
        if maker is None or count[op.inputs[0]] != 1 or not given.may_go(maker, graph):
            continue
        if (
            op.name in given.named
            or op.kind in given.patterned
            or maker.attributes.get("activation") != "none"
        ):
            continue
        if chosen := _activation(op, maker, graph):
            options = {**maker.attributes, "activation": chosen}
            whole = replace(maker, outputs=op.outputs, attributes=options)
            if _takes_activation(whole, graph) and given.runs(maker, graph) <= given.runs(
                whole, graph
            ):
                fused[maker.name] = whole
                gone.add(op.name)
    if not fused:
        return graph
    left = (op for op in graph.operators if op.name not in gone)
    return with_parts(graph, (fused.get(op.name, op) for op in left))


def _takes_activation(op: Operator, graph: Graph) -> bool:
    """Tell whether a kind takes an activation: CONCATENATION, for one, has the option in vain."""
    return not isinstance(attempt_edit(partial(kind_of(op).check, op, graph)), AtollError)


def _activation(op: Operator, maker: Operator, graph: Graph) -> str:
    """Return the fused activation that does what `op` does to the result of `maker`, else ""."""
    if not {op.kind, maker.kind} <= OPERATORS.keys() or op.body is not None:
        return ""
    source, (result,) = graph.tensor(op.inputs[0]), graph.results(op)
    if (source.quantization, source.shape) != (result.quantization, result.shape):
        return ""
    table = kind_of(op).table(op, graph)
    if table is None:
        return ""
    for name in ACTIVATIONS:
        bounded = replace(maker, attributes={"activation": name})
        if np.array_equal(table, np.clip(_VALUES, *activation_range(bounded, source))):
            return name if name != "none" else ""
    return ""
