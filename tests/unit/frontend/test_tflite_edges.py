# SPDX-License-Identifier: Apache-2.0
"""Edges of uint8 are int8, less by 128, and have TFLM's bytes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import seeded

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference

CODES = ("QUANTIZE", "RELU", "QUANTIZE")


def network(builder: ModuleType, scales: tuple[float, ...], zeros: tuple[int, ...]) -> Any:
    """Clamp in int8 what comes as uint8, and hand it out as uint8."""
    types = ("uint8", "int8", "int8", "uint8")
    tensors = tuple(
        builder.Tensor(shape=(2, 9), name=f"t{at}", dtype=dtype, scales=(scale,), zero_points=(z,))
        for at, (dtype, scale, z) in enumerate(zip(types, scales, zeros, strict=True))
    )
    operators = tuple(
        builder.Operator(code=code, inputs=(at,), outputs=(at + 1,))
        for at, code in enumerate(CODES)
    )
    return builder.Model(tensors=tensors, operators=operators, inputs=(0,), outputs=(3,))


@seeded(200)
def test_edges_of_uint8(
    seed: int, tflite_builder: ModuleType, tflm: Callable[..., Any], tmp_path: Path
) -> None:
    rng = np.random.default_rng(seed)
    scales = [float(np.float32(rng.uniform(0.01, 0.1))) for _ in range(4)]
    zeros = [int(rng.integers(low, low + 256)) for low in (0, -128, -128, 0)]
    if alike := seed % 2 == 0:
        scales[1], scales[3] = scales[0], scales[2]
        zeros[1], zeros[3] = zeros[0] - 128, zeros[2] + 128
    data = tflite_builder.write(network(tflite_builder, tuple(scales), tuple(zeros)))
    path = tmp_path / "edges.tflite"
    path.write_bytes(data)
    graph = load_tflite(path)
    assert {tensor.dtype for tensor in graph.tensors} == {"int8"}
    assert len(graph.operators) == 3
    same = [graph.tensor("t0"), graph.tensor(graph.operators[0].outputs[0])]
    assert (same[0].quantization == same[1].quantization) is alike
    given = rng.integers(0, 256, (2, 9)).astype(np.uint8)
    shifted = (given.astype(np.int64) - 128).astype(np.int8)
    found = reference.run(graph, {graph.inputs[0]: shifted})[graph.outputs[0]]
    np.testing.assert_array_equal(found.astype(np.int64) + 128, tflm(data, [given]))


def test_what_computes_with_uint8_is_refused(tflite_builder: ModuleType, tmp_path: Path) -> None:
    model = network(tflite_builder, (0.1,) * 4, (3,) * 4)
    model = replace(model, tensors=tuple(replace(each, dtype="uint8") for each in model.tensors))
    path = tmp_path / "edges.tflite"
    path.write_bytes(tflite_builder.write(model))
    with pytest.raises(ModelError, match="has type uint8 where only int8"):
        load_tflite(path)
