"""The process of a built model: what it needs to find Python, cocotb and the bench."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import cocotb_tools.config
from find_libpython import find_libpython

from atoll.errors import SimulationError
from atoll_sim.build import TOP

LOG = "simulation.log"
LOG_TAIL = 20


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


def broken_off(folder: Path, status: int | None) -> SimulationError:
    """Describe a model's process that ended without doing its work in `folder`."""
    log = folder / LOG
    tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
    return SimulationError(
        "E087",
        f"the simulator broke off with status {status}:\n{tail}",
        remedy=f"read '{log}'; a failed assertion names the module that it guards",
    )
