# SPDX-License-Identifier: Apache-2.0
"""Zephyr builds the sample of a package, and its images run.

Set ZEPHYR_BASE to a tree of Zephyr 4.1 or newer, and ZEPHYR_MODULES to its CMSIS for Cortex-M; a
Python with Zephyr's requirements is on the PATH, as are ninja and the cross compilers.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.e2e.test_board_packages import CHIPS, DIGITS, said_by

from atoll.cli import main
from atoll.resolve import load_soc

MODULES = os.environ.get("ZEPHYR_MODULES", "")
RIGHT = "digits_int8.softmax_9_out: -121 -127 -127 -125 -95 -127 -127 -124 65 -116 (right)\n"
DEBIAN = (".note.GNU-stack", "NOTE: This behaviour", "sysroot")
"""Warnings about how Debian's compilers are set up."""


def build(package: Path, board: str, prefix: str, out: Path) -> None:
    """Configure and build the sample; a warning about a file of ours is a failure."""
    environment = {
        **os.environ,
        "ZEPHYR_TOOLCHAIN_VARIANT": "cross-compile",
        "CROSS_COMPILE": str(shutil.which(f"{prefix}gcc")).removesuffix("gcc"),
    }
    sample = package / "zephyr" / "samples" / "networks"
    modules = ";".join(each for each in (str(package), MODULES) if each)
    settings = (f"BOARD={board}", f"ZEPHYR_MODULES={modules}", "CONFIG_MINIMAL_LIBC=y")
    for words in (
        ["cmake", "-G", "Ninja", "-S", str(sample), "-B", str(out), "-DBUILD_VERSION=0"],
        ["ninja", "-C", str(out)],
    ):
        given = [f"-D{setting}" for setting in settings if words[0] == "cmake"]
        done = subprocess.run(
            [*words, *given], env=environment, capture_output=True, text=True, check=False
        )
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        warnings = [line for line in said.splitlines() if "warning" in line.lower()]
        ours = [line for line in warnings if not any(known in line for known in DEBIAN)]
        assert not [line for line in ours if "cross-compile/target.cmake" not in line], said


@pytest.mark.slow
@pytest.mark.skipif("ZEPHYR_BASE" not in os.environ, reason="ZEPHYR_BASE names no Zephyr tree")
@pytest.mark.parametrize(
    ("chip", "core", "prefix"),
    [
        ("ibex", "cpu", "riscv64-unknown-elf-"),
        ("x_heep", "cpu", "riscv64-unknown-elf-"),
        ("corstone300", "cpu", "arm-none-eabi-"),
    ],
)
def test_a_thread_of_zephyr_runs_the_network(
    chip: str, core: str, prefix: str, tmp_path: Path
) -> None:
    if not shutil.which(f"{prefix}gcc"):
        pytest.skip(f"{prefix}gcc is not installed")
    if prefix.startswith("arm") and not MODULES:
        pytest.skip("ZEPHYR_MODULES names no CMSIS")
    name, overrides = ("lagoon", CHIPS[chip]) if chip in CHIPS else (chip, ())
    settings = [word for each in overrides for word in ("--set", each)]
    package = tmp_path / "bsp"
    assert main(["bsp", name, DIGITS, "-o", str(package), *settings]) == 0
    target = f"atoll_{load_soc(name).name}"
    build(package, f"{target}/{target}/{core}", prefix, tmp_path / "build")
    image = tmp_path / "build" / "zephyr"
    (image / "firmware.elf").write_bytes((image / "zephyr.elf").read_bytes())
    said = said_by(name, overrides, image, tmp_path)
    assert said.startswith("*** Booting Zephyr OS build")
    assert said.endswith(RIGHT)
