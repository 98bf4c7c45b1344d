# SPDX-License-Identifier: Apache-2.0
"""The process of a built model: what it needs to find Python, cocotb and the bench."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

from find_libpython import find_libpython

from atoll.diagnostics.errors import SimulationError
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.cache import cache_folder
from atoll.utils.children import start, too_long
from atoll_sim.build.model import TOP
from atoll_sim.chip.blame import broken_rule
from atoll_sim.chip.sources import described_place, memory_readers

LOG = "simulation.log"
SAID = "rtl.log"
"""What RTL printed, which model/rtl_io.cpp writes."""

RTL_FOLDERS = "ATOLL_RTL_FOLDERS"
"""Environment variable with the folders of files that RTL reads, for the same."""

NO_FILE = 86
"""Status of a model whose RTL reads a file that is not there, or that is there twice."""

SAID_SHOWN = 5
LONGEST_SAID = 160
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


def reading_from(folders: Iterable[Path]) -> Mapping[str, str]:
    """Return the environment in which RTL finds the files that it reads."""
    return {RTL_FOLDERS: "\n".join(map(str, folders))}


def said_notes(folder: Path) -> tuple[str, ...]:
    """Return what the RTL of a run in `folder` printed, as notes: the first lines, and how many."""
    try:
        text = (folder / SAID).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    notes = [f"the RTL printed: {line[:LONGEST_SAID]}" for line in lines[:SAID_SHOWN]]
    if (more := len(lines) - SAID_SHOWN) > 0:
        notes.append(f"the RTL printed {more:,} more lines")
    return tuple(notes)


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
    reads: Iterable[Path] = (),
    own: Mapping[str, str] | None = None,
) -> int:
    """Run a model with the bench ``soc`` in `folder` and return its status.

    Args:
        command: the model and its arguments.
        folder: takes its output as `LOG`.
        max_seconds: the model is killed after so long.
        watch: called about twice a second.
        stand_ins: file descriptor over which it asks who plays accelerators; -1 if nobody does.
        reads: folders of files that RTL reads.
        own: more of its environment, which goes first.

    Raises:
        TimeLimitError: E100, the model was killed.
    """
    environment = {**bench_environment("atoll_sim.simulate.bench"), **reading_from(reads)}
    environment.update(own or {})
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


def unfinished_error(
    folder: Path, status: int | None, soc: ResolvedSoc | None = None
) -> SimulationError:
    """Describe a model's process that ended without doing its work in `folder`.

    Args:
        folder: of the run.
        status: of the process.
        soc: the chip, whose devices a failed assertion or a missing file may name.
    """
    if status == NO_FILE:
        return _file_error(folder, soc)
    log = keep_log(folder)
    text = log.read_text(errors="replace")
    if soc and (fault := broken_rule(soc, text)):
        return SimulationError(fault.code, fault.message, at=fault.at, remedy=fault.remedy)
    tail = "\n".join(text.splitlines()[-LOG_TAIL:])
    return SimulationError(
        "E087",
        f"the simulator broke off with status {status}:\n{tail}",
        remedy=f"read '{log}'; a failed assertion names the module that it guards",
    )


def _file_error(folder: Path, soc: ResolvedSoc | None) -> SimulationError:
    """Describe the file that RTL could not read, which the last lines of what it said name.

    Nobody knows who read it; those who may have are the devices whose RTL reads memories.
    """
    said = (folder / SAID).read_text(encoding="utf-8", errors="replace")
    found = memory_readers(soc) if soc else ()
    readers = {f"{kind} '{spec.name}'": (spec, kind, device) for spec, kind, device in found}
    places = [place for each in readers.values() if (place := described_place(*each))]
    words = " or ".join(readers)
    who = f"the RTL of {words}" if words else "the RTL"
    at = places[0][0] if places else None
    other = places[1] if len(places) > 1 else None
    if twice := re.search(r"^%File: (.+)\n(.+)\n(.+)$", said, re.M):
        name, one, another = twice.groups()
        return SimulationError(
            "E255",
            f"{who} reads '{name}', and '{one}' is another file than '{another}'",
            at=at,
            other=other,
            remedy="give the two files different names, or write an absolute path",
        )
    missing = re.search(r"^%Warning: (.+):[0-9]+: \$readmem", said, re.M)
    name = missing.group(1) if missing else "a file"
    beside = " or ".join(dict.fromkeys(f"'{place.path}'" for place, _ in places))
    return SimulationError(
        "E255",
        f"{who} reads '{name}' into a memory, and there is no such file",
        at=at,
        other=other,
        remedy=f"put it beside the RTL that names it, or beside {beside or 'the YAML of that'}",
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
