# SPDX-License-Identifier: Apache-2.0
"""The process of a built model: what it needs to find Python, cocotb and the bench."""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from find_libpython import find_libpython

from atoll.diagnostics.errors import SimulationError
from atoll.utils.cache import cache_folder
from atoll.utils.children import start, too_long
from atoll_sim.build.model import TOP

LOG = "simulation.log"
STAND_INS = "ATOLL_STAND_INS"
"""Environment variable with a file descriptor, which model/stand_in.cpp knows."""

LOG_TAIL = 20
LOGS_KEPT = 20
MAX_SECONDS = 3600.0


def bench_environment(bench: str, top: str = TOP) -> Mapping[str, str]:
    """Return the environment in which the model of `top` starts Python and the module `bench`."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython()};{_entry_point()}",
        "COCOTB_TOPLEVEL": top,
        "COCOTB_TEST_MODULES": bench,
        "COCOTB_RESULTS_FILE": "results.xml",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_ANSI_OUTPUT": "0",
        # Where pytest is installed, all that the bench imports would be compiled anew.
        "COCOTB_REWRITE_ASSERTION_FILES": "",
        "TOPLEVEL_LANG": "verilog",
    }


def _entry_point() -> str:
    """Return what starts cocotb, without the import of it that `cocotb_tools.config` needs."""
    cocotb = find_spec("cocotb")
    assert cocotb is not None
    found = PathFinder.find_spec("cocotb.simulator", cocotb.submodule_search_locations)
    assert found is not None
    return f"{found.origin},initialize"


def run_watched(
    command: Sequence[str],
    folder: Path,
    max_seconds: float,
    watch: Callable[[], None],
    stand_ins: int = -1,
) -> int:
    """Run a model with the bench ``soc`` in `folder` and return its status.

    Args:
        command: the model and its arguments.
        folder: takes its output as `LOG`.
        max_seconds: the model is killed after so long.
        watch: called about twice a second.
        stand_ins: file descriptor over which it asks who plays accelerators; -1 if nobody does.

    Raises:
        TimeLimitError: E100, the model was killed.
    """
    environment = bench_environment("atoll_sim.simulate.bench")
    if stand_ins < 0:
        return run_logged(command, folder, environment, LOG, max_seconds, watch)
    environment = {**environment, STAND_INS: str(stand_ins)}
    return run_logged(command, folder, environment, LOG, max_seconds, watch, (stand_ins,))


def run_logged(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    log: str,
    max_seconds: float = MAX_SECONDS,
    watch: Callable[[], None] = lambda: None,
    files: Sequence[int] = (),
) -> int:
    """Run a model in `folder`, print into its file `log`, and return the status.

    Raises:
        TimeLimitError: E100, the model was killed.
    """
    with (
        (folder / log).open("w") as file,
        start(
            command,
            folder=folder,
            environment=environment,
            seconds=max_seconds,
            stdout=file,
            stderr=file,
            files=files,
        ) as child,
    ):
        status = child.wait(watch)
    if child.over:
        raise too_long(command, max_seconds, folder)
    return status


def unfinished_error(folder: Path, status: int | None) -> SimulationError:
    """Describe a model's process that ended without doing its work in `folder`."""
    log = keep_log(folder)
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
    return SimulationError(
        "E087",
        f"the simulator broke off with status {status}:\n{tail}",
        remedy=f"read '{log}'; a failed assertion names the module that it guards",
    )


def keep_log(folder: Path) -> Path:
    """Keep the log of a run in `folder`, which is about to go, beside the last ones of others."""
    logs = cache_folder() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=logs, prefix="simulation-", suffix=".log")
    os.close(number)
    shutil.copyfile(folder / LOG, name)
    kept = sorted(logs.glob("simulation-*.log"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-LOGS_KEPT]:
        path.unlink(missing_ok=True)
    return Path(name)
