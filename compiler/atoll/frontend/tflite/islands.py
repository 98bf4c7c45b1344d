# SPDX-License-Identifier: Apache-2.0
"""Real numbers inside of a network: what converters leave of layers that have no int8 kernel.

DEQUANTIZE, some operators of one real operand, and QUANTIZE: together they make of each int8 value
another one, in a table. The numbers are those of TFLM's kernels of float32. DEQUANTIZE of int16 and
QUANTIZE are one QUANTIZE, where a factor has the same results of all 65,536 values. ARG_MAX and
ARG_MIN of what DEQUANTIZE makes are those of its operand.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.real_functions import (
    COMMON,
    RealFunction,
    Reals,
    after,
    reciprocal,
    round_results,
    square_root,
)
from atoll.frontend.tflite.reader import FileModel, FileOperator, FileTensor
from atoll.ops.checks import QUANTIZED
from atoll.ops.elements.elementwise import VALUES
from atoll.ops.elements.rescaling import FACTOR
from atoll.ops.quantization import LIMITS, mbqm_once, quantize_multiplier
from atoll.ops.rounding import as_onnx
from atoll.ops.tflite_form import TfliteForm

FUNCTIONS: Mapping[str, RealFunction] = {
    **COMMON,
    "RSQRT": after(reciprocal, square_root),
    "SQUARE": round_results(np.square),
}
"""By the names of TFLite's operators."""

_RANKED = frozenset({"ARG_MAX", "ARG_MIN"})
_FORM = TfliteForm(code="QUANTIZE", read=lambda options, shapes: dict(options))
"""Of an operator whose options are its attributes."""

_WIDE = np.arange(-(2**15), 2**15)
"""All values of int16."""


def with_tables(model: FileModel) -> FileModel:
    """Make a LOOKUP of each QUANTIZE of what real numbers compute of one int8 value.

    What asks which of several real numbers is the greatest asks it of the int8 values.

    The operators in front of it go where nothing else reads their results.
    """
    writers = {number: op for op in model.operators for number in op.outputs}
    instead = (
        (op, _as_lookup(model, op, writers) or _rank_integers(model, op, writers))
        for op in model.operators
    )
    changed = {op.index: made for op, made in instead if made}
    operators = tuple(changed.get(op.index, op) for op in model.operators)
    return replace(model, operators=_read(model, operators)) if changed else model


def _as_lookup(
    model: FileModel, last: FileOperator, writers: Mapping[int, FileOperator]
) -> FileOperator | None:
    """Return the operator that takes the place of a QUANTIZE, None if it stays."""
    if not any(_converts(model, last, "QUANTIZE", "float32", each) for each in QUANTIZED):
        return None
    functions: list[RealFunction] = []
    op = writers.get(last.inputs[0])
    while op is not None and op.code in FUNCTIONS and len(op.inputs) == 1:
        if len(functions) > len(writers):
            return None  # a cycle, which the checks report
        functions.insert(0, FUNCTIONS[op.code])
        op = writers.get(op.inputs[0])
    if op is None or len(op.inputs) != 1:
        return None
    if _converts(model, op, "DEQUANTIZE", "int16", "float32") and not functions:
        return _rescale_once(last, *(model.tensors[n] for n in (*op.inputs, *last.outputs)))
    if not _converts(model, op, "DEQUANTIZE", "int8", "float32"):
        return None
    sides = [model.tensors[number] for number in (*op.inputs, *last.outputs)]
    alike = {(each.scales, each.zero_points, each.dtype) for each in sides}
    if not functions and len(alike) == 1:
        return replace(last, inputs=op.inputs)
    table = _table(model.tensors[op.inputs[0]], model.tensors[last.outputs[0]], functions)
    options = {"table": table}
    return replace(last, kind="lookup", form=_FORM, inputs=op.inputs, options=options)


def _rescale_once(
    last: FileOperator, source: FileTensor, target: FileTensor
) -> FileOperator | None:
    """Return a QUANTIZE of int16 that rounds once what real numbers round twice, None if none does.

    Real numbers have 24 bits, so that those close to a half may be rounded to the other side. A
    factor is sought that takes each value to its own side of each half.
    """
    (zero,), (point,) = source.zero_points, target.zero_points
    values, (least, greatest) = _WIDE - zero, LIMITS[target.dtype]
    results = np.array(_table(source, target, [], _WIDE), np.int64)
    some = values != 0
    ends = np.where(values > 0, greatest, least)
    half = np.where(values > 0, 0.5, -0.5)
    with np.errstate(divide="ignore", invalid="ignore"):
        from_, to = ((results - point + side) / values for side in (-half, half))
    low = from_[some].max(initial=0.0)
    high = to[some & (results != ends)].min(initial=2 * low + 1)
    factor = float(low + high) / 2
    scaled = mbqm_once(values, *quantize_multiplier(factor)) + point
    if not np.array_equal(np.clip(scaled, least, greatest), results):
        return None
    options = {**as_onnx("quantize"), FACTOR: factor}
    return replace(last, kind="quantize", form=_FORM, inputs=(source.index,), options=options)


def _rank_integers(
    model: FileModel, op: FileOperator, writers: Mapping[int, FileOperator]
) -> FileOperator | None:
    """Return an operator that ranks int8 values in the place of real numbers, None if it stays.

    Other values are other numbers, in the same order, as long as none is infinite.
    """
    before = writers.get(op.inputs[0]) if op.code in _RANKED and op.inputs else None
    if before is None or not _converts(model, before, "DEQUANTIZE", "int8", "float32"):
        return None
    scale = np.float32(model.tensors[before.inputs[0]].scales[0])
    finite = 0 < scale < np.finfo(np.float32).max / 256
    return replace(op, inputs=(before.inputs[0], *op.inputs[1:])) if finite else None


def _table(
    source: FileTensor,
    target: FileTensor,
    functions: list[RealFunction],
    of: NDArray[Any] = VALUES,
) -> tuple[int, ...]:
    """Return the results of all values (TFLM: `Dequantize`)."""
    values = of.astype(np.int64) - source.zero_points[0]
    with np.errstate(all="ignore"):
        real: Reals = (source.scales[0] * values).astype(np.float32)
        for function in functions:
            real = function(real)
    return tuple(map(int, quantize(real, target)))


def quantize(real: Reals, target: FileTensor) -> NDArray[Any]:
    """Return real numbers as a tensor of int8 or int16 has them (TFLM: `AffineQuantize`)."""
    with np.errstate(all="ignore"):
        steps = np.nan_to_num((real / np.float32(target.scales[0])).astype(np.float64))
    away = np.sign(steps) * np.floor(np.abs(steps) + 0.5)
    clipped: NDArray[Any] = np.clip(away + target.zero_points[0], *LIMITS[target.dtype])
    return clipped.astype(target.dtype)


def _converts(model: FileModel, op: FileOperator, code: str, source: str, target: str) -> bool:
    """Tell whether an operator of a code converts between such types, integers with one scale."""
    if op.code != code or (len(op.inputs), len(op.outputs)) != (1, 1) or op.inputs[0] < 0:
        return False
    sides = [model.tensors[op.inputs[0]], model.tensors[op.outputs[0]]]
    stated = all(
        len(each.scales) == len(each.zero_points) == 1 for each in sides if each.dtype in QUANTIZED
    )
    return [each.dtype for each in sides] == [source, target] and stated


def _read(model: FileModel, operators: tuple[FileOperator, ...]) -> tuple[FileOperator, ...]:
    """Leave out operators on real numbers whose results nothing reads any more."""
    needed, kept = {*model.outputs}, list[FileOperator]()
    for op in reversed(operators):
        real = all(model.tensors[number].dtype == "float32" for number in op.outputs)
        if needed & {*op.outputs} or not real or op.code not in {*FUNCTIONS, "DEQUANTIZE"}:
            needed.update(op.inputs)
            kept.append(op)
    return tuple(reversed(kept))
