# SPDX-License-Identifier: Apache-2.0
"""What constants and shapes alone decide is computed when a file is loaded, by the references."""

from contextlib import suppress
from dataclasses import field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.checks import is_constant
from atoll.frontend.tflite.islands import quantize
from atoll.frontend.tflite.operators import graph_operator, graph_tensor
from atoll.frontend.tflite.reader import FileBuffer, FileModel, FileOperator, FileTensor, Held
from atoll.ir.graph import ITEM_BYTES, Graph, Tensor
from atoll.ops.checks import QUANTIZED
from atoll.ops.registry import KINDS
from atoll.records import dataclass

MOST_KNOWN = 1024
"""Numbers that an operator makes when a file is loaded."""

_DECIDED = {"LOGICAL_AND": False, "LOGICAL_OR": True}
"""Logical operators, and the value of one operand with which any other one changes nothing."""

MOST_READ = 2**16
"""Numbers that it reads for that."""


def with_known(model: FileModel) -> FileModel:
    """Compute plain numbers, such as other shapes, and what constant real numbers are as integers.

    The operator stays where the model hands out its result; others then read a constant of theirs.
    """
    found = Known([*model.tensors], [*model.buffers])
    kept: list[FileOperator] = []
    for each in model.operators:
        op = replace(each, inputs=tuple(found.instead.get(n, n) for n in each.inputs))
        values = known_values(found, op) if _plain(found, op) else None
        if values is None or op.outputs[0] in model.outputs:
            kept.append(op)
        if values is not None:
            found.hold(op.outputs[0], values, own=op.outputs[0] in model.outputs)
    if len(found.buffers) == len(model.buffers):
        return model
    tensors, buffers = tuple(found.tensors), tuple(found.buffers)
    return replace(model, tensors=tensors, buffers=buffers, operators=tuple(kept))


@dataclass
class Known:
    """The tensors of a model, more and more of them constants.

    Attributes:
        instead: constants that are read in the place of results.
    """

    tensors: list[FileTensor]
    buffers: list[FileBuffer]
    instead: dict[int, int] = field(default_factory=dict)

    def hold(self, number: int, values: bytes, *, own: bool = False) -> None:
        """Make a constant of a tensor, or, in a tensor of its `own`, of what others read of it."""
        constant = replace(self.tensors[number], buffer=len(self.buffers))
        self.buffers.append(FileBuffer(data=memoryview(values), external=False))
        if own:
            self.instead[number] = len(self.tensors)
            self.tensors.append(replace(constant, index=len(self.tensors)))
        else:
            self.tensors[number] = constant


def _plain(model: Held, op: FileOperator) -> bool:
    """Tell whether an operator makes integers that stand for no real numbers, or reads such."""
    if op.code == "QUANTIZE":
        return any(model.tensors[n].dtype == "float32" for n in op.inputs if n >= 0)
    results = [model.tensors[number] for number in op.outputs]
    return all(each.dtype in ("int32", "int64") and not each.scales for each in results)


def known_values(model: Held, op: FileOperator) -> bytes | None:
    """Return the only result of an operator, None where it is not known or of many elements."""
    return _quantize(model, op) if op.code == "QUANTIZE" else _compute(model, op)


def _quantize(model: Held, op: FileOperator) -> bytes | None:
    """Return constant real numbers as integers."""
    if len(op.inputs) != 1 or len(op.outputs) != 1 or op.inputs[0] < 0:
        return None
    source, target = model.tensors[op.inputs[0]], model.tensors[op.outputs[0]]
    one = len(target.scales) == len(target.zero_points) == 1
    if source.dtype != "float32" or target.dtype not in QUANTIZED or not one:
        return _compute(model, op)
    real = model.buffers[source.buffer].data if is_constant(model, source) else b""
    if not real or len(real) != 4 * prod(target.shape):
        return None
    return quantize(np.frombuffer(real, np.float32), target).tobytes()


def _compute(model: Held, op: FileOperator) -> bytes | None:
    """Return what a reference computes."""
    inputs = [model.tensors[number] for number in op.inputs if number >= 0]
    if op.kind not in KINDS.own or len(op.outputs) != 1 or not inputs:
        return None
    kind, result = KINDS.get(op.kind), model.tensors[op.outputs[0]]
    if result.dtype not in ITEM_BYTES or prod(result.shape) > MOST_KNOWN:
        return None
    decided = any(_decides(model, op, tensor) for tensor in inputs)
    held = decided or all(is_constant(model, tensor) for tensor in inputs)
    few = sum(prod(tensor.shape) for tensor in inputs) <= MOST_READ
    if not kind.of_shapes_alone and not (held and few):
        return None
    names = {tensor.index: f"t{tensor.index}" for tensor in (*inputs, result)}
    with suppress(ModelError):
        operator = graph_operator(model, op, names)
        tensors = (graph_tensor(model, model.tensors[at], name) for at, name in names.items())
        graph = Graph("", tuple(tensors), (operator,), (), operator.outputs)
        kind.check(operator, graph)
        operands = graph.operands(operator)
        given = [_value(tensor, decided=decided) for tensor in operands]
        (values,) = kind.reference(operator, graph, given)
        return values.tobytes()
    return None


def _value(tensor: Tensor | None, *, decided: bool) -> NDArray[np.generic] | None:
    """Return the value of a constant, any for another operand if the result is decided."""
    if tensor and not tensor.data and decided:
        return np.zeros(tensor.shape, np.bool_)
    return tensor.array if tensor and tensor.data else None


def _decides(model: Held, op: FileOperator, operand: FileTensor) -> bool:
    """Tell whether the result of a logical operator is the same whatever its other operand is."""
    if op.code not in _DECIDED or operand.dtype != "bool" or not is_constant(model, operand):
        return False
    return {bool(each) for each in model.buffers[operand.buffer].data} == {_DECIDED[op.code]}
