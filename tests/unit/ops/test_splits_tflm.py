# SPDX-License-Identifier: Apache-2.0
"""SPLIT, SPLIT_V, UNPACK, PACK and wide CONCATENATION equal TFLM in all of their results."""

from collections.abc import Callable
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.differential.splits import parts_of
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]
INT8: dict[str, Any] = {"scales": (0.05,), "zero_points": (-7,)}
INT16: dict[str, Any] = {"dtype": "int16", "scales": (0.05,), "zero_points": (0,)}
INT32: dict[str, Any] = {"dtype": "int32"}
INT64: dict[str, Any] = {"dtype": "int64"}
BOOL: dict[str, Any] = {"dtype": "bool"}
SLICED = pytest.mark.parametrize("kept", [INT8, INT16, INT32], ids=["int8", "int16", "int32"])
LONGEST = 30


def drawn_shape(rng: np.random.Generator, least: int, most: int) -> tuple[int, ...]:
    """Draw dimensions, one of which may be long."""
    shape = [int(extent) for extent in rng.integers(1, 6, int(rng.integers(least, most + 1)))]
    if rng.integers(2):
        shape[int(rng.integers(len(shape)))] = int(rng.integers(1, LONGEST))
    return tuple(shape)


def replaced(shape: tuple[int, ...], axis: int, *extents: int) -> tuple[int, ...]:
    """Return a shape with other extents in the place of one."""
    return (*shape[:axis], *extents, *shape[axis + 1 :])


def model(
    builder: ModuleType,
    code: str,
    sources: list[Any],
    results: list[tuple[int, ...]],
    kept: dict[str, Any],
    options: dict[str, int],
) -> Any:
    """Make a model of one operator, all of whose results are outputs."""
    tensors = [*sources, *(builder.Tensor(shape=shape, **kept) for shape in results)]
    names = {"SPLIT_V": "SplitV"}
    op = builder.Operator(
        code=code,
        inputs=tuple(range(len(sources))),
        outputs=tuple(range(len(sources), len(tensors))),
        table=f"{names.get(code, code.capitalize())}Options",
        options=options,
    )
    given = tuple(number for number, tensor in enumerate(sources) if tensor.data is None)
    return builder.Model(tensors=tuple(tensors), operators=(op,), inputs=given, outputs=op.outputs)


def numbers(builder: ModuleType, *values: int, scalar: bool = False) -> Any:
    """Make an int32 constant."""
    data = np.array(values[0] if scalar else values, np.int32)
    return builder.Tensor(shape=data.shape, dtype="int32", data=data)


@SLICED
@seeded(340)
def test_split(
    seed: int, kept: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    shape = drawn_shape(rng, 1, 5)
    axis, count = int(rng.integers(len(shape))), int(rng.integers(1, 6))
    whole = replaced(shape, axis, shape[axis] * count)
    at = axis - len(shape) * int(rng.integers(2))
    sources = [
        numbers(tflite_builder, at, scalar=bool(rng.integers(2))),
        tflite_builder.Tensor(shape=whole, **kept),
    ]
    made = model(tflite_builder, "SPLIT", sources, [shape] * count, kept, {"NumSplits": count})
    equals_tflm(made, rng)


@SLICED
@seeded(340)
def test_split_v(
    seed: int, kept: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(1000 + seed)
    shape = drawn_shape(rng, 1, 5)
    axis = int(rng.integers(len(shape)))
    extents = parts_of(Random(seed), shape[axis])
    sizes = list(extents)
    if rng.integers(2):
        sizes[int(rng.integers(len(sizes)))] = -1
    sources = [
        tflite_builder.Tensor(shape=shape, **kept),
        numbers(tflite_builder, *sizes),
        numbers(tflite_builder, axis - len(shape) * int(rng.integers(2)), scalar=True),
    ]
    results = [replaced(shape, axis, extent) for extent in extents]
    options = {"NumSplits": len(extents)}
    equals_tflm(model(tflite_builder, "SPLIT_V", sources, results, kept, options), rng)


@SLICED
@seeded(340)
def test_unpack(
    seed: int, kept: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(2000 + seed)
    shape = drawn_shape(rng, 2, 5)
    axis, count = int(rng.integers(len(shape))), int(rng.integers(1, 6))
    shape = replaced(shape, axis, count)
    options = {"Axis": axis - len(shape) * int(rng.integers(2)), "Num": count}
    sources = [tflite_builder.Tensor(shape=shape, **kept)]
    results = [replaced(shape, axis)] * count
    equals_tflm(model(tflite_builder, "UNPACK", sources, results, kept, options), rng)


@pytest.mark.parametrize(
    "kept", [INT8, INT16, INT32, INT64], ids=["int8", "int16", "int32", "int64"]
)
@seeded(340)
def test_pack(
    seed: int, kept: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(3000 + seed)
    shape = drawn_shape(rng, 1, 4)
    axis, count = int(rng.integers(len(shape) + 1)), int(rng.integers(1, 6))
    options = {"Axis": axis - (len(shape) + 1) * int(rng.integers(2)), "ValuesCount": count}
    sources = [tflite_builder.Tensor(shape=shape, **kept) for _ in range(count)]
    results = [(*shape[:axis], count, *shape[axis:])]
    equals_tflm(model(tflite_builder, "PACK", sources, results, kept, options), rng)


@pytest.mark.parametrize(
    "kept", [INT16, INT32, INT64, BOOL], ids=["int16", "int32", "int64", "bool"]
)
@seeded(340)
def test_wide_concatenation(
    seed: int, kept: dict[str, Any], tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(4000 + seed)
    shape = drawn_shape(rng, 1, 5)
    axis = int(rng.integers(len(shape)))
    extents = [int(each) for each in rng.integers(1, 6, int(rng.integers(1, 5)))]
    sources = [
        tflite_builder.Tensor(shape=replaced(shape, axis, extent), **kept) for extent in extents
    ]
    results = [replaced(shape, axis, sum(extents))]
    options = {"Axis": axis}
    equals_tflm(model(tflite_builder, "CONCATENATION", sources, results, kept, options), rng)
