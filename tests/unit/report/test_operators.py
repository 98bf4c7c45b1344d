# SPDX-License-Identifier: Apache-2.0
"""Which operators a chip's devices run, and what each device does of a network."""

import re
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ops.registry import KINDS
from atoll.report.coverage import Share, coverage_tables
from atoll.report.explanation import explanation
from atoll.report.operators import supported_operators
from atoll.resolve import load_soc

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"


def test_every_kind_that_files_hold_is_listed_with_what_it_accepts() -> None:
    found = supported_operators(None)
    kinds = {each.kind for each in found if each.kind}
    assert kinds == {n for n in KINDS.own if KINDS.get(n).tflite}
    assert {each.operator for each in found if not each.kind} == {"IF", "WHILE"}
    assert [each.operator for each in found] == sorted(each.operator for each in found)
    assert all(each.accepts and not each.accepts.endswith(".") for each in found)


def test_devices_and_their_limits() -> None:
    found = {each.kind: each for each in supported_operators(load_soc("lagoon"))}
    assert found["log_softmax"].devices == {"cpu": {}}
    assert set(found["conv_2d"].devices) == {"cpu", "npu"}
    assert found["conv_2d"].devices["npu"]["dilation_h"] == (None, 1)
    assert "vector" not in found["add"].devices["npu"]


def test_an_accelerator_without_a_unit_runs_no_operator_of_it() -> None:
    found = {
        each.kind: each
        for each in supported_operators(load_soc("lagoon", ["devices.npu.params.vector=0"]))
    }
    assert set(found["add"].devices) == {"cpu"}
    assert set(found["softmax"].devices) == {"cpu"}
    assert set(found["conv_2d"].devices) == {"cpu", "npu"}


@pytest.mark.parametrize("accelerators", [True, False])
def test_all_operators_are_covered(accelerators: bool) -> None:
    compiled = compile_file(load_soc("lagoon"), DIGITS, BuildOptions(accelerators=accelerators))
    told = explanation(compiled)
    assert sum(each.operators for each in told.coverage) == len(compiled.graph.operators)
    assert sum(each.macs for each in told.coverage) == 88_320
    assert {each.device for each in told.coverage} == {"npu" if accelerators else "cpu"}
    assert all(each.cycles > 0 for each in told.coverage)


def test_devices_add_up() -> None:
    shares = (
        Share(device="npu", kind="conv_2d", operators=3, macs=600, cycles=30),
        Share(device="npu", kind="add", operators=1, macs=0, cycles=10),
        Share(device="cpu", kind="softmax", operators=1, macs=0, cycles=60),
    )
    devices, kinds = coverage_tables(shares)
    assert [[str(cell) for cell in row] for row in devices.rows] == [
        ["cpu", "1 (20.0 %)", "0 (0.0 %)", "60 (60.0 %)"],
        ["npu", "4 (80.0 %)", "600 (100.0 %)", "40 (40.0 %)"],
    ]
    assert [row[:2] for row in kinds.rows] == [
        ("npu", "CONV_2D"),
        ("npu", "ADD"),
        ("cpu", "SOFTMAX"),
    ]


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operators", "lagoon"]) == 0
    text = capsys.readouterr().out
    assert "Operators of TFLite models on lagoon" in text
    assert re.search(r"^CONV_2D +cpu, npu +int8", text, re.M)
    assert main(["explain", "lagoon", str(DIGITS), "--operators"]) == 0
    text = capsys.readouterr().out
    assert "What each device does" in text
    assert "SOFTMAX" in text
