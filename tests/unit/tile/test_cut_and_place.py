# SPDX-License-Identifier: Apache-2.0
"""An operator that build options both cut and place: all its stripes are there."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite")
CUTS = "cuts: [{first: conv_2d_0, last: depthwise_conv_2d_1, stripes: 2}]\n"


def explained(tmp_path: Path, place: str) -> list[str]:
    build = tmp_path / "build.yaml"
    build.write_text(f"{CUTS}place: {place}\n")
    return ["explain", "lagoon", DIGITS, "--build", str(build), "--json"]


@pytest.mark.parametrize("name", ["conv_2d_0", "conv_2d_0_stripe1"])
def test_stripes_run_where_their_operator_is_placed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(explained(tmp_path, f"{{{name}: cpu}}")) == 0
    told = json.loads(capsys.readouterr().out)["operators"]
    found = {each["operator"]: each["device"] for each in told if each["device"] == "cpu"}
    assert {op for op in found if op.startswith("conv_2d_0_stripe")} == {
        each for each in ("conv_2d_0_stripe0", "conv_2d_0_stripe1") if each.startswith(name)
    }


def test_what_is_not_there_is_still_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(explained(tmp_path, "{conv_2d_9: npu, conv_2d_0: np}")) == 1
    faults = json.loads(capsys.readouterr().out)["faults"]
    assert [fault["code"] for fault in faults] == ["E025", "E021"]
