# SPDX-License-Identifier: Apache-2.0
"""SUM, REDUCE_MAX, REDUCE_MIN, ARG_MAX and ARG_MIN equal TFLM for random shapes and axes."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def quantized(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"scales": (scale,), "zero_points": (int(rng.integers(-128, 128)),)}


def left(shape: tuple[int, ...], axes: set[int], *, keep: bool) -> tuple[int, ...]:
    return tuple(1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)


def reduction(
    rng: np.random.Generator, builder: ModuleType, code: str, source: Any, target: Any
) -> Any:
    shape = tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(1, 6))))
    keep, rank = bool(rng.integers(2)), len(shape)
    axes = rng.choice(rank, size=int(rng.integers(1, rank + 1)), replace=False)
    written = np.array([axis - rank * int(rng.integers(2)) for axis in axes], np.int32)
    if len(written) == 1 and rng.random() < 0.3:
        written = written.reshape(())
    if rng.random() < 0.1:
        written = np.concatenate([written.reshape(-1), written.reshape(-1)[:1]])
    op = builder.Operator(
        code=code, inputs=(0, 1), outputs=(2,), table="ReducerOptions", options={"KeepDims": keep}
    )
    return builder.Model(
        tensors=(
            builder.Tensor(shape=shape, **source),
            builder.Tensor(shape=written.shape, dtype="int32", data=written),
            builder.Tensor(shape=left(shape, {*axes.tolist()}, keep=keep), **target),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )


@seeded(500)
def test_sum(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    source, target = quantized(rng, 0.01, 0.1), quantized(rng, 0.002, 1.0)
    equals_tflm(reduction(rng, tflite_builder, "SUM", source, target), rng)


@pytest.mark.parametrize("code", ["REDUCE_MAX", "REDUCE_MIN"])
@seeded(1000)
def test_extreme(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(1000 + seed)
    scale = quantized(rng, 0.01, 0.1)
    equals_tflm(reduction(rng, tflite_builder, code, scale, scale), rng)


@pytest.mark.parametrize("code", ["ARG_MAX", "ARG_MIN"])
@seeded(1000)
def test_arg(seed: int, code: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(2000 + seed)
    shape = tuple(int(size) for size in rng.integers(1, 20, int(rng.integers(1, 4))))
    axis = int(rng.integers(len(shape)))
    result = shape[:axis] + shape[axis + 1 :]
    written = np.array(axis - len(shape) * int(rng.integers(2)), np.int32)
    written = written if rng.random() < 0.5 else written.reshape(1)
    tensor = tflite_builder.Tensor
    op = tflite_builder.Operator(
        code=code, inputs=(0, 1), outputs=(2,), table=f"{code.title().replace('_', '')}Options"
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=shape, **quantized(rng, 0.01, 0.1)),
            tensor(shape=written.shape, dtype="int32", data=written),
            tensor(shape=result, dtype="int32"),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)
