# SPDX-License-Identifier: Apache-2.0
"""`--coverage` on a whole chip: what its simulation counted, read by lcov."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.cli import main

DIGITS = str(Path(__file__).parents[2] / "examples" / "01_digits" / "digits_int8.tflite")

pytestmark = [pytest.mark.rtl, pytest.mark.slow]


def test_runs_add_what_they_reach(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, build = tmp_path / "reached", tmp_path / "build"
    assert main(["build", "lagoon", DIGITS, "-o", str(build)]) == 0
    assert main(["run", "lagoon", DIGITS, "--coverage", str(folder), "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    first = json.loads((folder / "coverage.json").read_text())["chips"]["lagoon"]
    assert "6 of 6 rules" in note
    assert first["runs"] == 1
    assert first["hits"]["operators"]["npu runs conv_2d"] > 0
    assert "npu runs tanh" in first["description"]["operators"]["holes"]
    lines = first["rtl"]["npu"]["lines"]
    assert 0.8 < lines["hit"] / lines["total"] < 1
    assert all(Path(each.rpartition(":")[0]).is_file() for each in lines["holes"])

    assert main(["simulate", str(build), "--coverage", str(folder)]) == 0
    second = json.loads((folder / "coverage.json").read_text())["chips"]["lagoon"]
    assert second["runs"] == 2
    assert second["rtl"] == first["rtl"]  # the same run reaches the same
    assert second["hits"] == {
        group: {name: 2 * count for name, count in hits.items()}
        for group, hits in first["hits"].items()
    }

    capsys.readouterr()
    validated = tmp_path / "validated"
    asked = ["validate", "lagoon", DIGITS, "--mutants", "1", "--coverage", str(validated)]
    assert main([*asked, "--json"]) == 0
    (network,) = json.loads(capsys.readouterr().out)["networks"]
    (said,) = (note for note in network["right_build"]["notes"] if note.startswith("coverage: "))
    assert said.endswith("runs with planted faults are not counted")
    assert len(network["mutants"]) == 1
    assert json.loads((validated / "coverage.json").read_text())["chips"]["lagoon"] == first

    lcov = shutil.which("lcov") or pytest.skip("lcov is not installed")
    told = subprocess.run([lcov, "--summary", folder / "coverage.info"], capture_output=True)
    hit, total = lines_of((folder / "lagoon.dat").read_text())
    assert f"({hit} of {total} lines)" in told.stdout.decode()


def lines_of(text: str) -> tuple[int, int]:
    """Count lines in Verilator's file; a module of two devices is in the sums of both."""
    counts: dict[tuple[str, int], int] = {}
    for file, spans, count in re.findall(r"\x01f\x02([^\x01]+).*\x01S\x02([\d,-]+).*' (\d+)", text):
        for first, _, last in (span.partition("-") for span in spans.split(",")):
            for line in range(int(first), int(last or first) + 1):
                counts[file, line] = counts.get((file, line), 0) + int(count)
    return sum(map(bool, counts.values())), len(counts)
