# SPDX-License-Identifier: Apache-2.0
"""One chip with scopes, ordered pools, threads, targets and dashes: all of it holds together."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

DATA = Path(__file__).parents[1] / "data"
DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"
WORDS = [str(DATA / "crab.yaml"), str(DIGITS), "--build", str(DATA / "crab.build.yaml")]

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "cpu", ["iss", pytest.param("rtl", marks=(pytest.mark.rtl, pytest.mark.slow))]
)
def test_d1_c1_k1_a_chip_with_all_of_it_is_exact(cpu: str, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", *WORDS, "--cpu", cpu, "--json", "--output", str(tmp_path / "built")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    assert set(report["stack"]) >= {"cpu", "cpu.net", "audio_dsp", "audio_dsp.thread0"}


@pytest.mark.rtl
@pytest.mark.slow
def test_faults_in_it_are_noticed(capsys: Capture) -> None:
    assert main(["validate", *WORDS, "--mutants", "60"]) == 0
    assert "faults noticed" in capsys.readouterr().out


def test_scopes_say_who_asked(capsys: Capture) -> None:
    assert main(["explain", *WORDS]) == 0
    said = capsys.readouterr().out
    for asked in ("pin 'lp@64KiB,rp'", "of role 'workspace'", "scope 'global.lp:out'"):
        assert asked in said
    assert "softmax_9.powers                local       audio_dsp.thread0.stack" in said
