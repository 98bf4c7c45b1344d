# SPDX-License-Identifier: Apache-2.0
"""A function unit that does not answer ends the simulation at once, by name."""

import json
import shutil
from pathlib import Path

import pytest

from atoll.cli import main

pytestmark = pytest.mark.rtl

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "09_custom_instruction"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


def test_a9_a_function_unit_that_never_answers_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("chip.yaml", "dot4.yaml", "dot4.py", "dot4.sv"):
        shutil.copy(EXAMPLE / name, tmp_path)
    rtl = tmp_path / "dot4.sv"
    text = rtl.read_text()
    assert "assign rvalid_o        = rvalid_q;" in text
    rtl.write_text(text.replace("assign rvalid_o        = rvalid_q;", "assign rvalid_o = 1'b0;"))
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["run", str(tmp_path / "chip.yaml"), str(DIGITS), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    (finding,) = report["placement"]["violations"]
    assert (finding["number"], finding["rule"]) == ("A9", "function unit does not answer")
    assert finding["operator"] == "conv_2d_0"
    assert "does not answer 'dot4' (custom-0, funct7 0, funct3 0)" in finding["detail"]
    assert finding["cycle"] < 1_000_000
    assert finding["at"].startswith(str(tmp_path / "dot4.yaml"))
