# SPDX-License-Identifier: Apache-2.0
"""An accelerator runs as a description, as a model and in RTL, with the same bytes."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.effort import in_gate

from atoll.cli import main

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
PLOVER = str(ROOT / "examples" / "10_vector_engine" / "chip.yaml")
SLOW_RTL = (pytest.mark.rtl, pytest.mark.slow)
LAGOON = (ROOT / "socs" / "lagoon.yaml").read_text()

IDEA = """
accelerator: idea
version: 1
operators:
  CONV_2D: {cost: 100 + macs // 64}
  FULLY_CONNECTED: {}
"""


def ran(capsys: pytest.CaptureFixture[str], chip: str, *options: str) -> dict[str, object]:
    assert main(["run", chip, DIGITS, "--json", *options]) == 0
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    placement = report["placement"]
    assert isinstance(placement, dict)
    assert placement["violations"] == []
    return report


def layers(report: dict[str, object]) -> dict[str, dict[str, Any]]:
    cycles = report["cycles"]
    assert isinstance(cycles, dict)
    return {each["operator"]: each for each in cycles["by_layer"]}


@pytest.fixture
def idea(tmp_path: Path) -> str:
    """A chip whose accelerator has no more than a description."""
    (tmp_path / "idea.yaml").write_text(IDEA)
    chip = tmp_path / "chip.yaml"
    params = "    params: {input_lanes: 8, output_lanes: 8, vector: 2}\n"
    assert params in LAGOON
    text = LAGOON.replace(params, "").replace("accelerator: reef", "accelerator: ./idea.yaml")
    chip.write_text(text)
    return str(chip)


@pytest.mark.parametrize(
    "cpu", in_gate(["native", "iss", pytest.param("rtl", marks=pytest.mark.rtl)], 0)
)
def test_a_description_runs(idea: str, cpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = layers(ran(capsys, idea, "--cpu", cpu))
    devices = {name: each["device"] for name, each in found.items()}
    assert devices["conv_2d_0"] == devices["fully_connected_8"] == "npu"
    if cpu == "rtl":
        measured, expected = found["conv_2d_2"]["cycles"], found["conv_2d_2"]["estimate"]
        assert measured == pytest.approx(expected, rel=0.05)


MODEL = """
import numpy as np

from atoll.ops.registry import kind_of


def almost(op, graph, inputs):
    (exact,) = kind_of(op).reference(op, graph, inputs)
    return np.where(exact < 100, exact + 1, exact).astype(np.int8)
"""


@pytest.mark.slow
def test_its_own_rounding_is_what_layers_are_held_against(
    idea: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rounding.py").write_text(MODEL)
    described = tmp_path / "idea.yaml"
    own = IDEA.replace("macs // 64", "macs // 64, reference: ./rounding.py:almost")
    described.write_text(own)
    ran(capsys, idea, "--cpu", "iss")
    described.write_text(own.replace("reference:", "model:"))
    assert main(["run", idea, DIGITS, "--cpu", "native"]) == 1
    assert "conv_2d_0_out of conv_2d_0 on npu differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options",
    [
        ("--cpu", "native", "--accelerator", "model"),
        ("--cpu", "iss", "--accelerator", "model"),
        pytest.param(("--cpu", "native"), marks=SLOW_RTL),
        pytest.param(("--cpu", "iss", "--accelerator", "vector=model"), marks=SLOW_RTL),
        pytest.param(("--accelerator", "vector=model"), marks=SLOW_RTL),
        pytest.param((), marks=SLOW_RTL),
    ],
    ids=["native-model", "iss-model", "native-rtl", "iss-mixed", "rtl-model", "rtl"],
)
def test_a_vector_engine_without_a_data_port(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = layers(ran(capsys, PLOVER, *options))
    on_it = [name for name, each in found.items() if each["device"] == "vector"]
    if "native" not in options:
        assert on_it == ["add_3"]


@pytest.mark.rtl
@pytest.mark.slow
def test_a_model_takes_the_time_of_the_hardware(capsys: pytest.CaptureFixture[str]) -> None:
    hardware = layers(ran(capsys, PLOVER))
    models = layers(ran(capsys, PLOVER, "--accelerator", "model"))
    taken, expected = (by_list(each.values()) for each in (models, hardware))
    assert len(expected) == 4
    assert taken == pytest.approx(expected, rel=0.2)


def by_list(layers: Iterable[dict[str, Any]]) -> list[int]:
    """Return the cycles of operators, those together that an engine goes through by itself."""
    lists: list[tuple[int, int]] = []
    for layer in layers:
        goes_on = bool(lists) and layer["begin"] == lists[-1][1]
        begin = lists.pop()[0] if goes_on else layer["begin"]
        lists.append((begin, layer["end"]))
    return [end - begin for begin, end in lists]
