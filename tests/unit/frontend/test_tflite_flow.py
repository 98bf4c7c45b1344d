"""IF and WHILE become what they run, with TFLM's bytes."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.effort import drawn
from tests.flow_samples import Flow

from atoll.frontend.tflite import load_tflite
from atoll.ops import reference

Compare = Callable[[Any, np.random.Generator], None]
Run = Callable[..., np.ndarray[Any, Any]]


@pytest.mark.parametrize("seed", drawn(1000, 40))
def test_random_bodies(seed: int, tmp_path: Path, tflite_builder: ModuleType, tflm: Run) -> None:
    rng, path = np.random.default_rng(seed), tmp_path / "model.tflite"
    model = Flow(tflite_builder, rng).model()
    data = tflite_builder.write(model)
    path.write_bytes(data)
    graph = load_tflite(path)
    for _ in range(2):
        drawn = [rng.integers(-128, 128, graph.tensor(n).shape, np.int8) for n in graph.inputs]
        values = reference.run(graph, dict(zip(graph.inputs, drawn, strict=True)))
        for number, name in enumerate(graph.outputs):
            expected = tflm(data, drawn, number)
            assert (values[name].shape, values[name].dtype) == (expected.shape, expected.dtype)
            np.testing.assert_array_equal(values[name], expected)


@pytest.mark.parametrize("seed", drawn(40, 2))
def test_machine_code(seed: int, tflite_builder: ModuleType, equals_tflm: Compare) -> None:
    rng = np.random.default_rng(seed)
    equals_tflm(Flow(tflite_builder, rng).model(), rng)
