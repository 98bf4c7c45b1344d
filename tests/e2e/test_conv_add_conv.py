# SPDX-License-Identifier: Apache-2.0
"""P5: conv, add, conv: no copy over a shared memory, three over private ones, in full RTL."""

from pathlib import Path
from types import ModuleType

import pytest

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import Compiled, compile_file
from atoll.ir.graph import Operator
from atoll.place.plan_devices import plan_devices
from atoll.resolve import load_soc
from atoll.resolve.soc import Cpu
from atoll_sim.check.layers import check_layers
from atoll_sim.protocol.records import AccessKind
from atoll_sim.simulate.rtl_run import run_firmware
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Touched

DATA = Path(__file__).parents[1] / "data"
IMAGE = 8 * 8 * 16

# Chip, and what its copies move: the input to the accelerator, its result to the core, and the sum
# back; without the window also the output.
CHIPS = {
    "pair": [],
    "islands_window": [IMAGE, IMAGE, IMAGE],
    "islands_dma": [IMAGE, IMAGE, IMAGE, 8 * 8 * 4],
}


@pytest.fixture(params=CHIPS)
def chip(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def compiled(
    chip: str,
    tflite_builder: ModuleType,
    tflite_samples: ModuleType,
    tmp_path: Path,
) -> Compiled:
    """The network on one of the chips."""
    path = tmp_path / "conv_add_conv.tflite"
    path.write_bytes(tflite_builder.write(tflite_samples.conv_add_conv(tflite_builder)))
    return compile_file(load_soc(str(DATA / f"{chip}.yaml")), path)


def copies(compiled: Compiled) -> list[Operator]:
    return [op for op in compiled.graph.operators if op.kind == "copy"]


def sizes(compiled: Compiled, operators: list[Operator]) -> list[int]:
    return [compiled.graph.tensor(op.outputs[0]).size for op in operators]


def writes(compiled: Compiled, result: SimResult, device: str, numbers: set[int]) -> int:
    """Return the bytes that a device wrote into pools while one of some operators ran."""
    return sum(
        pool_bytes(compiled, touch)
        for phase in result.phases
        for touch in phase.touched
        if touch.master == device
        and touch.kind is AccessKind.WRITE
        and not numbers.isdisjoint(phase.operators)
    )


def pool_bytes(compiled: Compiled, touch: Touched) -> int:
    """Return what was transferred, less what a core wrote to memories that hold no pool."""
    pools = [range(pool.region.origin, pool.region.end) for pool in compiled.soc.pools]
    inside = sum(
        len(range(max(span.start, pool.start), min(span.stop, pool.stop)))
        for span in touch.spans
        for pool in pools
    )
    core = isinstance(compiled.soc.device(touch.master), Cpu)
    return inside if core else touch.transferred


def test_p5_copies_are_those_between_private_memories(compiled: Compiled) -> None:
    expected = CHIPS[compiled.soc.name]
    kinds = [op.kind for op in compiled.graph.operators if op.kind != "copy"]
    devices = [op.device for op in compiled.graph.operators if op.kind != "copy"]
    assert kinds == ["conv_2d", "add", "conv_2d"]
    assert devices == ["npu_a", "cpu", "npu_a"]
    assert sizes(compiled, copies(compiled)) == expected
    assert plan_devices(compiled.graph, compiled.soc).graph == compiled.graph


@pytest.mark.parametrize("chip", ["pair"])
def test_an_accelerator_with_a_unit_for_elements_takes_all(compiled: Compiled) -> None:
    soc = load_soc(str(DATA / "pair.yaml"), ["devices.npu_a.params.vector=1"])
    graph = compile_file(soc, compiled.source.path).graph
    assert [op.device for op in graph.operators] == ["npu_a"] * 3


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    "chip",
    ["pair", *(pytest.param(f"islands_{by}", marks=pytest.mark.slow) for by in ("window", "dma"))],
)
def test_p5_the_simulator_moves_the_bytes_of_the_plan(compiled: Compiled, tmp_path: Path) -> None:
    """Each device writes the results of its operators and not one byte more."""
    samples = random_sample(compiled.graph)
    elves = build((compiled,), tmp_path / "build").firmware.elves
    result = run_firmware((compiled,), elves, (samples,))
    check = check_layers(compiled.graph, samples, result)
    assert (check.mismatches, violations(result)) == ((), ())
    for device in compiled.soc.devices:
        mine = {n for n, op in enumerate(compiled.graph.operators) if op.device == device.name}
        planned = sum(sizes(compiled, [compiled.graph.operators[number] for number in mine]))
        assert writes(compiled, result, device.name, mine) == planned, device.name
    moved = {n for n, op in enumerate(compiled.graph.operators) if op.kind == "copy"}
    engines = {op.device for op in copies(compiled)}
    assert sum(writes(compiled, result, device, moved) for device in engines) == sum(
        CHIPS[compiled.soc.name]
    )
