# SPDX-License-Identifier: Apache-2.0
"""A core that 'atoll core new' began runs a network on the instruction-set simulator as it is."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

pytest.importorskip("unicorn")

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.mark.parametrize(
    "words",
    [
        ("--isa", "rv32imac"),
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in (
                ("--cpu", "cortex-m23"),
                ("--isa", "armv7e-m+fp"),
                ("--cpu", "sifive-e31"),
                ("--cpu", "sifive-s76"),
            )
        ),
    ],
    ids=lambda words: words[1],
)
def test_digits_are_equal(
    words: tuple[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["core", "new", "mine", *words]) == 0
    assert main(["new", "chip", "--core", "./mine.yaml", "--accelerator", "none"]) == 0
    capsys.readouterr()
    assert main(["run", "chip.yaml", str(DIGITS), "--cpu", "iss", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["layers_equal"] == report["layers_compared"] == 10
    assert report["placement"]["violations"] == []
