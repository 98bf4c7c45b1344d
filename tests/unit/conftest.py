"""Fixtures of the unit tests: a writer of TFLite files and the independent oracle."""

import importlib.util
import sys
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


def _support(name: str) -> ModuleType:
    """Import a module of tests/, which is no package."""
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def tflite_builder() -> ModuleType:
    """The module tests/tflite_builder.py."""
    return _support("tflite_builder")


@pytest.fixture
def every_operator(tflite_builder: ModuleType) -> Any:
    """A model with every operator, for the builder to write."""
    return _support("tflite_samples").every_operator(tflite_builder)


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
