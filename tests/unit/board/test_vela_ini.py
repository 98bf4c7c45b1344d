# SPDX-License-Identifier: Apache-2.0
"""The vela.ini of a package is what Atoll gives Vela, and Vela takes it."""

import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import pytest

from atoll.resolve import load_soc
from atoll.vela.memories import npu_of, target_of
from atoll_board.package import Board, package_files

MODEL = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
CHIP = "corstone300_u55"


def exported(chip: str) -> dict[str, str]:
    """Return the files that the emitter writes, by path."""
    files = package_files(Board(soc=load_soc(chip)), ["vela"])["vela"]
    return {path: entry.data.decode() for path, entry in files.items()}


def test_its_sections_are_those_of_a_build() -> None:
    soc = load_soc(CHIP)
    npu = npu_of(soc)
    assert npu is not None
    ours, theirs = ConfigParser(), ConfigParser()
    ours.read_string(exported(CHIP)[f"vela/{CHIP}.ini"])
    theirs.read_string(target_of(soc, npu).config)
    assert ours == theirs


def test_a_chip_without_such_an_npu_has_none() -> None:
    assert exported("lagoon") == {}


@pytest.mark.slow
def test_vela_compiles_with_it(tmp_path: Path) -> None:
    """The command in its second line runs."""
    pytest.importorskip("ethosu.vela")
    ((path, text),) = exported(CHIP).items()
    (tmp_path / "vela").mkdir()
    (tmp_path / path).write_text(text)
    _, words = text.splitlines()[:2]
    command = words.removeprefix("; vela ").replace("MODEL", str(MODEL)).split()
    done = subprocess.run(
        (sys.executable, "-m", "ethosu.vela", *command),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.rglob("*_vela.tflite")]
