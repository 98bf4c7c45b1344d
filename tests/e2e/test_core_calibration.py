# SPDX-License-Identifier: Apache-2.0
"""A core of one's own is calibrated: it runs networks in RTL, and estimates rest on that."""

import json
import re
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.description.core_files import load_core

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
TIDE = re.sub(
    r"^core: .*$", "core: tide", (ROOT / "socs" / "cores" / "picorv32.yaml").read_text(), flags=re.M
)
TIDE = re.sub(r"^timing:\n(  .*\n)+", "", TIDE, flags=re.M)


@pytest.mark.rtl
@pytest.mark.slow
def test_a_core_is_calibrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = Path("tide.yaml")
    mine.write_text(TIDE)
    words = ["--isa", "rv32imc", "--networks", "12"]
    assert main(["core", "calibrate", "./tide.yaml", *words, "--write", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert mine.read_text().startswith(TIDE)
    timing = load_core(mine, None).model.timing
    assert timing
    assert timing.source == "atoll core calibrate tide.yaml --isa rv32imc --networks 12 --seed 1"
    assert timing.cycles == found["timing"]["cycles"]
    assert 3 < timing.cycles["other"] < 5
    assert 6 < timing.cycles["load"] < 9
    assert timing.data_waits["load"] == pytest.approx(1, abs=0.2)
    assert all(each["off_percent_median"] < 8 for each in found["settings"])
    assert timing.simulated_band
    assert max(timing.simulated_band.low, timing.simulated_band.high) < 0.15
    assert timing.beside_code is None, "it has one access under way at a time"
    assert found["unmeasured"] == {}
    chip = Path("mine.yaml")
    chip.write_text("extends: lagoon\nsoc: mine\nversion: 1\ndevices: {cpu: {core: ./tide.yaml}}\n")
    assert main(["estimate", str(chip), str(DIGITS), "--no-accelerators", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cycles"]["basis"] == "counted x measured"
