# SPDX-License-Identifier: Apache-2.0
"""A dense layer with one scale rounds the product of its scales to float32, as TFLM does.

The weights are zero, so that each bias is a sum that the layer requantises. The biases are sums
for which the product in float32 and the product in double end in different int8 values; there are
at least 144.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.ops.quantization import mbqm, quantize_multiplier

MODELS = 12
PER_MODEL = 24
NEAR = 8

Scales = tuple[float, float, float]
Tflm = Callable[[bytes, list[NDArray[Any]]], NDArray[Any]]


def random_scales(rng: np.random.Generator) -> Scales:
    """Return scales of input, weights and output, float32 values with a factor of about 2**-22."""
    x, weights = rng.uniform(0.001, 0.1), rng.uniform(0.0001, 0.01)
    output = x * weights * 2**22 * rng.uniform(0.7, 1.4)
    return float(np.float32(x)), float(np.float32(weights)), float(np.float32(output))


def requantized(sums: NDArray[np.int64], scales: Scales, *, rounded: bool) -> NDArray[np.int64]:
    """Requantise with the product of two scales rounded to float32, or kept in double."""
    x, weights, output = scales
    product = float(np.float32(x) * np.float32(weights)) if rounded else x * weights
    return np.clip(mbqm(sums, *quantize_multiplier(product / output)), -128, 127)


def telling_sums(scales: Scales) -> NDArray[np.int64]:
    """Return sums near the boundaries between int8 values that the two rules tell apart."""
    x, weights, output = scales
    boundaries = np.arange(-127.5, 127.5) * output / (x * weights)
    near = np.round(boundaries)[:, np.newaxis] + np.arange(-NEAR, NEAR + 1)
    sums: NDArray[np.int64] = near.astype(np.int64).reshape(-1)
    apart = requantized(sums, scales, rounded=True) != requantized(sums, scales, rounded=False)
    return np.compress(apart, sums)[:PER_MODEL]


def dense(builder: ModuleType, scales: Scales, sums: NDArray[np.int64]) -> bytes:
    """Write a dense layer whose every output is one of `sums`, requantised."""
    count = len(sums)
    x, weights, output = ({"scales": (scale,), "zero_points": (0,)} for scale in scales)
    zeros = np.zeros((count, 1), np.int8)
    model = builder.Model(
        tensors=(
            builder.Tensor(shape=(1, 1), **x),
            builder.Tensor(shape=(count, 1), data=zeros, **weights),
            builder.Tensor(shape=(count,), dtype="int32", data=sums.astype(np.int32)),
            builder.Tensor(shape=(1, count), **output),
        ),
        operators=(
            builder.Operator(
                code="FULLY_CONNECTED",
                inputs=(0, 1, 2),
                outputs=(3,),
                table="FullyConnectedOptions",
            ),
        ),
        inputs=(0,),
        outputs=(3,),
    )
    data: bytes = builder.write(model)
    return data


@pytest.mark.parametrize("seed", range(MODELS))
def test_the_product_is_rounded_to_float32(
    seed: int, tmp_path: Path, tflite_builder: ModuleType, tflm: Tflm
) -> None:
    rng = np.random.default_rng(seed)
    scales = random_scales(rng)
    while len(sums := telling_sums(scales)) < PER_MODEL // 2:
        scales = random_scales(rng)
    path = tmp_path / "dense.tflite"
    path.write_bytes(dense(tflite_builder, scales, sums))
    sample = np.ones((1, 1), np.int8)
    graph = load_tflite(path)
    ours = reference.run(graph, {graph.inputs[0]: sample})[graph.outputs[0]]
    theirs = tflm(path.read_bytes(), [sample])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(ours[0], requantized(sums, scales, rounded=True))
    assert (theirs[0] != requantized(sums, scales, rounded=False)).all()
