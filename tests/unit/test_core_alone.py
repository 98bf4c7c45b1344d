# SPDX-License-Identifier: Apache-2.0
"""The core needs none of the packages of formats that stand beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.without_formats import FORMATS

ROOT = Path(__file__).parents[2]
DIGITS = "examples/01_digits/digits_int8.tflite"
COMMANDS = (
    ("check", "lagoon"),
    ("plan", "lagoon", DIGITS),
    ("estimate", "lagoon", DIGITS),
    ("explain", "lagoon", DIGITS),
    ("schema", "soc"),
    ("--help",),
)
LEFT_OUT = (
    *("board", "compare", "image", "importing", "lsp", "page", "selftest", "serve"),
    *("sweep", "trace", "ops", "sim", "__pycache__"),
)
"""Rooms of what stands beside the core, of the simulator, and of kernels that read no file."""
KEEP_AWAY = "from tests.without_formats import keep_away; keep_away()"
WITH_IMAGES = ("npu_stream/test_mutants.py", "vela/test_edges.py", "vela/test_unusual.py")
"""Tests of the core that also judge linked images."""
OF_FORMATS = (
    "test_examples_of_docstrings_print_what_they_say[reports]",
    "test_private_names_are_noticed",
    *(
        f"test_every_name_of_a_public_module_is_there[{module}]"
        for module in ("atoll_board.api", "atoll_board.extend", "atoll_import.extend")
    ),
)


def test_commands_of_the_core_run_where_no_format_is_installed() -> None:
    code = f"{KEEP_AWAY}; import sys; from atoll.cli import main; "
    code += f"print([main([*each]) for each in {COMMANDS}], file=sys.stderr)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.endswith(f"{[0] * len(COMMANDS)}\n")


def test_a_package_of_formats_is_kept_away() -> None:
    for name in FORMATS:
        code = f"{KEEP_AWAY}; import {name}.cli"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert f"{name} is kept away from the core" in done.stderr


@pytest.mark.slow
def test_the_tests_of_the_core_pass_where_no_format_is_installed() -> None:
    unit = ROOT / "tests" / "unit"
    rooms = [path for path in sorted(unit.iterdir()) if path.is_dir()]
    paths = [str(path) for path in rooms if path.name not in LEFT_OUT]
    ignored = [f"--ignore={unit / name}" for name in WITH_IMAGES]
    options = ["-p", "tests.without_formats", "-m", "not slow and not rtl", "-q", "-x", "-n", "2"]
    names = unit.relative_to(ROOT) / "api" / "test_public_names.py"
    ignored += [f"--deselect={names}::{each}" for each in OF_FORMATS]
    command = [sys.executable, "-m", "pytest", *options, *ignored, *paths]
    few = {**os.environ, "ATOLL_EFFORT": "quick"}
    done = subprocess.run(command, cwd=ROOT, env=few, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
