# SPDX-License-Identifier: Apache-2.0
"""TRANSPOSE, slices, SQUEEZE and EXPAND_DIMS equal TFLM for random shapes and constants."""

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.differential.moves import slice_of, strided_slice_of
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
QUANTIZED: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
WIDE: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
LONGEST = 40
"""Elements along one dimension, so that loops are vectorised too."""


def drawn_shape(rng: np.random.Generator, most: int) -> tuple[int, ...]:
    """Draw 1 to `most` dimensions, one of which may be long."""
    shape = [int(extent) for extent in rng.integers(1, 5, int(rng.integers(1, most + 1)))]
    if rng.integers(2):
        shape[int(rng.integers(len(shape)))] = int(rng.integers(1, LONGEST))
    return tuple(shape)


def moved(
    builder: ModuleType,
    op: Any,
    source: tuple[int, ...],
    result: tuple[int, ...],
    quantized: dict[str, Any],
    *constants: Any,
) -> Any:
    """Make a model of one operator with constants behind its input, int32 if they are lists."""
    tensor = builder.Tensor
    tables = [
        values if isinstance(values, np.ndarray) else np.array(values, np.int32)
        for values in constants
    ]
    given = (tensor(shape=table.shape, dtype=str(table.dtype), data=table) for table in tables)
    tensors = (tensor(shape=source, **quantized), *given, tensor(shape=result, **quantized))
    return builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(len(tensors) - 1,))


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE], ids=["int8", "int16"])
@seeded(500)
def test_transpose(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    shape = drawn_shape(rng, 5)
    order = [int(at) for at in rng.permutation(len(shape))]
    op = tflite_builder.Operator(code="TRANSPOSE", inputs=(0, 1), outputs=(2,))
    result = tuple(shape[at] for at in order)
    equals_tflm(moved(tflite_builder, op, shape, result, quantized, order), rng)


BOOL: dict[str, Any] = {"dtype": "bool"}
INT32: dict[str, Any] = {"dtype": "int32"}


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32, BOOL])
@pytest.mark.parametrize("every", [False, True])
@seeded(125)
def test_squeeze(
    seed: int,
    every: bool,
    quantized: dict[str, Any],
    tflite_builder: ModuleType,
    equals_tflm: Compare,
) -> None:
    rng = np.random.default_rng(1000 + seed)
    shape = (*rng.permutation([1, *drawn_shape(rng, 4)]).tolist(),)
    ones = [at for at, extent in enumerate(shape) if extent == 1]
    gone = ones if every else ones[:1]
    options = {} if every else {"SqueezeDims": tuple(gone)}
    op = tflite_builder.Operator(
        code="SQUEEZE", inputs=(0,), outputs=(1,), table="SqueezeOptions", options=options
    )
    result = tuple(extent for at, extent in enumerate(shape) if at not in gone)
    equals_tflm(moved(tflite_builder, op, shape, result, quantized), rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE], ids=["int8", "int16"])
@seeded(500)
def test_expand_dims(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(2000 + seed)
    shape = drawn_shape(rng, 4)
    axis = int(rng.integers(len(shape) + 1))
    op = tflite_builder.Operator(code="EXPAND_DIMS", inputs=(0, 1), outputs=(2,))
    result = (*shape[:axis], 1, *shape[axis:])
    given = axis - (len(shape) + 1) * int(rng.integers(2))
    equals_tflm(moved(tflite_builder, op, shape, result, quantized, [given]), rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32, BOOL])
@seeded(250)
def test_slice(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(3000 + seed)
    shape = drawn_shape(rng, 5)
    begin, size, result = slice_of(Random(seed), shape)
    dtype = np.int64 if rng.integers(2) else np.int32
    tables = [np.array(each, dtype) for each in (begin, size)]
    op = tflite_builder.Operator(code="SLICE", inputs=(0, 1, 2), outputs=(3,))
    equals_tflm(moved(tflite_builder, op, shape, result, quantized, *tables), rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32, BOOL])
@seeded(250)
def test_strided_slice(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(4000 + seed)
    shape = drawn_shape(rng, 4)
    tables, masks, result = strided_slice_of(Random(seed), shape)
    op = tflite_builder.Operator(
        code="STRIDED_SLICE",
        inputs=(0, 1, 2, 3),
        outputs=(4,),
        table="StridedSliceOptions",
        options=masks,
    )
    equals_tflm(moved(tflite_builder, op, shape, result, quantized, *tables), rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, WIDE, INT32, BOOL])
@seeded(250)
def test_shape(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng, tensor = np.random.default_rng(5000 + seed), tflite_builder.Tensor
    source = drawn_shape(rng, 5)
    op = tflite_builder.Operator(
        code="SHAPE", inputs=(0,), outputs=(1,), table="ShapeOptions", options={"OutType": 2}
    )
    tensors = (tensor(shape=source, **quantized), tensor(shape=(len(source),), dtype="int32"))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
    equals_tflm(model, rng)


@pytest.mark.parametrize("quantized", [QUANTIZED, INT32], ids=["int8", "int32"])
@seeded(500)
def test_fill(
    seed: int, quantized: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(6000 + seed)
    result = drawn_shape(rng, 5)
    op = tflite_builder.Operator(code="FILL", inputs=(1, 0), outputs=(2,))
    equals_tflm(moved(tflite_builder, op, (), result, quantized, list(result)), rng)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
@seeded(334)
def test_zeros_like(
    seed: int, dtype: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    """Zeros are stored, whatever the zero point."""
    rng, tensor = np.random.default_rng(6000 + seed), tflite_builder.Tensor
    shape = drawn_shape(rng, 5)
    side = QUANTIZED if dtype == "int8" else {"dtype": dtype}
    op = tflite_builder.Operator(code="ZEROS_LIKE", inputs=(0,), outputs=(1,))
    tensors = (tensor(shape=shape, **side), tensor(shape=shape, **side))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
    equals_tflm(model, rng)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@seeded(500)
def test_broadcast_args(
    seed: int, dtype: str, tflite_builder: ModuleType, equals_tflm: Callable[..., None]
) -> None:
    """Extents fit, since TFLM ends the run else; those of int64 have more than 32 bits at times."""
    rng, tensor = np.random.default_rng(7000 + seed), tflite_builder.Tensor
    count = int(rng.integers(1, 7))
    most = 2**34 if dtype == "int64" and seed % 4 == 0 else 9
    extents = rng.integers(1, most, count).astype(dtype)
    lists = [np.where(rng.random(count) < 0.4, 1, extents).astype(dtype) for _ in range(2)]
    short = int(rng.integers(2))
    lists[short] = lists[short][int(rng.integers(count)) :]
    constant = int(rng.integers(3))
    tensors = [
        tensor(shape=each.shape, dtype=dtype, data=each if at == constant else None)
        for at, each in enumerate(lists)
    ]
    op = tflite_builder.Operator(code="BROADCAST_ARGS", inputs=(0, 1), outputs=(2,))
    given = tuple(at for at in (0, 1) if at != constant)
    model = tflite_builder.Model(
        tensors=(*tensors, tensor(shape=(count,), dtype=dtype)),
        operators=(op,),
        inputs=given,
        outputs=(2,),
    )
    equals_tflm(model, rng, [lists[at] for at in given])
