"""Run firmware on a built model, in a process of its own, and hand back what it did."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import cocotb_tools.config
from find_libpython import find_libpython

from atoll.errors import SimulationError
from atoll_sim.firmware import write_image
from atoll_sim.phases import make_result
from atoll_sim.platform import plan_chip
from atoll_sim.run_files import (
    ACCESS,
    CAPTURES,
    IMAGE,
    RESULT,
    WAVES,
    Work,
    read_record,
    write_work,
)
from atoll_sim.simulation import Buffer, SimRequest, SimResult, Stop

LOG = "simulation.log"
LOG_TAIL = 20
PICOSECONDS = 10**12


def simulate(request: SimRequest) -> SimResult:
    """Run the firmware with all samples and return what happened, however it ended.

    Raises:
        SimulationError: the firmware does not fit the chip, or the simulator itself broke off.
    """
    folder = request.run_dir
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RESULT, CAPTURES, ACCESS, WAVES):
        (folder / name).unlink(missing_ok=True)
    write_image(request.elf, request.soc, folder / IMAGE)
    write_work(folder, _work(request))
    command = [str(request.executable.absolute()), *(("--waves", WAVES) if request.waves else ())]
    run_process(command, folder, "atoll_sim.benches.soc", request.max_seconds)
    masters = tuple(master.name for master in plan_chip(request.soc).masters)
    return make_result(read_record(folder), masters)


def require_exit(result: SimResult) -> None:
    """Check that the firmware came to its own end.

    Raises:
        SimulationError: it trapped, stood still, or ran into the limit of cycles.
    """
    reasons = {
        Stop.TRAP: f"core '{result.trapped}' met an illegal instruction or address",
        Stop.STALL: "the firmware reported nothing for too long",
        Stop.LIMIT: "the firmware did not end within the allowed cycles",
    }
    if result.stop is Stop.EXIT:
        return
    said = result.text.strip().splitlines()[-5:]
    raise SimulationError(
        "E088",
        f"{reasons[result.stop]}; stopped in cycle {result.cycles}"
        + (f", after the firmware said:\n  {chr(10).join(said)}" if said else ""),
        remedy="look for blocked accesses in the report; '--waves' records every signal",
    )


def run_process(command: Sequence[str], folder: Path, bench: str, max_seconds: float) -> None:
    """Run a model with a cocotb bench that leaves a result in `folder`.

    Raises:
        SimulationError: the process failed, took too long, or left no result.
    """
    log = folder / LOG
    try:
        with log.open("w") as stream:
            status = subprocess.run(
                command,
                cwd=folder,
                env=cocotb_environment("atoll_chip", bench),
                stdout=stream,
                stderr=subprocess.STDOUT,
                timeout=max_seconds,
            ).returncode
    except subprocess.TimeoutExpired as fault:
        raise SimulationError(
            "E088",
            f"the simulation took more than {max_seconds:g} s of wall-clock time",
            remedy=f"read '{log}', or allow more time",
        ) from fault
    if status or not (folder / RESULT).is_file():
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
        raise SimulationError(
            "E087",
            f"the simulator broke off with status {status}:\n{tail}",
            remedy=f"read '{log}'; a failed assertion names the module that it guards",
        )


def cocotb_environment(toplevel: str, bench: str) -> Mapping[str, str]:
    """Return the environment in which a model starts Python and the bench."""
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        "COCOTB_TOPLEVEL": toplevel,
        "COCOTB_TEST_MODULES": bench,
        "COCOTB_RESULTS_FILE": "results.xml",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "COCOTB_ANSI_OUTPUT": "0",
        "TOPLEVEL_LANG": "verilog",
    }


def _work(request: SimRequest) -> Work:
    soc = request.soc
    return Work(
        inputs=request.inputs,
        outputs=request.outputs,
        snapshots=request.snapshots,
        stacks=tuple(Buffer(cpu.name, cpu.stack.origin, cpu.stack.size) for cpu in soc.cpus),
        samples=tuple(
            b"".join(sample[buffer.name] for buffer in request.inputs) for sample in request.samples
        ),
        max_cycles=request.max_cycles,
        stall_cycles=request.stall_cycles,
        cycle_time=PICOSECONDS // soc.host_cpu.clock,
    )
