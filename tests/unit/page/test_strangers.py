# SPDX-License-Identifier: Apache-2.0
"""A page shows together what belongs together, and takes the place of no file of its user."""

import copy
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import atoll
from atoll.cli import main

ROOT = Path(__file__).parents[3]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"


DUMP = ("build", "chip.yaml", "net.tflite", "-o", "b", "--dump-after", "frontend", "--dump-to")


@pytest.fixture(scope="module")
def made() -> atoll.Compilation:
    return atoll.compile("lagoon", DIGITS)


@pytest.fixture(scope="module")
def run(made: atoll.Compilation) -> dict[str, Any]:
    found: Any = atoll.run(made, cpu="native", accelerator="model").to_json()
    return dict(found)


def written(folder: Path, document: object) -> Path:
    path = folder / "run.json"
    path.write_text(json.dumps(document))
    return path


def test_a_run_of_the_same_plan_is_shown(
    made: atoll.Compilation, run: dict[str, Any], tmp_path: Path
) -> None:
    found = atoll.make_report(made, written(tmp_path, run), try_seconds=0)
    assert found.documents["run"][0]["bit_exact"]


@pytest.mark.parametrize("changed", ["soc", "used_bytes", "clock_hz"])
def test_a_run_of_another_plan_or_chip_is_refused(
    changed: str, made: atoll.Compilation, run: dict[str, Any], tmp_path: Path
) -> None:
    other = copy.deepcopy(run)
    place = {
        "soc": other,
        "used_bytes": other["pools"]["shared"],
        "clock_hz": other["cycles"]["by_layer"][0],
    }[changed]
    place[changed] = "twin" if changed == "soc" else place[changed] + 16
    with pytest.raises(atoll.UsageError, match="E228"):
        atoll.make_report(made, written(tmp_path, other), try_seconds=0)


def test_a_chip_does_not_take_the_place_of_another(run: dict[str, Any], tmp_path: Path) -> None:
    """The run that counts is of lagoon: that the one before it was not must not go unseen."""
    (tmp_path / "older").mkdir()
    older = written(tmp_path / "older", {**run, "soc": "twin"})
    with pytest.raises(atoll.UsageError, match=r"E228.*of 'lagoon' and of 'twin'"):
        atoll.make_report(older, written(tmp_path, run))


def test_nothing_that_is_given_goes_missing(run: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = written(tmp_path / "other", {**run, "model": "other", "model_sha256": "0" * 64})
    later = tmp_path / "later.html"
    atoll.make_report(atoll.load_soc("lagoon")).write(later)
    found = atoll.make_report(written(tmp_path, run), other, later).documents
    assert [each["model"] for each in found["run"]] == [run["model"], "other"]
    assert found["chip"]


@pytest.mark.parametrize("command", ["run", "estimate", "explain", "candidates"])
def test_a_network_of_other_weights_is_refused(
    command: str, made: atoll.Compilation, run: dict[str, Any], tmp_path: Path
) -> None:
    """Chip, name, plan and shapes are the same: only the file's digest tells them apart."""
    network = made.network
    one = {
        "run": lambda: run,
        "estimate": atoll.estimate(made).network.to_json,
        "explain": network.explain().to_json,
        "candidates": network.candidates_json,
    }[command]()
    data = DIGITS.read_bytes()
    assert one["model_sha256"] == hashlib.sha256(data).hexdigest()
    weight = max(range(len(data) - 64), key=lambda at: len(set(data[at : at + 64])))
    (tmp_path / DIGITS.name).write_bytes(
        data[:weight] + bytes([data[weight] ^ 1]) + data[weight + 1 :]
    )
    other = atoll.compile("lagoon", tmp_path / DIGITS.name)
    assert other.network.buffers == network.buffers
    atoll.make_report(made, written(tmp_path, one), try_seconds=0)
    with pytest.raises(atoll.UsageError, match=r"E228.*is two networks: their files differ"):
        atoll.make_report(other, written(tmp_path, one), try_seconds=0)


def test_a_validation_of_another_chip_is_refused(
    made: atoll.Compilation, run: dict[str, Any], tmp_path: Path
) -> None:
    right = {key: value for key, value in run.items() if key != "dataset"}
    of = {"soc": "twin", "model": run["model"], "passed": True}
    network = of | {"right_build": right, "mutants": []}
    document = {"passed": True, "networks": [network], "faults": [], "caches": []}
    with pytest.raises(atoll.UsageError, match="E228"):
        atoll.make_report(made, written(tmp_path, document), try_seconds=0)


def test_a_report_and_a_trace_are_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["estimate", "lagoon", str(DIGITS), "--report", "one.x", "--trace", "./one.x"]
    assert main(words) == 1
    assert "--report and --trace name one file" in capsys.readouterr().err


def test_a_file_of_results_is_not_mixed_with_a_chip_of_the_command_line(
    run: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "lagoon", str(DIGITS), str(written(tmp_path, run))]
    assert main([*words, "-o", str(tmp_path / "page.html")]) == 1
    assert "E228" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["report", "chip.yaml", "-o", "chip.yaml"],
        ["report", "chip.yaml", "net.tflite", "-o", "net.tflite"],
        ["report", "chip.yaml", "-o", "link.html"],
        ["report", "chip.yaml", "-o", "plan.json"],
        ["check", "chip.yaml", "--report", "chip.yaml"],
        ["estimate", "chip.yaml", "net.tflite", "--trace", "chip.yaml"],
        ["estimate", "chip.yaml", "net.tflite", "--trace", "plan.json"],
        ["plan", "chip.yaml", "net.tflite", "--export", "tflm", "-o", "net.tflite"],
        ["plan", "chip.yaml", "net.tflite", "--export", "json", "-o", "chip.yaml"],
        ["plan", "chip.yaml", "net.tflite", "--figure", "chip.yaml"],
        ["explain", "chip.yaml", "--figure", "chip.yaml"],
        ["run", "chip.yaml", "net.tflite", "--input", "in.npy", "--output", "in.npy"],
        ["run", "chip.yaml", "net.tflite", "--dataset", "in.npy", "--output", "in.npy"],
        ["run", "chip.yaml", "net.tflite", "--output", "chip.yaml"],
        [*DUMP, "chip.yaml"],
    ],
    ids=" ".join,
)
def test_no_result_takes_the_place_of_an_input(
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "--trace" in words:
        pytest.importorskip("perfetto", reason="needs the extra trace")
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "socs" / "lagoon.yaml", "chip.yaml")
    shutil.copy(DIGITS, "net.tflite")
    Path("link.html").symlink_to("chip.yaml")
    Path("plan.json").write_text("{}")
    Path("in.npy").write_bytes(b"samples")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert main(words) == 1
    assert "error[E091]" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("changed", ["roofs", "clock", "pools", "used"])
def test_figures_of_a_file_that_contradict_each_other_are_refused(
    changed: str,
    made: atoll.Compilation,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each fits the schema, and no page can show it; what Atoll itself found is never so."""
    atoll.make_report(made, try_seconds=0).write(tmp_path / "whole.html")
    assert main(["report", str(tmp_path / "whole.html"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    estimate = found["estimate"][0]
    match changed:
        case "roofs":
            estimate["roofs"]["memories"].clear()
        case "clock":
            for each in estimate["roofs"]["devices"] + estimate["roofs"]["memories"]:
                each["clock_hz"] = 0
        case "pools":
            found["chip"]["pools"].clear()
        case "used":
            found["plan"][0]["pools"]["shared"]["used_bytes"] = 0
            found["plan"][0]["pools"]["shared"]["size_bytes"] = 0
    path, page = written(tmp_path, found), tmp_path / "page.html"
    assert main(["report", str(path), "-o", str(page)]) == 1
    assert not page.exists()
    told = capsys.readouterr().err
    assert "E224" in told
    assert "contradict each other" in told
