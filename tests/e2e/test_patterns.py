# SPDX-License-Identifier: Apache-2.0
"""Operators that an accelerator takes as one run on whole chips, with the bytes that they had."""

import json
from pathlib import Path
from typing import Any

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
PLOVER = ROOT / "examples" / "10_vector_engine" / "chip.yaml"
RESNET = "pretrainedResnet_quant.tflite"

FUSING = """\
accelerator: idea
version: 1
operators:
  CONV_2D: {cost: 100 + macs // 64}
  RESIDUAL:
    pattern: {conv: CONV_2D, sum: ADD}
    cost: 100 + macs // 64 + output.elements
    reference: ./idea.py:residual
"""
REFERENCE = """\
import numpy as np

from atoll.ops import reference
from atoll.ops.registry import kind_of


def residual(op, graph, inputs):
    (exact,) = kind_of(op).reference(op, graph, inputs)
    assert [each.kind for each in op.body.operators] == ["conv_2d", "add"]
    return (exact & ~1).astype(np.int8)
"""


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["run", *words, "--json"]) == 0, capsys.readouterr().err
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    return report


def kinds(report: dict[str, Any], device: str) -> list[str]:
    layers = report["cycles"]["by_layer"]
    return [each["kind"] for each in layers if each["device"] == device]


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize(
    "cpu", ["native", pytest.param("rtl", marks=pytest.mark.slow)], ids=["native", "rtl"]
)
def test_sums_are_pooled_right_away(
    shared_models: Path, cpu: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The vector engine's RTL takes the last sum of a residual network and its pooling as one."""
    report = ran(capsys, str(PLOVER), str(shared_models / RESNET), "--cpu", cpu)
    assert kinds(report, "vector") == ["add", "add", "add_average"]


def test_a_pattern_has_a_rounding_of_its_own(
    shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "idea.yaml").write_text(FUSING)
    (tmp_path / "idea.py").write_text(REFERENCE)
    text = (ROOT / "socs" / "lagoon.yaml").read_text()
    params = "    params: {input_lanes: 8, output_lanes: 8, vector: 2}\n"
    assert params in text
    text = text.replace(params, "").replace("accelerator: reef", "accelerator: ./idea.yaml")
    (tmp_path / "chip.yaml").write_text(text)
    words = (str(tmp_path / "chip.yaml"), str(shared_models / RESNET), "--cpu", "native")
    report = ran(capsys, *words)
    assert kinds(report, "npu").count("residual") == 3
    assert any("a reference of its own" in note for note in report["notes"])


def test_each_by_itself_where_the_pattern_does_not_fit(
    shared_models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Somebody pins what lies between: nothing is taken as one there."""
    words = (str(PLOVER), str(shared_models / RESNET), "--cpu", "native")
    report = ran(capsys, *words, "--accelerator", "model", "--pin", "add_11_out=shared")
    assert "add_average" not in kinds(report, "vector")
