# SPDX-License-Identifier: Apache-2.0
"""Networks through Vela on a Corstone-300 class chip: planned, linked, held against the chip, run.

Set ATOLL_ETHOS_U_DRIVER to a folder with Arm's ethos-u-core-driver and ATOLL_CMSIS_CORE to the
folder CMSIS/Core/Include of Arm's CMSIS for the tests with that driver.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.small_program import request
from tests.e2e.test_board_packages import cmake
from tests.effort import in_gate
from tests.npu_registers import NpuRegisters, RunList

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_samples
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import Engine
from atoll.vela import run_vela
from atoll_sim.engines.ethos_u.emitter import EthosUEmitter
from atoll_sim.iss.engines import make_models
from atoll_sim.iss.iss_run import simulate
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

pytest.importorskip("ethosu.vela")

CHIP = "corstone300_u55"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
M33 = ("devices.cpu.core=cortex_m33", "devices.cpu.isa=armv8-m.main+dsp")
"""A core that the instruction-set simulator runs; the rest is the chip's own."""

NOTE = "ethos_u55: cycles are Vela's estimate; bytes are checked up to the NPU's border only"
DRIVER = os.environ.get("ATOLL_ETHOS_U_DRIVER", "")
CMSIS = os.environ.get("ATOLL_CMSIS_CORE", "")
SLOW = pytest.mark.slow
ARMS = pytest.mark.skipif(
    not (DRIVER and CMSIS), reason="ATOLL_ETHOS_U_DRIVER names no driver of Arm's"
)
NETWORKS = ("kws_ref_model", "vww_96_int8", "ad01_int8", "pretrainedResnet_quant")


def words(settings: tuple[str, ...]) -> list[str]:
    return [word for setting in settings for word in ("--set", setting)]


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("network", in_gate(NETWORKS, 0, 1))
def test_a_network_is_planned_linked_and_agrees_with_the_chip(
    network: str, shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = compile_file(load_soc(CHIP), shared_models / f"{network}.tflite")
    (op,) = compiled.graph.operators
    places = {name: each.pool for name, each in compiled.plan.placements.items()}
    (result,), (image,) = compiled.graph.outputs, compiled.graph.inputs
    flash = {f"{op.name}_{part}" for part in ("stream", "weights", "commands")}
    sram = {f"{op.name}_scratch", image, result}
    assert places == dict.fromkeys(flash, "weights") | dict.fromkeys(sram, "shared")
    tree = build((compiled,), tmp_path / "build")
    (elf,) = tree.firmware.elves
    assert main(["check-image", CHIP, str(elf), "--json"]) == 0
    regions = {each["region"]: each["used_bytes"] for each in report(capsys)["usage"]}
    constants = sum(
        compiled.graph.tensor(f"{op.name}_{part}").size for part in ("stream", "weights")
    )
    assert regions["weights"] == constants + 128
    golden = np.load(shared_models / "golden" / f"{network}.npz")
    sample = {image: golden["inputs"][0].reshape(compiled.graph.tensor(image).shape)}
    kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    (outcome,) = run_models((compiled,), ([sample],), **kinds)  # type: ignore[arg-type]
    assert outcome.report.passed
    assert NOTE in outcome.report.notes
    assert outcome.outputs[0][result].tobytes() == golden["outputs_tflm"][0].tobytes()


@pytest.mark.parametrize("model", ["digits", *NETWORKS])
def test_firmware_runs_with_the_border(
    model: str, shared_models: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    path = DIGITS if model == "digits" else shared_models / f"{model}.tflite"
    options = ["--cpu", "iss", "--accelerator", "model", "--json", *words(M33)]
    assert main(["run", CHIP, str(path), *options]) == 0
    found = report(capsys)
    assert found["bit_exact"] is True
    assert found["placement"]["violations"] == []
    assert found["placement"]["accesses"] > 1_000
    assert NOTE in found["notes"]
    (layer,) = found["cycles"]["by_layer"]
    (op,) = compile_file(load_soc(CHIP, M33), path).graph.operators
    assert op.integer("cycles") <= layer["worked"] <= op.integer("cycles") + 1_000
    assert layer["cycles"] == pytest.approx(layer["estimate"], rel=0.1)


@pytest.mark.parametrize("cpu", [CpuKind.NATIVE, CpuKind.ISS])
def test_operators_between_two_subgraphs_stay_on_the_core(
    cpu: CpuKind, shared_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vela is told to leave the pooling; each subgraph has constants of its own."""
    pytest.importorskip("unicorn")
    options = run_vela.options_of
    left = ("--ignore-ops", "AVERAGE_POOL_2D")
    monkeypatch.setattr(run_vela, "options_of", lambda *given: (*options(*given), *left))
    compiled = compile_file(load_soc(CHIP, M33), shared_models / "kws_ref_model.tflite")
    devices = [op.device for op in compiled.graph.operators]
    assert devices == ["ethos_u55", "cpu", "ethos_u55"]
    weights = [name for name in compiled.plan.placements if name.endswith("_weights")]
    assert len(weights) == 2
    samples = random_samples(compiled.graph, 2)
    (outcome,) = run_models((compiled,), (samples,), cpu=cpu, accelerator=AcceleratorKind.MODEL)
    assert outcome.report.passed
    assert outcome.report.layers_compared == 12


def test_a_pinned_tensor_is_copied_for_the_npu(capsys: pytest.CaptureFixture[str]) -> None:
    pinned = ["--pin", "image=private", "--free", "image"]
    command = ["run", CHIP, str(DIGITS), "--cpu", "native", "--accelerator", "model", *pinned]
    assert main([*command, "--json"]) == 0
    assert report(capsys)["layers_equal"] == 4


def test_an_npu_without_a_driver_is_refused_when_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    folder = tmp_path / "build"
    assert main(["build", CHIP, str(DIGITS), "-o", str(folder), *words(M33)]) == 0
    capsys.readouterr()
    monkeypatch.setattr(EthosUEmitter, "identity", lambda *_: {"ID": 0x1006_6001})
    assert main(["simulate", str(folder), "--cpu", "iss", "--accelerator", "model"]) == 1
    said = capsys.readouterr()
    assert "ethos_u55: no Ethos-U driver is linked" in said.out + said.err


@pytest.mark.parametrize("cpu", ["native", "iss"])
def test_there_is_no_rtl_to_run(cpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", CHIP, str(DIGITS), "--cpu", cpu, "--accelerator", "rtl", *words(M33)]) == 1
    said = "error[E163]: there is no RTL of accelerator 'ethos_u55', which 'ethos_u55' is"
    assert said in capsys.readouterr().err


def test_what_explains_the_placement(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", CHIP, str(DIGITS), "--json"]) == 0
    (operator,) = report(capsys)["operators"]
    assert operator["device"] == "ethos_u55"
    assert operator["reason"].startswith("Vela ")
    assert "made it of conv_2d_0 to softmax_9, about " in operator["reason"]


def with_arms_driver(preset: str, folder: Path, *settings: str) -> Path:
    """Build the image of a package with Arm's driver; a warning is a failure."""
    if preset != "zig" and shutil.which(preset) is None:
        pytest.skip(f"{preset} is not installed")
    package = folder / "bsp"
    assert main(["bsp", CHIP, str(DIGITS), "-o", str(package), *words(settings)]) == 0
    cmake(package, preset, f"-DATOLL_ETHOS_U_DRIVER={DRIVER}", f"-DATOLL_CMSIS_CORE={CMSIS}")
    elf = package / "build" / preset / "firmware.elf"
    assert b"ethosu_invoke_async" in elf.read_bytes()
    return elf


@SLOW
@ARMS
@pytest.mark.parametrize("preset", ["zig", "arm-none-eabi-gcc"])
def test_an_image_with_arms_driver_agrees_with_the_chip(preset: str, tmp_path: Path) -> None:
    assert main(["check-image", CHIP, str(with_arms_driver(preset, tmp_path))]) == 0


@SLOW
@ARMS
@pytest.mark.parametrize("silent", [False, True], ids=["answers", "silent"])
def test_arms_driver_starts_an_npu_with_its_registers(
    silent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The peer holds what the driver writes against the plan; the border computes."""
    elf = with_arms_driver("zig", tmp_path, *M33)
    compiled = compile_file(load_soc(CHIP, M33), DIGITS)
    made: list[NpuRegisters] = []

    def peer(engine: Engine, run: RunList) -> NpuRegisters:
        made.append(NpuRegisters(engine, run, compiled))
        made[-1].silent = silent
        return made[-1]

    monkeypatch.setattr("atoll_sim.iss.chip.EngineRegisters", peer)
    started = request(compiled.soc, elf)
    result = simulate(started, lambda memory: make_models(compiled.soc, memory, (compiled,)))
    assert made[-1].starts == 1
    if silent:
        assert result.exit_status == 1
        assert "the device stopped with an error" in result.text
    else:
        assert result.exit_status == 0
        assert result.text.endswith(" (right)\n")


@SLOW
@ARMS
def test_an_image_with_arms_driver_still_runs_on_the_border(tmp_path: Path) -> None:
    elf = with_arms_driver("zig", tmp_path, *M33)
    compiled = compile_file(load_soc(CHIP, M33), DIGITS)
    started = request(compiled.soc, elf)
    result = simulate(started, lambda memory: make_models(compiled.soc, memory, (compiled,)))
    assert result.text.endswith(" (right)\n")
