# SPDX-License-Identifier: Apache-2.0
"""The accelerator that docs/accelerators.md walks through works, from its YAML to its RTL."""

import json
from pathlib import Path

import pytest

from atoll.cli import main
from atoll.description.accelerator_files import load_accelerator

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "07_own_accelerator"
CHIP, NETWORK = str(EXAMPLE / "chip.yaml"), str(EXAMPLE / "network.tflite")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)


def ran(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, list[dict[str, object]]]:
    assert main(["run", CHIP, NETWORK, "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bit_exact"]
    assert report["placement"]["violations"] == []
    found: dict[str, list[dict[str, object]]] = report["cycles"]
    return found


def test_its_model_is_exact(capsys: pytest.CaptureFixture[str]) -> None:
    layers = ran(capsys, "--cpu", "native", "--accelerator", "model")["by_layer"]
    assert [each["device"] for each in layers if each["kind"] == "concatenation"] == ["joiner"]


def test_the_chip_without_the_modules_folder_is_one_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "sys.path", [path for path in __import__("sys").path if path != str(EXAMPLE)]
    )
    monkeypatch.delitem(__import__("sys").modules, "tern", raising=False)
    assert main(["plan", CHIP, NETWORK]) == 1
    assert "error[E041]: cannot load 'tern:TernEmitter'" in capsys.readouterr().err


@pytest.mark.rtl
def test_its_rtl_elaborates(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", CHIP, "--simulate"]) == 0
    assert "elaborates" not in capsys.readouterr().out


@pytest.mark.rtl
@pytest.mark.slow
def test_a_new_accelerator_is_calibrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "accelerator", "spark"]) == 0
    mine = Path("spark/spark/spark.yaml")
    before, words = mine.read_text(), ["accelerator", "calibrate", str(mine), "--operators", "6"]
    assert main([*words, "--write"]) == 0
    assert f"wrote timing into {mine}" in capsys.readouterr().out
    assert mine.read_text().startswith(before)
    timed = load_accelerator(mine, None).model.timing
    assert timed
    assert timed.source == "atoll accelerator calibrate spark.yaml --operators 6 --seed 1"
    written, found = mine.read_text(), timed.operators["QUANTIZE"]
    assert 1 < found.factor < 1.5
    assert found.band
    assert found.band.high > 0.5, "the formula knows nothing of memories, which are of three speeds"
    assert main([*words, "--write"]) == 0
    assert mine.read_text() == written, "what is measured again is held against the formula alone"


@pytest.mark.slow
@pytest.mark.rtl
def test_its_rtl_is_exact_and_as_fast_as_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    layers = ran(capsys)["by_layer"]
    (joined,) = (each for each in layers if each["device"] == "joiner")
    measured, expected = joined["cycles"], joined["estimate"]
    assert isinstance(measured, int)
    assert expected == pytest.approx(measured, rel=0.25)


def joined_by(width: int) -> tuple[str, ...]:
    """Return options for a joiner of a width, which of 4 bytes is no faster than the core."""
    sizes = ("--set", f"devices.joiner.params.data_bytes={width}")
    return (*sizes, "--place", "concatenation_8=joiner")


@pytest.mark.rtl
@pytest.mark.slow
@pytest.mark.parametrize("width", [4, 32, 64])
def test_its_rtl_is_exact_at_every_width(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    layers = ran(capsys, *joined_by(width))["by_layer"]
    assert "joiner" in {each["device"] for each in layers}


@pytest.mark.parametrize("width", [4, 64])
def test_its_model_is_exact_at_every_width(width: int, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--cpu", "native", "--accelerator", "model", *joined_by(width))
    layers = ran(capsys, *words)["by_layer"]
    assert "joiner" in {each["device"] for each in layers}
