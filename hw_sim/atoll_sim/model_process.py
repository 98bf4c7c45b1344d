"""The process of a built model: what it needs to find Python, cocotb and the bench."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import cocotb_tools.config
from find_libpython import find_libpython

from atoll.cache import cache_folder
from atoll.errors import SimulationError
from atoll_sim.build import TOP

LOG = "simulation.log"
LOG_TAIL = 20
WATCH_SECONDS = 1.0


@contextmanager
def run_folder() -> Iterator[Path]:
    """Yield a folder for one run; it is removed at the end unless the run failed."""
    parent = cache_folder() / "runs"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=parent))
    yield folder
    shutil.rmtree(folder)


def bench_environment(bench: str) -> Mapping[str, str]:
    """Return the environment in which a model starts Python and a bench.

    Args:
        bench: module below `atoll_sim.benches`.
    """
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        "COCOTB_TOPLEVEL": TOP,
        "COCOTB_TEST_MODULES": f"atoll_sim.benches.{bench}",
        "COCOTB_RESULTS_FILE": "results.xml",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_ANSI_OUTPUT": "0",
        "TOPLEVEL_LANG": "verilog",
    }


def run_watched(
    command: Sequence[str], folder: Path, max_seconds: float, watch: Callable[[], None]
) -> int:
    """Run a model with the bench ``soc`` in `folder` and return its status.

    Args:
        command: the model and its arguments.
        folder: takes its output as `LOG`.
        max_seconds: the model is killed after so long.
        watch: called about once a second.

    Raises:
        TimeoutExpired: the model was killed.
    """
    environment = bench_environment("soc")
    end = time.monotonic() + max_seconds
    with (
        (folder / LOG).open("w") as log,
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            while (left := end - time.monotonic()) > WATCH_SECONDS:
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(WATCH_SECONDS)
                watch()
            return process.wait(max(left, 0.0))
        finally:
            process.kill()


def broken_off(folder: Path, status: int | None) -> SimulationError:
    """Describe a model's process that ended without doing its work in `folder`."""
    log = folder / LOG
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
    return SimulationError(
        "E087",
        f"the simulator broke off with status {status}:\n{tail}",
        remedy=f"read '{log}'; a failed assertion names the module that it guards",
    )
