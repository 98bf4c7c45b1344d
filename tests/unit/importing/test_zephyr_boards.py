# SPDX-License-Identifier: Apache-2.0
"""Boards of a Zephyr tree are found by the names that `west build -b` takes."""

from pathlib import Path

import pytest

import atoll
from atoll.diagnostics.errors import UsageError
from atoll_import.zephyr_boards import board_source

SOURCE = """/dts-v1/;
/ {
  #address-cells = <1>;
  #size-cells = <1>;
  model = "Gull";
  cpus {
    #address-cells = <1>;
    #size-cells = <0>;
    cpu@0 { device_type = "cpu"; compatible = "arm,cortex-m4"; reg = <0>; };
  };
  sram0: memory@20000000 { compatible = "mmio-sram"; reg = <0x20000000 0x10000>; };
};
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("acme/gull/gull", "acme/tern/tern_stm_m4", "acme/tern/tern_stm_m7", "x/owl/owl_s"):
        path = tmp_path / "boards" / f"{name}.dts"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SOURCE)
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("board", "stem"),
    [
        ("gull", "gull"),
        ("gull@1.2.0", "gull"),
        ("tern/stm/m7", "tern_stm_m7"),
        ("tern@B/stm/m4", "tern_stm_m4"),
        ("owl", "owl_s"),
        ("owl//s", "owl_s"),
    ],
)
def test_the_file_of_a_board(board: str, stem: str, tree: Path) -> None:
    assert board_source(board).relative_to(tree / "boards").stem == stem


@pytest.mark.parametrize(
    ("board", "words"),
    [("tern", "several targets"), ("gul", "no board 'gul'"), ("../x", "no board's name")],
)
def test_what_is_no_board(board: str, words: str, tree: Path) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        board_source(board)
    assert caught.value.faults[0].code == "E138"


def test_without_a_tree(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ZEPHYR_BASE", raising=False)
    with pytest.raises(UsageError, match="ZEPHYR_BASE is not set"):
        board_source("gull")
    monkeypatch.setenv("ZEPHYR_BASE", str(tmp_path))
    with pytest.raises(UsageError, match="without a folder 'boards'"):
        board_source("gull")


def test_a_board_becomes_a_description(tree: Path) -> None:
    found = atoll.import_files([], zephyr="gull")
    assert "core: cortex_m4" in found.yaml
    assert "memory_20000000" in found.yaml or "0x2000_0000" in found.yaml
