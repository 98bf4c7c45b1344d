# SPDX-License-Identifier: Apache-2.0
"""ADD, MUL, QUANTIZE, SOFTMAX and MEAN equal TFLM for random shapes and scales."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

Compare = Callable[[Any, np.random.Generator], None]


def random_shape(rng: np.random.Generator, most: int = 4) -> tuple[int, ...]:
    return tuple(int(size) for size in rng.integers(1, 7, int(rng.integers(1, most + 1))))


def quantized(rng: np.random.Generator, low: float, high: float) -> dict[str, Any]:
    scale = float(np.float32(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return {"scales": (scale,), "zero_points": (int(rng.integers(-128, 128)),)}


def broadcast_to_one(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Give some dimensions the extent 1 and drop some leading ones."""
    narrowed = tuple(1 if rng.random() < 0.4 else extent for extent in shape)
    return narrowed[int(rng.integers(len(shape))) :]


def binary_model(
    rng: np.random.Generator, builder: ModuleType, code: str, output: dict[str, Any]
) -> Any:
    shape = random_shape(rng)
    other = shape if rng.random() < 0.4 else broadcast_to_one(rng, shape)
    shapes = [shape, other] if rng.random() < 0.5 else [other, shape]
    inputs = [builder.Tensor(shape=each, **quantized(rng, 0.01, 0.2)) for each in shapes]
    constant = rng.random() < 0.3
    if constant:
        values = rng.integers(-128, 128, shapes[1]).astype(np.int8)
        inputs[1] = builder.Tensor(shape=shapes[1], data=values, **quantized(rng, 0.01, 0.2))
    op = builder.Operator(
        code=code,
        inputs=(0, 1),
        outputs=(2,),
        table=f"{code.title()}Options",
        options={"FusedActivationFunction": int(rng.integers(4))},
    )
    return builder.Model(
        tensors=(*inputs, builder.Tensor(shape=shape, **output)),
        operators=(op,),
        inputs=(0,) if constant else (0, 1),
        outputs=(2,),
    )


@seeded(100)
def test_add(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    equals_tflm(binary_model(rng, tflite_builder, "ADD", quantized(rng, 0.005, 0.4)), rng)


@seeded(100)
def test_mul(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(100 + seed)
    equals_tflm(binary_model(rng, tflite_builder, "MUL", quantized(rng, 0.001, 1.5)), rng)


@seeded(300)
def test_quantize(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(200 + seed)
    shape, tensor = random_shape(rng), tflite_builder.Tensor
    scales = [quantized(rng, 0.01, 0.1) for _ in range(2)]
    if seed % 3 == 0:
        scales[1]["scales"] = scales[0]["scales"]
    if seed % 5 == 0:  # such as SOFTMAX from int8 to int16 makes
        zero = int(rng.choice([-(2**15), 2**15 - 1, 0, 77]))
        scales[0] = {"dtype": "int16", "scales": (1 / 65536,), "zero_points": (zero,)}
        scales[1]["scales"] = (float(np.float32(rng.choice([1 / 256, 1 / 300, 1 / 1024]))),)
    model = tflite_builder.Model(
        tensors=tuple(tensor(shape=shape, **scale) for scale in scales),
        operators=(tflite_builder.Operator(code="QUANTIZE", inputs=(0,), outputs=(1,)),),
        inputs=(0,),
        outputs=(1,),
    )
    equals_tflm(model, rng)


SHARES: dict[str, dict[str, Any]] = {
    "int8": {"scales": (1 / 256,), "zero_points": (-128,)},
    "int8 to int16": {"dtype": "int16", "scales": (1 / 65536,), "zero_points": (-(2**15),)},
    "int16": {"dtype": "int16", "scales": (1 / 32768,), "zero_points": (0,)},
}


@pytest.mark.parametrize("types", SHARES)
@seeded(334)
def test_softmax(seed: int, types: str, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(300 + seed)
    source = quantized(rng, 0.0005, 2.0)
    if types == "int16":
        scale = float(np.float32(np.exp(rng.uniform(np.log(1e-6), np.log(1.5)))))
        source = {"dtype": "int16", "scales": (scale,), "zero_points": (0,)}
    shape, tensor = (*random_shape(rng, 3), int(rng.choice([1, 2, 10, 100]))), tflite_builder.Tensor
    beta = float(np.float32(rng.choice([1.0, 0.5, 3.3])))
    op = tflite_builder.Operator(
        code="SOFTMAX", inputs=(0,), outputs=(1,), table="SoftmaxOptions", options={"Beta": beta}
    )
    shares = dict(SHARES[types])
    if types != "int8" and seed % 3 == 0:  # as files have it that lost digits
        shares["scales"] = (float(np.float32(shares["scales"][0] * rng.uniform(0.9991, 1.0009))),)
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=shape, **source),
            tensor(shape=shape, **shares),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(1,),
    )
    equals_tflm(model, rng)


def test_softmax_of_every_distance(
    tflite_builder: ModuleType, equals_tflm: Callable[..., None]
) -> None:
    """Pairs whose distances are all that int16 has, so that every entry of both tables counts."""
    op = tflite_builder.Operator(
        code="SOFTMAX", inputs=(0,), outputs=(1,), table="SoftmaxOptions", options={"Beta": 1.0}
    )
    rows, tensor = 2**16, tflite_builder.Tensor
    source = {"dtype": "int16", "scales": (10 / 65535,), "zero_points": (0,)}
    tensors = (tensor(shape=(rows, 2), **source), tensor(shape=(rows, 2), **SHARES["int16"]))
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
    values = np.full((rows, 2), 2**15 - 1, np.int16)
    values[:, 1] = np.arange(-(2**15), 2**15)
    equals_tflm(model, np.random.default_rng(0), [values])


@seeded(500)
def test_mean(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(400 + seed)
    shape, tensor = random_shape(rng), tflite_builder.Tensor
    if seed % 3 == 0:
        shape = (1, int(rng.integers(5, 20)), int(rng.integers(5, 20)), 3)
    count = int(rng.integers(1, len(shape) + 1))
    axes = (1, 2) if seed % 3 == 0 else rng.choice(len(shape), size=count, replace=False)
    keep = bool(rng.integers(2))
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    result = [
        shape[axis] if axis in kept else 1 for axis in range(len(shape)) if keep or axis in kept
    ]
    written = np.array([axis - len(shape) * int(rng.integers(2)) for axis in axes], np.int32)
    source = quantized(rng, 0.01, 0.1)
    target = source if seed % 4 == 0 else quantized(rng, 0.002, 0.1)
    op = tflite_builder.Operator(
        code="MEAN", inputs=(0, 1), outputs=(2,), table="ReducerOptions", options={"KeepDims": keep}
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=shape, **source),
            tensor(shape=written.shape, dtype="int32", data=written),
            tensor(shape=tuple(result), **target),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    equals_tflm(model, rng)
