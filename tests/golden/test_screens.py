"""What check, plan and run look like at 60, 80 and 120 columns and in a pipe."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from atoll.cli import main, working
from atoll.diagnostics.columns import lay_out, wrap
from atoll.diagnostics.shown import columns_of
from atoll.report.grid import Grid

ROOT = Path(__file__).parents[2]
SCREENS = Path(__file__).parent / "screens"
DIGITS = "examples/01_digits/digits_int8.tflite"

COMMANDS = {
    "check": ["check", "twin"],
    "fault": ["check", "tests/bad/overlapping_memories.yaml"],
    "plan": ["plan", "lagoon", DIGITS],
    "candidates": [
        *("explain", "lagoon", DIGITS, "--candidates"),
        *("--set", "pools.shared.size=2 KiB"),
    ],
    "estimate": ["estimate", "lagoon", DIGITS],
    "run": ["run", "lagoon", DIGITS, "--cpu", "native", "--accelerator", "model", "--brief"],
}
BOXES = re.compile("[\u2500-\u257f]")


@pytest.mark.parametrize("columns", ["60", "80", "120", "pipe"])
@pytest.mark.parametrize("name", COMMANDS)
def test_screen(
    name: str,
    columns: str,
    golden: Callable[[Path, str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(working, "SECONDS_BETWEEN", 3600)
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns != "pipe":
        monkeypatch.setenv("COLUMNS", columns)
    if name == "check":
        monkeypatch.setattr("atoll_sim.qemu.supported.faults_of", lambda *_: ())
        monkeypatch.setattr("atoll_sim.qemu.supported.shutil.which", lambda program: program)
    main(COMMANDS[name])
    text = "".join(capsys.readouterr())
    golden(SCREENS / f"{name}_{columns}.txt", text)
    assert not BOXES.search(text)
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "…" not in text
    if columns != "pipe" and name != "fault":
        assert all(columns_of(line) <= int(columns) for line in text.splitlines())


PATH = "a/long/way/down/the/folders/of/somebody/who/likes/them/chip.yaml:12:33"
GRID = Grid(
    title="stacks",
    headings=("stack", "used", "set by"),
    left=("stack", "set by"),
    rows=(("cpu", "140 B", PATH), ("面积", "1,024 B", "built-in")),
)


@pytest.mark.parametrize("columns", [None, 40, 60, 200])
def test_a_path_is_never_cut(columns: int | None) -> None:
    lines = [line for row in GRID.lines(columns) for line in row]
    assert sum(PATH in line for line in lines) == 1
    assert all(columns_of(line) <= (columns or 200) for line in lines if PATH not in line)


def test_wide_characters_keep_columns_aligned() -> None:
    lines = [line for row in GRID.lines(None) for line in row]
    ends = {columns_of(line[: line.index(" B") + 2]) for line in lines[1:]}
    assert len(ends) == 1


def test_what_does_not_fit_is_below_and_whole() -> None:
    rows = [("fault", "noticed by"), ("a wrong size", ", ".join(["read before write 12"] * 6))]
    _, lines = lay_out(rows, columns=50)
    assert len(lines) > 2
    assert " ".join(" ".join(lines).split()) == " ".join(" ".join(rows[1]).split())
    assert all(len(line) <= 50 for line in lines)


def test_words_stay_whole() -> None:
    text = f"wrote {PATH}: firmware.elf has 12 B of 4 KiB, and nothing else"
    assert wrap(text, None) == text
    assert PATH in wrap(text, 40).split("\n")[1]


def test_a_table_in_a_pipe_has_no_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    Console(soft_wrap=True).print(GRID)
    assert f"cpu      140 B  {PATH}\n" in capsys.readouterr().out
