# SPDX-License-Identifier: Apache-2.0
"""Every public header of a package is C++17 as well, without a warning, by itself."""

import shutil
import subprocess
from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_board.package import Board, package_files

DIGITS = Path(__file__).parents[3] / "examples" / "01_digits" / "digits_int8.tflite"
STRICT = ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]


@pytest.fixture(scope="module", params=["lagoon", "twin"])
def headers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the headers of a chip that runs a network."""
    soc = load_soc(request.param)
    compiled = compile_file(soc, DIGITS)
    board = Board.of(soc, [compiled], [random_sample(compiled.graph)])
    folder = tmp_path_factory.mktemp("include")
    for files in package_files(board, ["headers", "application"]).values():
        for path, entry in files.items():
            if path.startswith("include/"):
                (folder / Path(path).name).write_bytes(entry.data)
    return folder


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_are_c_plus_plus(compiler: str, headers: Path, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    names = sorted(path.name for path in headers.glob("*.h"))
    assert "atoll_devices.h" in names
    for index, name in enumerate(names):
        source = tmp_path / f"only_{index}.cpp"
        source.write_text(f'#include "{name}"\n')
    sources = sorted(map(str, tmp_path.glob("*.cpp")))
    command = [compiler, *STRICT, "-I", str(headers), *sources]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
