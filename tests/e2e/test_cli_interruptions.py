# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, a closed pipe and a full disk: one line at most, and nothing half written."""

import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.artifacts import build_tree
from atoll.cli import main

ROOT = Path(__file__).parents[2]
DIGITS = str(ROOT / "examples" / "01_digits" / "digits_int8.tflite")
CODE = "import sys; from atoll.cli import main; sys.exit(main())"
PROGRAM = [sys.executable, "-B", "-c", CODE]
"""Writes no byte code: where files may not grow, Python would keep the part that it could write."""

NATIVE = ["run", "lagoon", DIGITS, "--cpu", "native", "--accelerator", "model"]
FULL = Path("/dev/full")

LONG = [["explain", "lagoon"], ["explain", "lagoon", "--json"], ["check", "--help"], NATIVE]
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs the device /dev/full")


def run(
    arguments: list[str], folder: Path, output: int, prepare: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
        check=False,
    )


@pytest.mark.parametrize("arguments", LONG, ids=lambda arguments: " ".join(arguments[:2]))
def test_a_reader_that_left_ends_the_command_silently(arguments: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = run(arguments, tmp_path, writer)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_file_name_can_be_printed(encoding: str, tmp_path: Path) -> None:
    name = "caf\u00e9 byte\udcff [red]:x:"
    (tmp_path / f"{name}.yaml").write_bytes((ROOT / "socs" / "lagoon.yaml").read_bytes())
    (tmp_path / f"{name}.tflite").write_bytes(Path(DIGITS).read_bytes())
    for arguments in (["explain", f"{name}.yaml"], [NATIVE[0], f"{name}.yaml", *NATIVE[2:]]):
        done = subprocess.run(
            [*PROGRAM, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": encoding},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        escaped = f"{name}.yaml".encode(encoding, errors="backslashreplace")
        assert escaped in done.stdout


@needs_full
@pytest.mark.parametrize("arguments", LONG, ids=lambda arguments: " ".join(arguments[:2]))
def test_a_full_disk_behind_the_output_is_one_message(arguments: list[str], tmp_path: Path) -> None:
    with FULL.open("wb") as full:
        done = run(arguments, tmp_path, full.fileno())
    assert done.returncode == 1
    assert done.stderr == (
        "error[E092]: cannot write the output: No space left on device\n"
        "  help: free some space, or choose another place\n"
    )


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["new", "chip"], "chip.yaml"),
        (["build", "lagoon", DIGITS, "-o", "deep"], "deep"),
        (["schema", "--write", "."], "soc.schema.json"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_files_that_may_not_grow_leave_nothing(
    arguments: list[str], target: str, tmp_path: Path
) -> None:
    done = run(
        arguments,
        tmp_path,
        subprocess.PIPE,
        lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error[E092]: cannot write {target}: File too large\n  help: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="a folder is never read-only for the superuser")
@pytest.mark.parametrize(
    "arguments", [["new", "chip"], ["build", "lagoon", DIGITS, "-o", "out"]], ids=lambda a: a[0]
)
def test_a_read_only_folder(
    arguments: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o555)
    assert main(arguments) == 1
    tmp_path.chmod(0o755)
    assert "Permission denied" in capsys.readouterr().err


def test_a_disk_that_fills_while_the_firmware_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(build_tree, "link_firmware", fill)
    assert main(["build", "lagoon", DIGITS, "-o", str(tmp_path / "out")]) == 1
    assert "error[E092]" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_the_firmware_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(build_tree, "link_firmware", interrupt)
    assert main(["build", "lagoon", DIGITS, "-o", str(tmp_path / "out")]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def open_when_read(pipe: Path, process: subprocess.Popen[str]) -> int:
    """Wait until `process` reads from `pipe`, and return the writing end."""
    for _ in range(600):
        assert process.poll() is None
        with contextlib.suppress(OSError):
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.1)
    raise AssertionError("the command never read its samples")


def heed_interrupts() -> None:
    """Undo what a shell does to its background jobs, and so to the tests that run in one."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_from_a_terminal(tmp_path: Path) -> None:
    """The command waits for samples from a pipe that nobody fills when the signal comes."""
    samples = tmp_path / "samples.npy"
    os.mkfifo(samples)
    arguments = [*NATIVE, "--input", "samples.npy", "--output", "out.npy", "--keep", "kept"]
    with subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        try:
            writer = open_when_read(samples, process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            os.close(writer)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == [samples]
