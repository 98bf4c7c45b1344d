# SPDX-License-Identifier: Apache-2.0
"""LOG_SOFTMAX with results of 16 bits, which TFLM has not: near real numbers, kernels alike."""

import numpy as np
import pytest
from tests.effort import cases
from tests.kernels import hold

from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops import reference
from atoll.ops.reductions.log_softmax import LOG_SOFTMAX, OUTPUTS


@pytest.mark.parametrize("seed", range(cases(60, 6)))
def test_results_of_16_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape, scale = (3, int(rng.choice([1, 2, 10, 300]))), float(rng.choice([0.001, 0.02, 0.2, 1]))
    step, zero = OUTPUTS["int16"]
    tensors = tuple(
        Tensor(
            name=name,
            shape=shape,
            dtype=dtype,
            quantization=Quantization(scales=(size,), zero_points=(zero_point,)),
        )
        for name, dtype, size, zero_point in (("x", "int8", scale, 5), ("y", "int16", step, zero))
    )
    op = Operator(name="op", kind="log_softmax", inputs=("x",), outputs=("y",), attributes={})
    graph = Graph("built", tensors, (op,), ("x",), ("y",))
    LOG_SOFTMAX.check(op, graph)
    x = rng.integers(-128, 128, shape).astype(np.int8)
    values = reference.run(graph, {"x": x})
    hold(LOG_SOFTMAX.lower(op, graph), values, values["y"], interpreted=shape[1] < 20)
    real = x * scale
    real = real - real.max(axis=1, keepdims=True)
    exact = real - np.log(np.exp(real).sum(axis=1, keepdims=True))
    found = (values["y"].astype(np.float64) - zero) * step
    kept = exact > -15.5
    assert np.abs(found - exact)[kept].max() < 0.004
    assert LOG_SOFTMAX.overlap(op, graph) == (None,)
