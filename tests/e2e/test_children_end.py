# SPDX-License-Identifier: Apache-2.0
"""A command that is killed or interrupted while tools run: none lives on, nothing stays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.effort import in_gate

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
DEMO = [sys.executable, str(ROOT / "examples" / "01_digits" / "demo.py")]
PROGRAM = [sys.executable, "-c", "import sys; from atoll.cli import main; sys.exit(main())"]
BUILD = [*PROGRAM, "build", "lagoon", DIGITS, "-o", "out"]
MODEL = [*PROGRAM, "run", "lagoon", DIGITS, "--cpu", "native", "--accelerator", "rtl"]
SECONDS_TO_END = 5.0

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def environment(cache: Path) -> dict[str, str]:
    """Return an environment that marks every process that comes from a command."""
    return {**os.environ, "ATOLL_CACHE": str(cache), "COLUMNS": "100"}


def living(cache: Path) -> Iterator[tuple[int, str]]:
    """Yield number and name of each process that has the mark."""
    mark = f"ATOLL_CACHE={cache}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                yield int(folder.name), (folder / "comm").read_text().strip()
        except OSError:
            continue


def wait_for(cache: Path, name: str, process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 240
    while name not in {found for _, found in living(cache)}:
        assert process.poll() is None, "the command ended before its tool ran"
        assert time.monotonic() < end
        time.sleep(0.02)


def nobody_lives(cache: Path) -> bool:
    end = time.monotonic() + SECONDS_TO_END
    while list(living(cache)):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def begun(command: list[str], folder: Path, cache: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment(cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def leftovers(folder: Path) -> list[str]:
    """Return the temporary names below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.atoll-*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "tool"),
    [
        pytest.param(BUILD, "zig", marks=pytest.mark.slow),
        pytest.param(MODEL, "cc1plus", marks=pytest.mark.rtl),
    ],
    ids=["build", "run"],
)
def test_kill_9_ends_the_tools_and_the_next_command_cleans(
    command: list[str], tool: str, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    with begun(command, tmp_path, cache) as process:
        wait_for(cache, tool, process)
        process.kill()
    assert nobody_lives(cache)
    assert leftovers(tmp_path) != []
    done = subprocess.run(
        BUILD, cwd=tmp_path, env=environment(cache), capture_output=True, text=True, check=False
    )
    assert (done.returncode, leftovers(tmp_path)) == (0, [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cache", "out"]
    assert list((cache / "scratch").iterdir()) == []


@pytest.mark.parametrize("command", in_gate([BUILD, DEMO], 0), ids=["build", "demo"])
def test_ctrl_c_ends_the_tools_and_is_one_word(command: list[str], tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with begun(command, tmp_path, cache) as process:
        wait_for(cache, "zig", process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "interrupted"
    assert "Traceback" not in said
    assert nobody_lives(cache)
    assert leftovers(tmp_path) == []
