# SPDX-License-Identifier: Apache-2.0
"""`make quick` leaves out what took long, and nothing that it does not know."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = """import time


def test_long() -> None:
    time.sleep(0.4)


def test_short() -> None:
    pass
"""


def test_what_took_long_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(TESTS)
    assert "2 passed" in told(tmp_path, "quick")
    quick = told(tmp_path, "quick", "-p", "xdist", "-n", "2")
    assert "1 passed" in quick
    assert "tests that took more than 0.1 s before are left to `make test`" in quick
    assert "2 passed" in told(tmp_path, "gate")


@pytest.mark.slow
def test_the_shortest_time_counts(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(TESTS)
    told(tmp_path, "gate")
    (tmp_path / "test_two.py").write_text(TESTS.replace("0.4", "0.0"))
    told(tmp_path, "gate")
    (tmp_path / "test_two.py").write_text(TESTS)
    told(tmp_path, "gate")
    assert "2 passed" in told(tmp_path, "quick")


def told(folder: Path, effort: str, *processes: str) -> str:
    """Run the tests in a folder; return what pytest prints."""
    words = (sys.executable, "-m", "pytest", "-p", "tests.quick", "--rootdir", str(folder))
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        [*words, *processes, "test_two.py"],
        cwd=folder,
        env={**os.environ, **alone, "ATOLL_EFFORT": effort, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
