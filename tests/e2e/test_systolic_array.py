# SPDX-License-Identifier: Apache-2.0
"""A systolic array with private memory, layouts and rounding of its own, beside two others."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ops import reference
from atoll.report.estimates import estimates_of
from atoll.resolve import load_soc

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "11_systolic_array"
CHIP = str(EXAMPLE / "chip.yaml")
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
NEAR = 0.2

PLANTED = {
    "rounding": ("loom_scale.sv", "products_q[j] + half", "products_q[j]"),
    "clamp": ("loom_scale.sv", "? high_i : moved[7:0]", "? moved[7:0] : moved[7:0]"),
    "first of a sum": ("loom_cells.sv", "value.first ? '0 : ", ""),
    "last rows of a tile": ("loom_engine.sv", "4'(Lanes) : positions_q[3:0]", "4'(Lanes) : 4'd1"),
    "next channels": (
        "loom_engine.sv",
        "weights_at_q   <= weights_at_q + {18'b0, job_i.depth, 6'b0};",
        "weights_at_q   <= weights_at_q;",
    ),
    "reads ahead": ("loom_engine.sv", "8'(asked_q - fed_q) < 8'(Buffers)", "1'b1"),
}
"""Bugs in the RTL of the array."""


def ran(capsys: pytest.CaptureFixture[str], network: Path, *options: str) -> dict[str, Any]:
    assert main(["run", CHIP, str(network), "--json", *options]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


@pytest.mark.rtl
def test_digits_on_three_accelerators(capsys: pytest.CaptureFixture[str]) -> None:
    report = ran(capsys, DIGITS, "--cpu", "rtl")
    layers = report["cycles"]["by_layer"]
    assert {each["device"] for each in layers} == {"cpu", "dma", "loom", "reef", "vector"}
    (note,) = (each for each in report["notes"] if "loom" in each)
    assert "differs from TensorFlow Lite for Microcontrollers in 0 of 10 values" in note


def test_it_rounds_in_its_own_way() -> None:
    soc = load_soc(CHIP)
    compiled = compile_file(soc, DIGITS)
    (sample,) = random_sample(load_tflite(DIGITS))[:1]
    own = reference.run(compiled.graph, sample, soc)
    exact = reference.run(compiled.graph, sample)
    apart = np.abs(own["conv_2d_2_out"].astype(int) - exact["conv_2d_2_out"].astype(int))
    assert apart.max() <= 1


def test_neighbours_keep_the_layout_that_both_have(
    tflite_builder: ModuleType, tmp_path: Path
) -> None:
    graph = compile_file(load_soc(CHIP), _two_convolutions(tflite_builder, tmp_path)).graph
    first, second = (op for op in graph.operators if op.kind == "conv_2d")
    assert first.device == second.device == "loom"
    assert second.inputs[0] == first.outputs[0]
    assert sum(op.kind == "relayout" for op in graph.operators) == 2


def _two_convolutions(builder: ModuleType, folder: Path) -> Path:
    tensor = builder.Tensor
    image = {"scales": (0.05,), "zero_points": (3,)}
    weights = np.random.default_rng(1).integers(-127, 128, (16, 1, 1, 16)).astype(np.int8)
    kernel = {"shape": weights.shape, "data": weights, "scales": (0.01,), "zero_points": (0,)}
    model = builder.Model(
        tensors=(
            *(tensor(shape=(1, 12, 12, 16), **image) for _ in range(3)),
            tensor(**kernel),
        ),
        operators=tuple(
            builder.Operator(
                code="CONV_2D",
                inputs=(number, 3),
                outputs=(number + 1,),
                table="Conv2DOptions",
                options={"StrideH": 1, "StrideW": 1},
            )
            for number in (0, 1)
        ),
        inputs=(0,),
        outputs=(2,),
    )
    path = folder / "two.tflite"
    path.write_bytes(builder.write(model))
    return path


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    "network",
    [
        "digits",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("kws_ref_model", "vww_96_int8")),
    ],
)
def test_stages_take_as_long(
    network: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Estimate, models beside RTL cores, and RTL: the cycles of each network, and its bytes."""
    path = DIGITS
    if network != "digits":
        path = request.getfixturevalue("shared_models") / f"{network}.tflite"
    report = ran(capsys, path, "--cpu", "rtl")["cycles"]
    model = ran(capsys, path, "--cpu", "rtl", "--accelerator", "model")["cycles"]
    (estimate,) = estimates_of((compile_file(load_soc(CHIP), path),))
    layers = report["by_layer"]
    taken = max(each["end"] for each in layers) - min(each["begin"] for each in layers)
    assert estimate.network == pytest.approx(taken, rel=NEAR)
    assert model["working"] == pytest.approx(report["working"], rel=NEAR)
    assert report["at_once"] > 0


@pytest.mark.slow
@pytest.mark.rtl
def test_nothing_is_wrong_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["accelerator", "test", str(EXAMPLE / "loom.yaml"), "--json", "--operators", "12"]
    assert main([*arguments, "--faults", "9"]) == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == []


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in EXAMPLE.glob("loom*"):
        (tmp_path / path.name).write_text(path.read_text())
    file, right, wrong = PLANTED[name]
    text = (tmp_path / file).read_text()
    assert right in text
    (tmp_path / file).write_text(text.replace(right, wrong))
    assert (
        main(["accelerator", "test", str(tmp_path / "loom.yaml"), "--json", "--faults", "0"]) == 1
    )
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [bool(check["faults"]) for check in checks] == [False, True]


@pytest.mark.slow
@pytest.mark.rtl
def test_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", CHIP, str(DIGITS), "--mutants", "40", "--faults", "9", "--json"]) == 0
    capsys.readouterr()
