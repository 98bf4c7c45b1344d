# SPDX-License-Identifier: Apache-2.0
"""`atoll diff` of two reports: each difference of a figure is a sentence, and is in the page."""

import json
from pathlib import Path

import pytest
import yaml

import atoll
from atoll.cli import main

DIGITS = "examples/01_digits/digits_int8.tflite"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("reports")
    wide = atoll.load_soc("lagoon").with_({"memories.flash.width": 8})
    for name, chip in (("old", "lagoon"), ("new", wide)):
        made = atoll.compile(chip, DIGITS)
        atoll.make_report(made, try_seconds=0).write(found / f"{name}.html")
        estimate = atoll.estimate(made).network.to_json()
        (found / f"{name}.json").write_text(json.dumps(estimate))
    check = atoll.load_soc("lagoon").check(simulate=False).to_json()
    (found / "check.json").write_text(json.dumps(check))
    return found


def cycles(path: Path) -> int:
    total: int = json.loads(path.read_text())["cycles"]["total"]
    return total


@pytest.mark.parametrize("kind", ["html", "json"])
def test_figures_are_compared(kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sides = [str(folder / f"{name}.{kind}") for name in ("old", "new")]
    assert main(["diff", *sides, "--exit-code"]) == 1
    lines = " ".join(capsys.readouterr().out.split())
    old, new = (cycles(folder / f"{name}.json") for name in ("old", "new"))
    assert old != new
    assert f"reset to exit, estimated: total is {new:,}, was {old:,}" in lines
    assert ("flash: width_bytes_per_cycle is 8, was 4" in lines) == (kind == "html")
    assert main(["diff", sides[0], sides[0], "--exit-code"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_json_and_page_have_the_same_pairs(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = [str(folder / f"{name}.html") for name in ("old", "new")]
    assert main(["diff", *sides, "--json", "--report", str(tmp_path / "both.html")]) == 0
    changes = json.loads(capsys.readouterr().out)["changes"]
    total = next(each for each in changes if "reset to exit" in each["kind"])
    assert total["before"] == cycles(folder / "old.json")
    assert total["after"] == cycles(folder / "new.json")
    drawn = atoll.make_report(tmp_path / "both.html")
    assert drawn.documents["before"] is not None
    again = atoll.make_report(sides[1], before=atoll.make_report(sides[0]))
    assert drawn.documents == again.documents


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["old.html", "lagoon"], "has results, and 'lagoon' is a chip"),
        (["check.json", "check.json"], "have nothing that can be compared"),
        (["old.html", "new.html", "--set", "devices.npu.irq=4"], "--set changes a chip"),
    ],
)
def test_what_cannot_be_compared(
    words: list[str],
    what: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    assert main(["diff", *words]) == 1
    err = capsys.readouterr().err
    assert "error[E225]" in err
    assert what in err


def test_what_one_side_does_not_know_is_not_gone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, estimate = (str(folder / f"old.{kind}") for kind in ("html", "json"))
    for sides in ((report, estimate), (estimate, report)):
        assert main(["diff", *sides]) == 0
        assert capsys.readouterr().out == "no difference\n"


def test_cycles_without_a_clock_are_not_gone(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    estimate = json.loads((folder / "old.json").read_text())
    estimate["cycles"]["total"] = 0
    (tmp_path / "clockless.json").write_text(json.dumps(estimate))
    assert main(["diff", str(folder / "old.json"), str(tmp_path / "clockless.json")]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_a_chip_in_json_is_a_chip(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chip = yaml.safe_load(Path("socs/lagoon.yaml").read_text())
    (tmp_path / "chip.json").write_text(json.dumps(chip))
    assert main(["diff", "lagoon", str(tmp_path / "chip.json")]) == 0
    assert capsys.readouterr().out == "no difference\n"
