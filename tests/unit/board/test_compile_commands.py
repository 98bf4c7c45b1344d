# SPDX-License-Identifier: Apache-2.0
"""The compilation database: clang accepts each entry as it is; each source of an image has one."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from atoll.resolve import load_soc
from atoll_board.package import Board, package_files
from atoll_board.sources import library_sources, user_sources

ROOT = Path(__file__).parents[3]
OWN = [ROOT / "tests" / "data" / name for name in ("shore.yaml", "bay.yaml")]
CHIPS = sorted([*(ROOT / "socs").glob("*.yaml"), *OWN])
USUAL = ("lagoon", "twin", "stm32h747")


def written(path: Path, folder: Path) -> tuple[Board, list[dict[str, Any]]]:
    """Write what an image is compiled from; return the board and its database."""
    board = Board(soc=load_soc(path))
    emitters = ["headers", "startup", "drivers", "application", "compile-commands"]
    for files in package_files(board, emitters).values():
        for name, entry in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(entry.data)
    entries: list[dict[str, Any]] = json.loads((folder / "compile_commands.json").read_text())
    return board, entries


@pytest.mark.parametrize(
    "path",
    [path if path.stem in USUAL else pytest.param(path, marks=pytest.mark.slow) for path in CHIPS],
    ids=lambda path: path.stem,
)
def test_clang_accepts_each_entry(path: Path, tmp_path: Path) -> None:
    board, entries = written(path, tmp_path)
    assert [entry["file"] for entry in entries] == [
        source
        for core in board.cores
        for source in (*library_sources(board, core), *user_sources(board, core))
    ]
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    for entry in entries:
        result = subprocess.run(
            [*entry["arguments"], "-fsyntax-only"],
            cwd=tmp_path / entry["directory"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (result.returncode, result.stderr) == (0, ""), entry["file"]
