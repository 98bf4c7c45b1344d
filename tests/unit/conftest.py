"""Fixtures of the unit tests: the independent oracle."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atoll.frontend.tflite import load_tflite
from atoll.ops import reference

Arrays = list[NDArray[Any]]
ARENA_BYTES = 2**20


@pytest.fixture(scope="session")
def tflm() -> Callable[[bytes, Arrays], NDArray[Any]]:
    """Run a TFLite file on the reference kernels of TFLM and return its first output."""
    runtime = pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro").runtime

    def run(data: bytes, inputs: Arrays) -> NDArray[Any]:
        interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA_BYTES)
        for index, values in enumerate(inputs):
            interpreter.set_input(values, index)
        interpreter.invoke()
        return np.asarray(interpreter.get_output(0))

    return run


@pytest.fixture
def equals_tflm(
    tmp_path: Path, tflite_builder: ModuleType, tflm: Callable[[bytes, Arrays], NDArray[Any]]
) -> Callable[[Any, np.random.Generator], None]:
    """Compare reference and oracle on one random sample of a model made with the builder."""

    def compare(model: Any, rng: np.random.Generator) -> None:
        data = tflite_builder.write(model)
        path = tmp_path / "model.tflite"
        path.write_bytes(data)
        graph = load_tflite(path)
        shapes = [graph.tensor(name).shape for name in graph.inputs]
        samples: Arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in shapes]
        values = reference.run(graph, dict(zip(graph.inputs, samples, strict=True)))
        result, expected = values[graph.outputs[0]], tflm(data, samples)
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_array_equal(result, expected, err_msg=str(graph))

    return compare
