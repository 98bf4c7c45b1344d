# SPDX-License-Identifier: Apache-2.0
"""EXP, GELU and LOG are what real numbers round to, at all values of int8."""

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tests.effort import seeded

from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference

EXACT: dict[str, Callable[[float], float]] = {
    "EXP": math.exp,
    "GELU": lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))),
    "LOG": math.log,
}


@pytest.mark.parametrize("code", EXACT)
@seeded(1000)
def test_rounded(
    seed: int,
    code: str,
    tflite_builder: ModuleType,
    tmp_path: Path,
    counted: Callable[..., bool],
) -> None:
    if counted(code):
        return
    rng = np.random.default_rng(seed)
    scale, made = (float(np.float32(each)) for each in rng.uniform(0.005, 0.05, 2))
    zero, point = (int(each) for each in rng.integers(-128, 128, 2))
    approximate = bool(seed % 2)
    table = {"table": "GeluOptions", "options": {"Approximate": approximate}}
    op = tflite_builder.Operator(
        code=code, inputs=(0,), outputs=(1,), **(table if code == "GELU" else {})
    )
    tensors = (
        tflite_builder.Tensor(shape=(256,), scales=(scale,), zero_points=(zero,)),
        tflite_builder.Tensor(shape=(256,), scales=(made,), zero_points=(point,)),
    )
    model = tflite_builder.Model(tensors=tensors, operators=(op,), inputs=(0,), outputs=(1,))
    path, x = tmp_path / "model.tflite", np.arange(-128, 128).astype(np.int8)
    path.write_bytes(tflite_builder.write(model))
    graph = load_tflite(path)
    (name,) = graph.outputs
    values = reference.run(graph, {graph.inputs[0]: x})[name].astype(int)
    slack = 0.51 if not approximate or code != "GELU" else 0.51 + 5e-4 / made
    for given, result in zip(x.tolist(), values, strict=True):
        real = (given - zero) * scale
        if code == "LOG" and real <= 0:
            assert result == (-128 if real == 0 else point)
            continue
        steps = EXACT[code](real) / made + point
        assert abs(min(max(steps, -128), 127) - result) < slack
