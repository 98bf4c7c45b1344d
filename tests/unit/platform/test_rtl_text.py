# SPDX-License-Identifier: Apache-2.0
"""How RTL is written, where Verible's rules say nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from atoll_sim.chip.sources import FOLDERS, RTL

TESTS = Path(__file__).parents[2]
WRITTEN = (*FOLDERS, RTL.with_name("chip") / "templates", TESTS / "benches/rtl", TESTS / "rtl/data")
COLUMNS = 120


def long_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if len(line) > COLUMNS:
            yield f"{path.name}:{number}"


@pytest.mark.parametrize("folder", WRITTEN, ids=lambda folder: folder.name)
def test_no_line_is_long_comments_included(folder: Path) -> None:
    paths = [path for path in folder.iterdir() if {".sv", ".svh", ".vlt"} & {*path.suffixes}]
    assert not [line for path in sorted(paths) for line in long_lines(path)]


def test_every_long_line_is_found(tmp_path: Path) -> None:
    path = tmp_path / "long.sv"
    path.write_text(f"//{'x' * 118}\n//{'x' * 119}\n")
    assert [*long_lines(path)] == ["long.sv:2"]


def test_every_assertion_is_one_of_the_macros() -> None:
    """So synthesis sees none, and what checks parameters is seen by every tool."""
    texts = {path: path.read_text() for folder in FOLDERS for path in folder.glob("*.sv")}
    assert not [path.name for path, text in texts.items() if "assert property" in text]
