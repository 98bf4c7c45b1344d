# SPDX-License-Identifier: Apache-2.0
"""The conformance kit finds what is wrong with an accelerator, and nothing where all is right."""

import json
from pathlib import Path

import pytest

from atoll.cli import main

EXAMPLE = Path(__file__).parents[2] / "examples" / "10_vector_engine"

PLANTED = {
    "rounding": ("product_q + 64'sd1073741824", "product_q + 64'sd1073741823"),
    "clamp": ("if (value > 32'(high_q)) return high_q;", ""),
    "zero point": ("32'(b_byte) - 32'(b_zero_q)", "32'(b_byte) - 32'(a_zero_q)"),
    "last word": ("lane_q == 2'd3 || left_row_q == 16'd1;", "lane_q == 2'd3;"),
    "negative mean": ("kept_q < 0 ? -32'(quotient)", "1'b0 ? -32'(quotient)"),
}
"""Bugs in the RTL of the vector engine."""

ABORTED = "{busy_q, done_q, error_q} <= 3'b001;"
"""Only an abort gets there."""


def arguments(path: Path, *options: str) -> list[str]:
    return ["accelerator", "test", str(path), "--json", *options]


@pytest.mark.slow
@pytest.mark.rtl
def test_nothing_is_wrong_with_the_vector_engine(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--operators", "6", "--faults", "9", "--mutants", "12")
    assert main(arguments(EXAMPLE / "plover.yaml", *options)) == 0
    told = json.loads(capsys.readouterr().out)
    tried = {check["check"]: check["tried"] for check in told["checks"]}
    assert [*tried.values()][:9] == [36, 36, 36, 36, 6, 6, 6, 36, 1]
    hardware, builds = (
        sum(count for name, count in tried.items() if name.startswith(kind))
        for kind in ("hardware: ", "wrong builds: ")
    )
    assert (hardware, builds) == (9, 12)
    assert told["left_out"] == []
    widest = {(each["operator"], each["feature"]): each["most"] for each in told["coverage"]}
    assert widest["AVERAGE_POOL_2D", "out_channels"] == 256
    assert widest["ADD", "bytes of a tensor"] > 4096


@pytest.mark.slow
@pytest.mark.rtl
def test_what_the_kit_reaches_is_added_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "reached"
    options = ("--operators", "2", "--faults", "0", "--mutants", "0", "--coverage", str(folder))
    assert main(arguments(EXAMPLE / "plover.yaml", *options)) == 0
    note = json.loads(capsys.readouterr().out)["notes"][-1]
    sums = json.loads((folder / "coverage.json").read_text())["chips"]["plover-kit"]
    assert note.startswith(f"coverage: {folder / 'coverage.md'}: 6 of 6 operators, ")
    assert sums["runs"] == 1
    assert sums["hits"]["rules"]["plover could break A1"] > 12  # once for each operator, and more
    assert list(sums["rtl"]) == ["plover"]  # no bus and no memory of the small chip
    source = (EXAMPLE / "plover.sv").resolve()
    lines = sums["rtl"]["plover"]["lines"]
    assert 0.9 < lines["hit"] / lines["total"] <= 1
    assert f"SF:{source}\n" in (folder / "coverage.info").read_text()
    texts = source.read_text().splitlines()
    aborted = 1 + next(number for number, text in enumerate(texts) if ABORTED in text)
    assert f"{source}:{aborted}" not in lines["holes"]


@pytest.mark.slow
@pytest.mark.rtl
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right, wrong = PLANTED[name]
    text = (EXAMPLE / "plover.sv").read_text()
    assert right in text
    (tmp_path / "plover.sv").write_text(text.replace(right, wrong))
    (tmp_path / "plover.yaml").write_text((EXAMPLE / "plover.yaml").read_text())
    assert main(arguments(tmp_path / "plover.yaml", "--operators", "8")) == 1
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [bool(check["faults"]) for check in checks] == [False, True]
    first = checks[1]["faults"][0]
    assert "on first differs in" in first or "did not end its commands" in first
