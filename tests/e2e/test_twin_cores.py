# SPDX-License-Identifier: Apache-2.0
"""Two cores, two accelerators and a DMA engine of one chip share a network, all in RTL."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.requests import load_requests

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import Sample, random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models
from atoll_sim.simulate.rtl_run import run_firmware
from atoll_sim.trace.findings import violations

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"
MODEL = DIGITS / "digits_int8.tflite"
PLACED = ("add_3=dsp", "softmax_9=dsp")
ALL_DEVICES = {"cpu", "dsp", "npu_large", "npu_small", "dma"}


def compiled(
    model: Path, placed: Sequence[str], *overrides: str, accelerators: bool = True
) -> Compiled:
    requests = load_requests(None, placed)
    options = BuildOptions(accelerators=accelerators, requests=requests)
    return compile_file(load_soc("twin", overrides), model, options)


def image_of(program: Compiled) -> Sample:
    (name,) = program.graph.inputs
    image = np.load(DIGITS / "digits_test.npz")["x"][0]
    return {name: image.reshape(program.graph.tensor(name).shape)}


def flawless(outcome: Outcome) -> Outcome:
    """Check that nothing is wrong, and that each core stays within its own bound and limit."""
    report = outcome.report
    assert (report.mismatches, report.violations, report.notes) == ((), (), ())
    assert report.passed
    assert set(report.stack) == {"cpu", "dsp"}
    for stack in report.stack.values():
        assert stack.watermark is not None
        assert stack.bound is not None
        assert 0 < stack.watermark <= stack.bound <= stack.limit
    return outcome


def test_d3_kws_runs_on_every_device_of_the_chip(
    shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four kinds of devices in one inference, through the command line, equal to the goldens."""
    golden = np.load(shared_models / "golden" / "kws_ref_model.npz")
    model = shared_models / "kws_ref_model.tflite"
    program = compiled(model, ())
    (name,) = program.graph.inputs
    np.save(tmp_path / "in.npy", golden["inputs"][0].reshape(program.graph.tensor(name).shape))
    asked = ("fully_connected_11=dsp", "softmax_12=dsp")
    places = [word for each in asked for word in ("--place", each)]
    files = ("--input", str(tmp_path / "in.npy"), "--output", str(tmp_path / "out.npy"))
    assert main(["run", "twin", str(model), *files, *places, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["placement"]["violations"] == []
    assert {layer["device"] for layer in report["cycles"]["by_layer"]} == ALL_DEVICES
    for stack in (report["stack"][core] for core in ("cpu", "dsp")):
        assert 0 < stack["watermark_bytes"] <= stack["bound_bytes"] <= stack["limit_bytes"]
    assert np.load(tmp_path / "out.npy").tobytes() == golden["outputs_tflm"][0].tobytes()


def test_a_build_folder_of_two_images_is_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "build")
    places = [word for each in PLACED for word in ("--place", each)]
    assert main(["build", "twin", str(MODEL), *places, "-o", folder]) == 0
    assert "dsp.elf: dsp.code" in capsys.readouterr().err
    assert main(["simulate", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bit_exact"] is True
    (tmp_path / "build" / "dsp.elf").write_bytes(b"another")
    assert main(["simulate", folder]) == 1
    assert "dsp.elf missing or changed since the build" in capsys.readouterr().err


@pytest.mark.slow  # a chip model of its own; tests/unit/sim/test_stacks.py has the rule
def test_k5_a_stack_that_is_still_being_painted_is_no_violation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The run needs the second core for nothing, and ends before it has painted a large stack."""
    sizes = ("memories.dsp_tcm.size=256KiB", "devices.dsp.stack.size=128KiB")
    overrides = [word for size in sizes for word in ("--set", size)]
    assert main(["run", "twin", str(MODEL), *overrides, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    stack = report["stack"]["dsp"]
    assert stack["watermark_bytes"] is None
    assert "when the run ended, 'dsp' had painted" in stack["unmeasured"]
    assert any(note.startswith("stack dsp was not measured") for note in report["notes"])
    assert 0 < report["stack"]["cpu"]["watermark_bytes"] <= report["stack"]["cpu"]["bound_bytes"]


def test_k1_k5_the_bytes_are_the_same_for_every_limit_of_the_second_core() -> None:
    outputs = set()
    for limit in (0, 4096):
        key = f"devices.dsp.limits.max_stack_alloca_size={limit}"
        program = compiled(MODEL, PLACED, key)
        kinds = {"cpu": CpuKind.RTL, "accelerator": AcceleratorKind.RTL}
        outcome = flawless(run_models((program,), ([image_of(program)],), **kinds)[0])  # type: ignore[arg-type]
        outputs.add(outcome.outputs[0][program.graph.outputs[0]].tobytes())
    native = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    here = run_models((program,), ([image_of(program)],), **native)[0]  # type: ignore[arg-type]
    assert outputs == {here.outputs[0][program.graph.outputs[0]].tobytes()}


@pytest.fixture
def every(tmp_path: Path, tflite_builder: ModuleType, every_operator: Any) -> Path:
    path = tmp_path / "every.tflite"
    path.write_bytes(tflite_builder.write(every_operator))
    return path


@pytest.mark.slow
def test_p6_both_cores_compute_at_the_same_time(every: Path) -> None:
    """Two pools of one value: one on each core, overlapping in the trace."""
    program = compiled(every, ("average_pool_2d_7=dsp",), accelerators=False)
    samples = random_sample(program.graph)
    kinds = {"cpu": CpuKind.RTL, "accelerator": AcceleratorKind.NONE}
    report = flawless(run_models((program,), (samples,), **kinds)[0]).report  # type: ignore[arg-type]
    layers = {layer.operator: layer for layer in report.by_layer}
    there, here = layers["average_pool_2d_7"], layers["max_pool_2d_6"]
    assert (there.device, here.device) == ("dsp", "cpu")
    together = min(here.end, there.end) - max(here.begin, there.begin)
    assert together > 1000
    assert report.concurrency.saved > 1000


def test_what_the_second_core_may_not_touch_is_noticed(tmp_path: Path) -> None:
    """Held against a plan that promises less, the same firmware breaks it."""
    program = compiled(MODEL, PLACED)
    elves = build((program,), tmp_path / "build").firmware.elves
    assert violations(run_firmware((program,), elves, ([image_of(program)],))) == ()
    number, phase = next(
        (number, phase)
        for number, phase in program.contract.phases.items()
        if phase.device == "dsp"
    )
    promised = {**program.contract.phases, number: replace(phase, writes=())}
    changed = replace(program, contract=replace(program.contract, phases=promised))
    found = violations(run_firmware((changed,), elves, ([image_of(program)],)))
    rules = {v.rule for v in found if (v.device, v.operator) == ("dsp", phase.operator)}
    assert rules == {"overlap clobber"}, "the result lies over its operand"
