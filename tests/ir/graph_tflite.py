# SPDX-License-Identifier: Apache-2.0
"""Write a graph of text as a TFLite file: what a user has whose network it is.

TFLite has no copy, so the file has what the copies of the graph copy in their place.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.tflite_builder import Model, Tensor, write
from tests.tflite_builder import Operator as FileOperator

from atoll.ir.graph import Graph, Operator
from atoll.ir.graph import Tensor as GraphTensor
from atoll.ops.registry import COPY

_ACTIVATIONS = {"none": 0, "relu": 1, "relu6": 3}
_SCALE = 0.05
_WEIGHTS = 0.01


def _fused(op: Operator) -> dict[str, Any]:
    return {"FusedActivationFunction": _ACTIVATIONS[str(op.attributes["activation"])]}


_OPTIONS: Mapping[str, tuple[str, Callable[[Operator], dict[str, Any]]]] = {
    "add": ("AddOptions", _fused),
    "mul": ("MulOptions", _fused),
    "concatenation": (
        "ConcatenationOptions",
        lambda op: {**_fused(op), "Axis": op.attributes["axis"]},
    ),
    "conv_2d": (
        "Conv2DOptions",
        lambda op: {**_fused(op), "StrideH": 1, "StrideW": 1, "Padding": 1},
    ),
    "mean": ("ReducerOptions", lambda op: {"KeepDims": op.attributes["keep_dims"]}),
    "pad": ("", lambda _: {}),
    "reshape": ("", lambda _: {}),
}


def without_copies(graph: Graph) -> dict[str, str]:
    """Return what each tensor is a copy of in the end, which may be itself."""
    sources = {op.outputs[0]: op.inputs[0] for op in graph.operators if op.kind == COPY}
    found = {}
    for name in graph.by_name:
        found[name] = name
        while found[name] in sources:
            found[name] = sources[found[name]]
    return found


def file_names(graph: Graph) -> dict[str, str]:
    """Return the names that Atoll gives to the operators and tensors of the file."""
    names = {name: name for name in graph.inputs}
    for number, op in enumerate(op for op in graph.operators if op.kind != COPY):
        names[op.name] = f"{op.kind}_{number}"
        names[op.outputs[0]] = f"{names[op.name]}_out"
    return names


def tflite(graph: Graph) -> bytes:
    """Return the bytes of a file whose graph prints as `graph`, less its copies and requests."""
    of = without_copies(graph)
    kept = [tensor for tensor in graph.tensors if of[tensor.name] == tensor.name]
    number = {tensor.name: at for at, tensor in enumerate(kept)}
    readers = {name: op for op in graph.operators for name in op.inputs}
    return write(
        Model(
            tensors=tuple(_tensor(each, readers.get(each.name), graph) for each in kept),
            operators=tuple(
                FileOperator(
                    code=op.kind.upper(),
                    inputs=tuple(number[of[name]] for name in op.inputs),
                    outputs=tuple(number[name] for name in op.outputs),
                    table=_OPTIONS[op.kind][0],
                    options=_OPTIONS[op.kind][1](op),
                )
                for op in graph.operators
                if op.kind != COPY
            ),
            inputs=tuple(number[name] for name in graph.inputs),
            outputs=tuple(number[of[name]] for name in graph.outputs),
        )
    )


def _tensor(tensor: GraphTensor, reader: Operator | None, graph: Graph) -> Tensor:
    scales: dict[str, Any] = {"scales": (_SCALE,), "zero_points": (-3,)}
    if tensor.data is None:
        return Tensor(shape=tensor.shape, name=tensor.name, **scales)
    assert reader is not None
    if reader.kind != "conv_2d":
        return Tensor(
            shape=tensor.shape,
            dtype=tensor.dtype,
            data=np.array(_numbers(reader, graph), np.int32).reshape(tensor.shape),
        )
    bias = tensor.dtype == "int32"
    return Tensor(
        shape=tensor.shape,
        dtype=tensor.dtype,
        scales=(_WEIGHTS * _SCALE if bias else _WEIGHTS,),
        zero_points=(0,),
        data=(np.arange(np.prod(tensor.shape)) % 7 - 3).reshape(tensor.shape).astype(tensor.dtype),
    )


def _numbers(op: Operator, graph: Graph) -> list[int]:
    """Return the constant that makes an operand into a result of its shape."""
    before, after = (graph.by_name[name].shape for name in (op.inputs[0], op.outputs[0]))
    match op.kind:
        case "pad":
            grown = [new - old for old, new in zip(before, after, strict=True)]
            return [half for more in grown for half in (more // 2, more - more // 2)]
        case "mean":
            return [axis for axis, extent in enumerate(after) if extent != before[axis]]
        case _:
            return list(after)
