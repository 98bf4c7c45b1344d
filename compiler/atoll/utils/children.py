# SPDX-License-Identifier: Apache-2.0
"""Every program that Atoll runs: it ends with Atoll, and after a time limit at the latest.

Each runs behind a guard of its own, `child_guard.py`, which sees when this process is gone and
then kills the program with all that came from it. Nothing else in Atoll starts processes.
"""

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO

from atoll.diagnostics.errors import ToolchainError, UsageError
from atoll.utils.scratch import scratch_folder

GUARD = Path(__file__).with_name("child_guard.py")
LIMIT_VARIABLE = "ATOLL_TIME_LIMIT"
TOOL_SECONDS = 1800.0
"""What a compiler or another tool may take."""
LONGEST = 1e9
WATCH_SECONDS = 0.5
COMMAND_SHOWN = 120

Done = subprocess.CompletedProcess[str]
Watch = Callable[[], None]

_living: "set[Child]" = set()
_changing = Lock()


UNREAD = subprocess.DEVNULL
"""What nobody reads of what a program prints."""


class TimeLimitError(ToolchainError):
    """A program did not end in time."""


class Child:
    """A program that runs; see `start`.

    Attributes:
        ended: `end` was called.
    """

    def __init__(self, process: "subprocess.Popen[str]", control: socket.socket) -> None:
        self._process = process
        self._control = control
        self._said = b""
        self.ended = False
        with _changing:
            _living.add(self)

    @property
    def stdout(self) -> IO[str]:
        """What the program prints, if that was asked for."""
        assert self._process.stdout is not None
        return self._process.stdout

    def wait(self, watch: Watch = lambda: None) -> int:
        """Wait for the end, calling `watch` about twice a second; return the status.

        A negative status is that of a signal. `over` says whether time was.
        """
        self._control.settimeout(WATCH_SECONDS)
        while True:
            try:
                if not self._hear():
                    return self._process.wait()
            except TimeoutError:
                watch()

    def communicate(self, watch: Watch = lambda: None) -> tuple[str, str]:
        """Read all that the program prints, calling `watch` about twice a second."""
        while True:
            try:
                said = self._process.communicate(timeout=WATCH_SECONDS)
            except subprocess.TimeoutExpired:
                watch()
            else:
                break
        self._hear()
        return said

    @property
    def over(self) -> bool:
        """The program was ended because its time was over."""
        return b"limit" in self._said

    @property
    def processor_seconds(self) -> float:
        """What the program and its children used, once it has ended by itself."""
        words = self._said.split()
        return float(words[words.index(b"used") + 1]) if b"used" in words else 0.0

    def end(self) -> None:
        """End the program now, with all that came from it."""
        self.ended = True
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the program and wait until it is gone."""
        self.end()
        self._process.__exit__(None, None, None)
        self._control.close()
        with _changing:
            _living.discard(self)

    def _hear(self) -> bytes:
        """Return what the guard says next; nothing once it is gone."""
        try:
            said = self._control.recv(4096)
        except ConnectionError:
            return b""
        self._said += said
        return said


@contextmanager
def start(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = TOOL_SECONDS,
    stdout: int | IO[str] | None = subprocess.PIPE,
    stderr: int | IO[str] | None = subprocess.PIPE,
    files: Sequence[int] = (),
) -> Iterator[Child]:
    """Run a program beside the block, and end it with the block.

    Args:
        command: the program and its arguments.
        folder: where it runs.
        environment: of the program; by default this process's.
        seconds: it is ended after so long; see `time_limit`.
        stdout: as `subprocess.Popen` takes it.
        stderr: likewise.
        files: numbers of open files that it gets.

    Raises:
        OSError: it does not start.
        UsageError: E101.
    """
    child = _start(
        command, folder, _with_scratch(environment), time_limit(seconds), stdout, stderr, files
    )
    try:
        yield child
    finally:
        child.close()


def run(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    seconds: float = TOOL_SECONDS,
    watch: Watch = lambda: None,
) -> Done:
    """Run a program to its end and return its status and what it printed.

    Args:
        command: see `start`.
        folder: likewise.
        environment: likewise.
        seconds: likewise.
        watch: called about twice a second.

    Raises:
        OSError: it does not start.
        TimeLimitError: E100.
        UsageError: E101.
    """
    with start(command, folder=folder, environment=environment, seconds=seconds) as child:
        out, err = child.communicate(watch)
        status = child.wait()
    if child.over:
        raise too_long(command, seconds, folder)
    return subprocess.CompletedProcess(list(command), status, out, err)


def time_limit(seconds: float) -> float:
    """Return the limit that holds: that of the environment, if there is one, else `seconds`.

    Raises:
        UsageError: E101.
    """
    chosen = os.environ.get(LIMIT_VARIABLE)
    if not chosen:
        return seconds
    try:
        limit = float(chosen)
    except ValueError:
        limit = 0.0
    if not 0 < limit <= LONGEST:
        raise UsageError(
            "E101",
            f"{LIMIT_VARIABLE} is '{chosen[:COMMAND_SHOWN]}', which is not a number of seconds",
            remedy=f"write {LIMIT_VARIABLE}=3600, or unset it",
        )
    return limit


def too_long(command: Sequence[str], seconds: float, folder: Path | None) -> TimeLimitError:
    """Describe a program that was ended after its time limit."""
    limit = time_limit(seconds)
    text = shlex.join(command)
    shown = text if len(text) <= COMMAND_SHOWN else f"{text[:COMMAND_SHOWN]}..."
    return TimeLimitError(
        "E100",
        f"'{Path(command[0]).name}' did not end within {limit:,g} s and was stopped;"
        f" it ran in {folder or Path.cwd()}: {shown}",
        remedy="it is stuck, or this machine is very busy: run the command again, or allow it more"
        f" time with {LIMIT_VARIABLE}={2 * limit:g}",
    )


def end_all() -> None:
    """End every program that runs now, whichever thread waits for it."""
    with _changing:
        for child in _living:
            child.end()


def _with_scratch(environment: Mapping[str, str] | None) -> dict[str, str]:
    """Let a program put its temporary files where they are removed if it cannot do that itself."""
    chosen = {**(os.environ if environment is None else environment)}
    with suppress(UsageError):
        chosen["TMPDIR"] = str(scratch_folder())
    return chosen


def _start(
    command: Sequence[str],
    folder: Path | None,
    environment: Mapping[str, str],
    seconds: float,
    stdout: int | IO[str] | None,
    stderr: int | IO[str] | None,
    files: Sequence[int],
) -> Child:
    ours, theirs = socket.socketpair()
    guard = (sys.executable, "-I", "-S", str(GUARD), str(theirs.fileno()), str(seconds))
    try:
        process = subprocess.Popen(
            (*guard, *command),
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            pass_fds=(*files, theirs.fileno()),
            start_new_session=True,
            text=True,
            errors="replace",
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    child = Child(process, ours)
    said = _first_line(ours)
    if not said.startswith(b"started") and not child.ended:
        child.close()
        number = int(said.split()[1]) if said.startswith(b"error") else 0
        raise OSError(number, os.strerror(number) if number else "its guard ended", command[0])
    return child


def _first_line(control: socket.socket) -> bytes:
    said = b""
    while not said.endswith(b"\n") and (more := control.recv(1)):
        said += more
    return said
