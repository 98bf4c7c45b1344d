# SPDX-License-Identifier: Apache-2.0
"""`atoll selftest` and `atoll run-image`, as a user meets them."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from tests.refusal import refusal

from atoll.cli import main

DIGITS = str(Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite")
LOG = """\
selftest begin version=1 chip=lagoon tests=4
selftest 1 march device=cpu place=shared memory=sram expect=works found=works
selftest 2 read device=npu place=shared expect=works found=refused
selftest 3 read device=npu place=private expect=refused found=works
selftest 4 network device=cpu name=digits expect=works found=works
selftest end failed=2
"""
PRINTED = """\
     marches   reads  writes  known answers  networks
cpu   1 of 1       -       -              -    1 of 1
npu        -  0 of 2       -              -         -

lagoon: 2 of 4 tests passed
"""


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "uart.log"
    path.write_text(LOG)
    return str(path)


def test_a_table_and_what_is_wrong(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", log]) == 1
    table, _, found = capsys.readouterr().out.partition("the windows")
    assert table == PRINTED
    assert found.startswith(" of 'npu' at 'shared' and 'private' are swapped")


def test_findings_name_lines_of_the_description(
    log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selftest", log, "--soc", "lagoon"]) == 1
    assert re.search(r"lagoon\.yaml:\d+:\d+: the windows of 'npu'", capsys.readouterr().out)


def test_json(log: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["selftest", log, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["tests"], data["passed"], data["missing"]) == (4, 2, [])
    assert data["findings"][0]["places"] == ["shared", "private"]
    assert [each["found"] for each in data["results"]] == ["works", "refused", "works", "works"]


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passed = LOG.replace("works found=refused", "works found=works")
    passed = passed.replace("refused found=works", "refused found=refused")
    stream = io.TextIOWrapper(io.BytesIO(passed.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert main(["selftest", "-"]) == 0
    assert capsys.readouterr().out.endswith("lagoon: 4 of 4 tests passed\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["{log}.not", "--soc", "lagoon"], "error[E132]: cannot read '{log}.not': No such file"),
        (["{log}", "--soc", "twin"], "error[E133]: '{log}' is of chip 'lagoon', not of 'twin'"),
        (
            [DIGITS],
            "error[E132]: 'examples/01_digits/digits_int8.tflite' has no line 'selftest begin ...'",
        ),
        ([], "error[E090]: no LOG and no --serial"),
        (["{log}", "--serial", "/dev/null"], "error[E191]: '{log}' has no effect with --serial"),
        (["{log}", "--baud", "9600"], "error[E191]: --baud has no effect without --serial"),
        (["--serial", "/dev/null"], "error[E271]: '/dev/null' is no serial port with 115200 baud"),
    ],
)
def test_refusals(
    arguments: list[str], said: str, log: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [word.format(log=log) for word in arguments]
    assert refusal(["selftest", *words], capsys).startswith(said.format(log=log))


def test_an_image_runs_on_simulated_cores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("unicorn")
    folder = str(tmp_path / "build")
    assert main(["build", "lagoon", DIGITS, "-o", folder]) == 0
    image = f"{folder}/firmware.elf"
    capsys.readouterr()
    assert main(["run-image", "lagoon", image, "--cpu", "iss", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["soc"], data["cpu"], data["stop"], data["status"]) == ("lagoon", "iss", "exit", 0)
    assert main(["run-image", "lagoon", image, "--cpu", "iss", "--max-cycles", "100"]) == 1
    assert "it did not end after" in capsys.readouterr().err
    assert refusal(["run-image", "lagoon", image, image, "--cpu", "iss"], capsys).startswith(
        "error[E134]: 2 images, but only 1 of the cores of 'lagoon' start one"
    )
    assert refusal(["run-image", "lagoon", image, "--cpu", "native"], capsys).startswith(
        "error[E089]: --cpu native runs no images"
    )
