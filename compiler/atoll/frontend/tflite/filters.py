# SPDX-License-Identifier: Apache-2.0
"""Filters of dense layers that have a zero point: the operands become ones without."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.tflite.checks import is_constant
from atoll.frontend.tflite.edges import copy_of
from atoll.frontend.tflite.reader import FileBuffer, FileModel, FileOperator, FileTensor
from atoll.frontend.tflite.tensor_names import operator_name
from atoll.ops.quantization import INT8_MAX, INT8_MIN
from atoll.ops.tflite_form import TfliteForm

_JOIN = TfliteForm(code="CONCATENATION", read=lambda options, shapes: dict(options))
"""Of an operator whose options are its attributes."""


def with_symmetric_filters(model: FileModel) -> FileModel:
    """Subtract the zero point of each constant filter of a FULLY_CONNECTED that has one scale.

    Where a difference leaves 8 bits, it becomes the sum of two, and the input is there twice.
    TFLM heeds no zero points of several scales: such filters stay for the checks to refuse.
    """
    last = max((op.index for op in model.operators), default=-1)
    making = _Making([*model.tensors], [*model.buffers], last)
    operators = tuple(each for op in model.operators for each in making.operators(op))
    if len(making.tensors) == len(model.tensors):
        return model
    tensors, buffers = tuple(making.tensors), tuple(making.buffers)
    return replace(model, tensors=tensors, buffers=buffers, operators=operators)


class _Making:
    """The tensors and buffers of a model in the making."""

    def __init__(
        self, tensors: list[FileTensor], buffers: list[FileBuffer], last_index: int
    ) -> None:
        self.tensors, self.buffers, self._index = tensors, buffers, last_index

    def operators(self, op: FileOperator) -> Iterator[FileOperator]:
        """Yield an operator, with what goes in front of it."""
        if not self._changes(op):
            yield op
            return
        source, weights, *bias = op.inputs
        tensor = self.tensors[weights]
        data = np.frombuffer(self.buffers[tensor.buffer].data, np.int8).reshape(tensor.shape)
        wanted = data.astype(np.int16) - tensor.zero_points[0]
        parts = [np.clip(wanted, INT8_MIN, INT8_MAX)]
        if (rest := wanted - parts[0]).any():
            parts.append(rest)
            rows, depth = prod(self.tensors[source].shape) // data.shape[1], data.shape[1]
            if self.tensors[source].shape[-1:] != (depth,):
                flat = self._add(self.tensors[source], (rows, depth), b"")
                yield replace(copy_of(self._next(), source, flat), name=f"{operator_name(op)}_rows")
                source = flat
            shape = (*self.tensors[source].shape[:-1], 2 * depth)
            twice = self._add(self.tensors[source], shape, b"")
            yield replace(
                copy_of(self._next(), source, twice),
                code=_JOIN.code,
                kind="concatenation",
                form=_JOIN,
                inputs=(source, source),
                options={"axis": -1, "activation": "none"},
                name=f"{operator_name(op)}_twice",
            )
            source = twice
        joined = np.concatenate(parts, axis=1).astype(np.int8)
        symmetric = replace(tensor, zero_points=(0,))
        changed = self._add(symmetric, joined.shape, joined.tobytes())
        yield replace(op, inputs=(source, changed, *bias))

    def _changes(self, op: FileOperator) -> bool:
        if op.code != "FULLY_CONNECTED" or len(op.inputs) < 2 or min(op.inputs[:2]) < 0:
            return False
        source, weights = (self.tensors[number] for number in op.inputs[:2])
        if weights.dtype != "int8" or not is_constant(self, weights) or len(weights.shape) != 2:
            return False
        fits = len(self.buffers[weights.buffer].data) == prod(weights.shape)
        known = fits and min((*weights.shape, *source.shape), default=0) > 0
        whole = known and prod(source.shape) % weights.shape[1] == 0
        if not whole or not len(weights.scales) == len(weights.zero_points) == 1:
            return False
        (zero,) = weights.zero_points
        return zero != 0 and INT8_MIN <= zero <= INT8_MAX

    def _add(self, like: FileTensor, shape: tuple[int, ...], data: bytes) -> int:
        buffer, number = len(self.buffers), len(self.tensors)
        self.buffers.append(FileBuffer(data=memoryview(data), external=False))
        place = like.number if like.number >= 0 else like.index
        made = replace(like, index=number, number=place, shape=shape, buffer=buffer)
        self.tensors.append(replace(made, variable=False, initial=None))
        return number

    def _next(self) -> int:
        self._index += 1
        return self._index
