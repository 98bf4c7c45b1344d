# SPDX-License-Identifier: Apache-2.0
"""Filters of 4 bits, two in a byte: they become int8 constants when a file is loaded."""

from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.tflite.reader import FileBuffer, FileModel, FileTensor

FILTER = 1
"""The operand that may have 4 bits."""

FROM_INT4 = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"})
"""What TFLM takes such filters for, of 8-bit activations."""


def with_int8_filters(model: FileModel) -> FileModel:
    """Give each filter of 4 bits a byte for each of its values.

    What nothing but those operators reads as their filter, with as many bytes as its shape says;
    all else stays for the checks to refuse.
    """
    tensors, buffers = list(model.tensors), list(model.buffers)
    for number in sorted(_filters(model)):
        tensor = tensors[number]
        if tensor.dtype != "int4" or tensor.buffer >= len(model.buffers):
            continue
        packed, count = model.buffers[tensor.buffer], prod(tensor.shape)
        if len(packed.data) == (count + 1) // 2 and not packed.external and count > 0:
            tensors[number] = replace(tensor, dtype="int8", buffer=len(buffers))
            buffers.append(FileBuffer(data=memoryview(_unpack(packed, count)), external=False))
    return replace(model, tensors=tuple(tensors), buffers=tuple(buffers))


def _filters(model: FileModel) -> set[int]:
    """Return the tensors that are nothing but such filters."""
    filters: set[int] = set()
    others = {*model.inputs, *model.outputs}
    for op in model.operators:
        for position, number in enumerate(op.inputs):
            allowed = number >= 0 and position == FILTER and op.code in FROM_INT4
            if allowed and _suits(op.code, model.tensors[op.inputs[0]], model.tensors[number]):
                filters.add(number)
            else:
                others.add(number)
        others |= {*op.outputs}
    return filters - others


def _suits(code: str, x: FileTensor, weights: FileTensor) -> bool:
    """Tell whether TFLM takes it: dense layers have one scale."""
    return x.dtype == "int8" and (code != "FULLY_CONNECTED" or len(weights.scales) <= 1)


def _unpack(packed: FileBuffer, count: int) -> bytes:
    """Return a byte for each value; the first of two is in the lower bits."""
    pairs = np.frombuffer(packed.data, np.int8)
    values = np.stack([pairs << 4 >> 4, pairs >> 4], axis=-1)
    return values.reshape(-1)[:count].astype(np.int8).tobytes()
