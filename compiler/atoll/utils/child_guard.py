# SPDX-License-Identifier: Apache-2.0
"""Stand between Atoll and a program that it runs, and end the program with Atoll.

Run as ``python -I -S child_guard.py FD SECONDS COMMAND...`` by `atoll.utils.children`. FD is one
end of a pair of sockets. The other end closes when Atoll ends, even by SIGKILL, or wants the
program to end; then, after SECONDS, and when the program has left children behind, every process
that came from the program is killed. The guard ends as the program does: with its status, or by its
signal.

It says through FD, a line each: ``started PID``, or ``error ERRNO`` if the program does not start,
``limit`` if SECONDS were over, and ``used SECONDS`` of processor time when it has ended by itself.
"""

import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress

GRACE = 0.3
"""Seconds that a program has to remove its own files once it is told to end."""
PAUSE = 0.01
SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2)."""
NOT_STARTED = 127
ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CHANGED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def main(arguments: list[str]) -> int:
    """Run the program of `arguments` and return its status."""
    control, seconds, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    end = time.monotonic() + seconds
    os.set_inheritable(control, False)
    wake = _wake_up_pipe()
    _adopt_orphans()
    try:
        program = os.posix_spawnp(
            command[0], command, os.environ, setpgroup=0, setsigdef=CHANGED_BY_PYTHON
        )
    except OSError as fault:
        _tell(control, f"error {fault.errno}")
        return NOT_STARTED
    _tell(control, f"started {program}")
    status = _watch(program, control, wake, end)
    _end_all(program)
    return _end_like(status)


def _wake_up_pipe() -> int:
    """Return a pipe that can be read once a child, or somebody who wants an end, has called."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for ending in ENDINGS:
        signal.signal(ending, _close_later)
    return reader


_asked_to_end = False


def _close_later(*_: object) -> None:
    global _asked_to_end
    _asked_to_end = True


def _adopt_orphans() -> None:
    """Become the parent of whatever the program leaves behind, where the system can do that."""
    if sys.platform != "linux":
        return
    import ctypes

    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def _tell(control: int, line: str) -> None:
    with suppress(OSError):
        os.write(control, f"{line}\n".encode())


def _watch(program: int, control: int, wake: int, end: float) -> int | None:
    """Wait for the program; return its wait status, or None where it has to be ended."""
    while not _asked_to_end:
        ready, _, _ = select.select([control, wake], [], [], max(0.0, end - time.monotonic()))
        if wake in ready:
            os.read(wake, 4096)
        for child, status, used in tuple(_reap()):
            if child == program:
                _tell(control, f"used {used:.6f}")
                return status
        if control in ready:
            return None
        if time.monotonic() >= end:
            _tell(control, "limit")
            return None
    return None


def _reap() -> Iterator[tuple[int, int, float]]:
    """Yield each child that has ended, with its wait status and its processor seconds."""
    while True:
        try:
            child, status, used = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not child:
            return
        yield child, status, used.ru_utime + used.ru_stime


def _end_all(program: int) -> None:
    """End every process that is left of the program: first kindly, then for good."""
    kind = time.monotonic() + GRACE
    sent = {0}
    while left := _remaining_processes(program):
        late = time.monotonic() >= kind
        for process in left if late else left - sent:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
        sent |= left
        time.sleep(PAUSE)
        for _ in _reap():
            pass


def _remaining_processes(program: int) -> set[int]:
    """Return the processes that came from the program; minus its number is its whole group."""
    if sys.platform == "linux":
        return _descendants() if _has_children() else set()
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(program, 0)
        return {-program}
    return set()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _descendants() -> set[int]:
    parents = dict(_parents())
    found = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _parents() -> Iterator[tuple[int, int]]:
    """Yield each living process with its parent."""
    for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
            state, parent, *_ = file.read().rpartition(b")")[2].split()
            if state != b"Z":
                yield int(name), int(parent)


def _end_like(status: int | None) -> int:
    if status is None:
        status = signal.SIGKILL
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
