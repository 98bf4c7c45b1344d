# SPDX-License-Identifier: Apache-2.0
"""A data cache of several cores on the instruction-set simulator: right, each operation needed."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from tests import tflite_samples
from tests.cached_chips import (
    APART,
    NOT_OF_THE_HOST,
    SHARED_BY_INSTRUCTIONS,
    SHARED_BY_REGISTERS,
)
from tests.requests import load_requests

from atoll.artifacts.build_tree import Emit, build
from atoll.artifacts.samples import random_samples
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.ir.tir import CallSpread, CallStart
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_sim.check.layers import check_layers
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.mutate.caches import plant_cache_omissions
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import Stop

pytest.importorskip("unicorn")

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
ON_THE_SECOND = ("add_3=cpu_1", "softmax_9=cpu_1")
ON_ALL = ("conv_2d_0=cpu_0", "depthwise_conv_2d_1=cpu_1", "add_3=dsp", *ON_THE_SECOND[1:])
REEF = "devices.npu={kind: npu, accelerator: reef, registers: 0x5008_1000, irq: 3, clock: 400 MHz}"


def compiled(soc: ResolvedSoc, *placed: str, model: Path = DIGITS) -> Compiled:
    return compile_file(soc, model, BuildOptions(requests=load_requests(None, list(placed))))


def wrong_with(
    program: Compiled,
    folder: Path,
    *,
    evictions: int = 0,
    emit: Emit = Emit.OBJECT,
    chip: ResolvedSoc | None = None,
) -> str:
    """Run two samples, perhaps on another chip than the firmware's; say what is wrong."""
    elves = build((program,), folder / "build", emit=emit).firmware.elves
    samples, soc = random_samples(program.graph, 2), chip or program.soc
    on_chip = replace(program, soc=soc)
    request = requests_for((on_chip,), elves, (samples,), Path(), folder / "run", beats=False)
    request = replace(request, stall_cycles=2_000_000)
    result = simulate(
        request, lambda memory: make_models(soc, memory, (on_chip,)), evictions=evictions
    )
    if found := violations(result):
        return found[0].rule
    if result.stop is not Stop.EXIT:
        return str(result.stop)
    return "bytes" if check_layers(program.graph, samples, result, soc).mismatches else ""


@pytest.mark.parametrize(
    ("chip", "settings", "placed", "operations"),
    [
        pytest.param(SHARED_BY_REGISTERS, (), ON_THE_SECOND, 8, id="registers"),
        pytest.param(SHARED_BY_INSTRUCTIONS, (), ON_THE_SECOND, 8, id="instructions"),
        pytest.param(
            SHARED_BY_INSTRUCTIONS, (), ON_ALL, 7, id="beside another", marks=pytest.mark.slow
        ),
        pytest.param(
            SHARED_BY_INSTRUCTIONS,
            NOT_OF_THE_HOST,
            ON_THE_SECOND,
            10,
            id="not of the host",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            SHARED_BY_REGISTERS,
            ("devices.cpu.cache.write_back=false",),
            ON_THE_SECOND,
            3,
            id="write through",
            marks=pytest.mark.slow,
        ),
        pytest.param("esp32p4", (REEF, "pools.weights.others=ro"), (), 5, id="esp32p4"),
    ],
)
def test_each_operation_on_a_shared_cache_is_needed(
    chip: Path | str, settings: tuple[str, ...], placed: tuple[str, ...], operations: int
) -> None:
    campaign = plant_cache_omissions(compiled(load_soc(chip, settings), *placed), seed=1)
    assert campaign.passed, campaign.text(verbose=True)
    assert len(campaign.trials) == operations


@pytest.mark.slow
@pytest.mark.parametrize("chip", [SHARED_BY_REGISTERS, SHARED_BY_INSTRUCTIONS])
def test_two_caches_take_more_operations(chip: Path) -> None:
    campaign = plant_cache_omissions(compiled(load_soc(chip, APART), *ON_THE_SECOND), seed=1)
    assert campaign.passed, campaign.text(verbose=True)
    assert len(campaign.trials) == 10


@pytest.mark.parametrize("evictions", [0, 1])
def test_cores_of_one_cache_compute_parts_of_an_operator(evictions: int, tmp_path: Path) -> None:
    program = compiled(load_soc(SHARED_BY_REGISTERS, ["devices.npu=null"]))
    steps = program.module.entry.steps
    assert any(isinstance(step.action, CallSpread) for step in steps)
    assert not [each for step in steps for each in (*step.before, *step.after)]
    assert wrong_with(program, tmp_path, evictions=evictions) == ""


@pytest.mark.parametrize("settings", [(), NOT_OF_THE_HOST], ids=["of the host", "of others"])
def test_cores_of_one_cache_work_at_once(
    settings: tuple[str, ...], tmp_path: Path, tflite_builder: ModuleType
) -> None:
    path = tmp_path / "branches.tflite"
    path.write_bytes(tflite_builder.write(tflite_samples.branches(tflite_builder)))
    placed = [f"conv_2d_{number}=cpu_{number // 2}" for number in range(4)]
    placed += ["max_pool_2d_5=cpu_0", "max_pool_2d_6=cpu_1", "add_7=dsp"]
    soc = load_soc(SHARED_BY_INSTRUCTIONS, ["devices.npu=null", *settings])
    program = compiled(soc, *placed, model=path)
    assert any(isinstance(step.action, CallStart) for step in program.module.entry.steps)
    assert wrong_with(program, tmp_path, evictions=1) == ""


def test_c_source_maintains_it_too(tmp_path: Path) -> None:
    program = compiled(load_soc(SHARED_BY_REGISTERS), *ON_THE_SECOND)
    assert wrong_with(program, tmp_path, evictions=1, emit=Emit.C) == ""


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [((), "stall"), (("devices.cpu_1.mailbox=0x4006_0000", "devices.cpu_1.irq=4"), "bytes")],
    ids=["mailbox in memory", "mailbox of registers"],
)
def test_cores_that_have_a_cache_each_are_noticed(
    settings: tuple[str, ...], wrong: str, tmp_path: Path
) -> None:
    one, two = (load_soc(SHARED_BY_REGISTERS, [*settings, *more]) for more in ((), APART))
    program = compiled(one, *ON_THE_SECOND)
    assert wrong_with(program, tmp_path, chip=two) == wrong
    assert wrong_with(program, tmp_path) == ""
