# SPDX-License-Identifier: Apache-2.0
"""Filters of 4 bits give what TFLM computes, and are refused where it refuses them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded
from tests.unit.ops.test_convolution_tflm import Layer, spatial_model

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite

Compare = Callable[[Any, np.random.Generator], None]


def packed(model: Any, rng: np.random.Generator) -> Any:
    """Give the filter random values of 4 bits, two in a byte."""
    filters = model.tensors[1]
    values = rng.integers(-8, 8, int(np.prod(filters.shape))).astype(np.int8)
    pairs = np.append(values, np.zeros(len(values) % 2, np.int8)).reshape(-1, 2)
    data = (pairs[:, 0] & 15 | pairs[:, 1] << 4).astype(np.int8)
    filters = replace(filters, dtype="int4", data=data, scales=_sixteenfold(filters))
    others = (
        replace(each, scales=_sixteenfold(each)) if each.dtype == "int32" else each
        for each in model.tensors[2:]
    )
    return replace(model, tensors=(model.tensors[0], filters, *others))


def _sixteenfold(tensor: Any) -> tuple[float, ...]:
    return tuple(float(np.float32(scale * 16)) for scale in tensor.scales)


def dense(rng: np.random.Generator, builder: ModuleType) -> Any:
    rows, depth, outputs = (int(rng.integers(1, high)) for high in (4, 40, 12))
    layer = Layer(rng, builder, (outputs, depth), axis=0)
    one = replace(layer.weights, scales=layer.weights.scales[:1], zero_points=(0,))
    op = builder.Operator(
        code="FULLY_CONNECTED", inputs=(0, 1), outputs=(2,), table="FullyConnectedOptions"
    )
    return builder.Model(
        tensors=(
            builder.Tensor(shape=(rows, depth), **layer.input),
            one,
            builder.Tensor(shape=(rows, outputs), **layer.output),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )


@pytest.mark.parametrize("kind", ["conv_2d", "depthwise_conv_2d", "fully_connected"])
@seeded(100)
def test_equals_tflm(
    seed: int, kind: str, tflite_builder: ModuleType, equals_tflm: Compare
) -> None:
    rng = np.random.default_rng(seed)
    if kind == "fully_connected":
        model = dense(rng, tflite_builder)
    else:
        multiplier = int(rng.integers(1, 4)) if kind == "depthwise_conv_2d" else 0
        model = spatial_model(rng, tflite_builder, multiplier, int(rng.integers(1, 12)))
    equals_tflm(packed(model, rng), rng)


@pytest.mark.parametrize(
    "change",
    [{"scales": (0.1,) * 4, "zero_points": (0,) * 4}, {"data": np.ones(3, np.int8)}],
    ids=["scales per channel", "too few bytes"],
)
def test_refused(change: dict[str, Any], tmp_path: Path, tflite_builder: ModuleType) -> None:
    tensor, scale = tflite_builder.Tensor, {"scales": (0.1,), "zero_points": (0,)}
    weights = tensor(shape=(4, 5), dtype="int4", data=np.ones(10, np.int8), **scale)
    op = tflite_builder.Operator(
        code="FULLY_CONNECTED", inputs=(0, 1), outputs=(2,), table="FullyConnectedOptions"
    )
    model = tflite_builder.Model(
        tensors=(
            tensor(shape=(1, 5), **scale),
            replace(weights, **change),
            tensor(shape=(1, 4), **scale),
        ),
        operators=(op,),
        inputs=(0,),
        outputs=(2,),
    )
    path = tmp_path / "model.tflite"
    path.write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError, match="has type int4, which is not supported"):
        load_tflite(path)
