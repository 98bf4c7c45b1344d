# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the unit tests: the independent oracle, and a network on two cores."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import COUNTS
from tests.kernels import hold
from tests.requests import load_requests
from tests.tflm_process import TFLM

from atoll.artifacts.build_tree import BuildTree, build
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.graph import Tensor
from atoll.ops import reference
from atoll.ops.registry import kind_of
from atoll.resolve.soc import ResolvedSoc

Arrays = list[NDArray[Any]]


@pytest.fixture(scope="session")
def tflm() -> Callable[..., NDArray[Any]]:
    """Run a TFLite file on the reference kernels of TFLM and return an output, or the first."""
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")

    def run(data: bytes, inputs: Arrays, output: int = 0) -> NDArray[Any]:
        ((answer,),) = TFLM.run(data, [inputs], [output])
        return answer

    return run


@pytest.fixture
def counted(request: pytest.FixtureRequest) -> Callable[..., bool]:
    """Tell whether cases are only counted (`tests.case_counts`); count one of these operators."""
    counts = request.config.stash.get(COUNTS, None)

    def count(*codes: str) -> bool:
        if counts is not None:
            counts.update({*codes})
        return counts is not None

    return count


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that one network after the other is written to."""
    return tmp_path_factory.mktemp("written") / "model.tflite"


@pytest.fixture
def equals_tflm(
    written: Path,
    tflite_builder: ModuleType,
    tflm: Callable[..., NDArray[Any]],
    counted: Callable[..., bool],
) -> Callable[..., None]:
    """Compare reference, machine code and oracle on a random sample of a model of the builder."""

    def compare(model: Any, rng: np.random.Generator, given: Arrays | None = None) -> None:
        data = tflite_builder.write(model)
        written.write_bytes(data)
        graph = load_tflite(written)
        kinds = (op.kind.upper() for op in graph.operators)
        if counted(*kinds, *(op.code for op in model.operators)):
            return
        samples = given or [_drawn(graph.tensor(name), rng) for name in graph.inputs]
        values = reference.run(graph, dict(zip(graph.inputs, samples, strict=True)))
        for number, name in enumerate(graph.outputs):
            result, expected = values[name], tflm(data, samples, number)
            assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_array_equal(result, expected, err_msg=str(graph))
        for op in graph.operators:
            hold(kind_of(op).lower(op, graph), values, values[op.outputs[0]], interpreted=False)

    return compare


def _drawn(tensor: Tensor, rng: np.random.Generator) -> NDArray[Any]:
    """Draw values from the whole range of a type."""
    if tensor.dtype == "bool":
        return rng.integers(0, 2, tensor.shape).astype(np.bool_)
    limits = np.iinfo(tensor.dtype)
    return rng.integers(limits.min, limits.max, tensor.shape, dtype=tensor.dtype, endpoint=True)


@pytest.fixture(scope="session")
def network(
    tmp_path_factory: pytest.TempPathFactory, tflite_builder: ModuleType, every_operator: Any
) -> Path:
    """A small network with every operator."""
    path: Path = tmp_path_factory.mktemp("network") / "every.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    return path


@pytest.fixture(scope="session")
def alternate(network: Path) -> Callable[..., Compiled]:
    """Put every other operator, counted from `first`, on `dsp`, all others on the host."""

    def compiled(soc: ResolvedSoc, first: int = 0) -> Compiled:
        names = [op.name for op in load_tflite(network).operators]
        wishes = load_requests(None, [f"{name}=dsp" for name in names[first::2]])
        return compile_file(soc, network, BuildOptions(accelerators=False, requests=wishes))

    return compiled


@pytest.fixture(scope="session")
def program(duo: Callable[..., ResolvedSoc], alternate: Callable[..., Compiled]) -> Compiled:
    return alternate(duo())


@pytest.fixture(scope="session")
def tree(program: Compiled, tmp_path_factory: pytest.TempPathFactory) -> BuildTree:
    """The build folder of `program`; not to be written to."""
    return build((program,), tmp_path_factory.mktemp("built") / "build")
