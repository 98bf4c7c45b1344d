# SPDX-License-Identifier: Apache-2.0
"""A native host drives accelerators in RTL: same bytes as their models, same places touched."""

from pathlib import Path

import numpy as np
import pytest

from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError
from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.build.model import build_model
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import HostCores, ModelAccelerators
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.protocol.records import AccessKind
from atoll_sim.trace.simulation import SimResult, Touched

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"

pytestmark = pytest.mark.rtl


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc("lagoon"), DIGITS)


@pytest.fixture
def accelerators(compiled: Compiled, tmp_path: Path) -> RtlAccelerators:
    model = build_model(compiled.soc, external_host=True)
    return RtlAccelerators(compiled.soc, HostMemory(compiled.soc), model, tmp_path)


def samples(compiled: Compiled) -> list[Sample]:
    name = compiled.graph.inputs[0]
    random = np.random.default_rng(3)
    shape = compiled.graph.tensor(name).shape
    return [{name: random.integers(-128, 128, shape).astype(np.int8)} for _ in range(2)]


def written(result: SimResult, master: str) -> list[tuple[range, ...]]:
    return [
        touched.spans
        for phase in result.phases
        for touched in phase.touched
        if (touched.master, touched.kind) == (master, AccessKind.WRITE)
    ]


def test_every_layer_is_the_models(compiled: Compiled, tmp_path: Path) -> None:
    memory = HostMemory(compiled.soc)
    expected = HostCores((compiled,), memory, ModelAccelerators(compiled.soc, memory)).run(
        samples(compiled)
    )
    memory = HostMemory(compiled.soc)
    model = build_model(compiled.soc, external_host=True)
    with RtlAccelerators(compiled.soc, memory, model, tmp_path) as accelerators:
        result = HostCores((compiled,), memory, accelerators).run(samples(compiled))
        assert sum(accelerators.cycles) > 1000
        assert accelerators.take_touched() == ()
    assert result.outputs == expected.outputs
    assert result.layers == expected.layers
    assert written(result, "npu") == written(expected, "npu")


def test_an_error_comes_back_as_an_outcome(
    compiled: Compiled, accelerators: RtlAccelerators
) -> None:
    (npu,) = compiled.soc.npus
    hole = compiled.soc.pool("private").region.origin
    with accelerators:
        outcome = accelerators.run(npu, hole, 1)
        touched: tuple[Touched, ...] = accelerators.take_touched()
        again = accelerators.run(npu, hole + 64, 1)
    assert (outcome.error, outcome.fault_address, outcome.completed) == (2, hole, 0)
    assert (again.error, again.fault_address) == (2, hole + 64)
    assert touched == ()


def test_a_dead_simulator_is_an_error(compiled: Compiled, accelerators: RtlAccelerators) -> None:
    (npu,) = compiled.soc.npus
    with accelerators:
        accelerators._child.end()
        with pytest.raises(SimulationError, match="broke off"):
            accelerators.run(npu, 0, 1)
