# SPDX-License-Identifier: Apache-2.0
"""Constants without elements: a shape of a scalar, no axes, a part that joins nothing.

They are in no graph: each operator that reads one becomes what it then does.
"""

from collections.abc import Collection
from dataclasses import replace

from atoll.frontend.tflite.edges import RESHAPE
from atoll.frontend.tflite.reader import FileModel, FileOperator
from atoll.ops.elements.rescaling import Quantize

_MOVED = frozenset({"MIRROR_PAD", "REDUCE_ALL", "REDUCE_MAX", "REDUCE_MIN", "RESHAPE", "SLICE"})
"""What hands its first operand on where the others have no elements."""

_RESCALED = frozenset({"MEAN", "SUM"})
"""What rescales each element then, as QUANTIZE does."""


def without_empties(model: FileModel) -> FileModel:
    """Return the model without operands that have no elements; others stay for the checks."""
    given = {*model.inputs, *(number for op in model.operators for number in op.outputs)}
    empty = {
        tensor.index
        for tensor in model.tensors
        if min(tensor.shape, default=1) == 0 and tensor.index not in given and not tensor.variable
    }
    operators = (_without(op, empty) if empty & {*op.inputs} else op for op in model.operators)
    return replace(model, operators=tuple(operators))


def _without(op: FileOperator, empty: Collection[int]) -> FileOperator:
    first, *others = op.inputs
    if op.code == "CONCATENATION":
        kept = tuple(number for number in op.inputs if number not in empty)
        return replace(op, inputs=kept) if kept else op
    if first in empty or not all(number in empty for number in others):
        return op
    if op.code in _MOVED:
        return replace(op, kind="reshape", form=RESHAPE, inputs=(first,))
    if op.code in _RESCALED:
        return replace(op, kind="quantize", form=Quantize.tflite, inputs=(first,))
    return op
