"""D1: a chip whose names have dashes and dots runs, and its devices are named so on the way in."""

from pathlib import Path

import pytest

from atoll.cli import main

ROOT = Path(__file__).parents[2]
DASHED = ROOT / "tests" / "data" / "dashed.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


@pytest.mark.parametrize(
    "words",
    [
        ("--cpu", "iss", "--accelerator", "npu.conv-0=model", "--accelerator", "dma-a.b=model"),
        pytest.param((), marks=pytest.mark.slow),
    ],
)
def test_d1_a_chip_with_dashes_and_dots_runs_bit_exactly(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    place = ("--place", "softmax_9=audio-dsp")
    assert main(["run", str(DASHED), str(DIGITS), *place, *words]) == 0
    said = capsys.readouterr().out
    assert "10 of 10 layers bit-exact" in said
    assert "0 placement violations" in said
