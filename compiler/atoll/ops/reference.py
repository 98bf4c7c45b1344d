"""Run a graph on its exact references: what every device must compute, bit for bit."""

from collections.abc import Mapping

import numpy as np

from atoll.ir.graph import Graph
from atoll.ops.kind import Array
from atoll.ops.registry import kind_of


def run(graph: Graph, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Compute every tensor of one sample.

    Args:
        graph: a graph whose operators passed their checks, placed or not.
        inputs: each graph input by name, in its tensor's type and shape.

    Returns:
        Inputs, constants, intermediate tensors and outputs by name.
    """
    values = {tensor.name: tensor.array for tensor in graph.tensors if tensor.data is not None}
    for name in graph.inputs:
        tensor, value = graph.tensor(name), inputs[name]
        assert value.shape == tensor.shape, f"{tensor}: {value.shape}"
        assert value.dtype == np.dtype(tensor.dtype), f"{tensor}: {value.dtype}"
        values[name] = value
    views = {tensor.name: tensor for tensor in graph.tensors if tensor.view}

    def viewed(name: str) -> Array:
        if name in views:
            return values[views[name].view].reshape(views[name].shape)
        return values[name]

    for op in graph.operators:
        arguments = [viewed(name) if name else None for name in op.inputs]
        values.update(zip(op.outputs, kind_of(op).reference(op, graph, arguments), strict=True))
    return values | {name: viewed(name) for name in views}
