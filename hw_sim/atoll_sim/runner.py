"""Build RTL with Verilator and run a cocotb bench on it.

A built model is cached under its content's hash, so a second run with the same sources,
parameters and tools starts at once.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

import cocotb_tools.config
from find_libpython import find_libpython

from atoll.cache import cache_folder, only_builder
from atoll.errors import SimulationError
from atoll.scratch import temporary_folder
from atoll_sim.build_tools import call_tool, make_variables
from atoll_sim.model_process import run_logged

RTL = Path(__file__).parent / "rtl"
VERILATOR_FLAGS = (
    *("--cc", "--exe", "--vpi", "--prefix", "Vtop", "-o", "model", "--assert", "-Wall"),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--output-split", "0"),
    *("--timescale", "1ns/1ps", "-CFLAGS", "-std=c++20"),
)
BENCH_MAIN = Path(cocotb_tools.config.share_dir) / "lib" / "verilator" / "verilator.cpp"
# Everything else stays free for Verilator to optimise.
PORTS_VISIBLE = '`verilator_config\npublic_flat_rw -module "{}" -var "*"\n'


def run_bench(
    bench: str,
    toplevel: str,
    sources: Sequence[str],
    parameters: Mapping[str, int] | None = None,
    seed: int = 1,
    tests: Sequence[str] = (),
    options: Mapping[str, int] | None = None,
) -> None:
    """Build `toplevel` and run tests of module ``atoll_sim.benches.<bench>`` on it.

    Args:
        bench: module of the tests.
        toplevel: module of the design under test.
        sources: file names below ``rtl/``, packages before their users.
        parameters: of `toplevel`; the bench reads them in ``cocotb.plusargs`` as well.
        seed: what the bench's random choices start from.
        tests: names of the tests to run; all if empty.
        options: more for the bench to find in ``cocotb.plusargs``.

    Raises:
        SimulationError: a test failed, or no test ran.
        ToolchainError: a tool is missing or fails.
    """
    model = build_model(toplevel, sources, parameters or {})
    logs = cache_folder() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with temporary_folder() as folder:
        settings = {**(parameters or {}), **(options or {})}
        command = [str(model), *(f"+{name}={value}" for name, value in settings.items())]
        status = _simulate(command, folder, _environment(bench, toplevel, seed, tests))
        failed, total = _verdict(folder / "results.xml")
        if total and not failed and status == 0:
            return
        kept = logs / f"{bench}-{model.parent.name}-{seed}.log"
        shutil.copyfile(folder / "log", kept)
    names = f": {', '.join(failed)}" if failed else ""
    raise SimulationError(
        "E085",
        f"{len(failed)} of {total} tests of bench '{bench}' failed (status {status}){names}",
        remedy=f"read the log in {kept}",
    )


def build_model(toplevel: str, sources: Sequence[str], parameters: Mapping[str, int]) -> Path:
    """Return the executable of `toplevel`, from the cache if it was built before.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    settings = [f"-G{name}={value}" for name, value in sorted(parameters.items())]
    cached = cache_folder() / "models" / _digest(toplevel, sources, settings) / "model"
    with only_builder(cached.parent):
        if not cached.is_file():
            _build(cached, toplevel, sources, settings)
    return cached


def _build(cached: Path, toplevel: str, sources: Sequence[str], settings: Sequence[str]) -> None:
    cached.parent.mkdir(exist_ok=True)
    with temporary_folder() as folder:
        libraries = Path(cocotb_tools.config.libs_dir)
        flags = f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"
        visible = folder / "visible.vlt"
        visible.write_text(PORTS_VISIBLE.format(toplevel))
        files = (visible, RTL / "lint.vlt", *(RTL / name for name in sources), BENCH_MAIN)
        verilate = ["verilator", *VERILATOR_FLAGS, "--top-module", toplevel, *settings]
        verilate += ["-Mdir", str(folder), f"-I{RTL}", "-LDFLAGS", flags, *map(str, files)]
        call_tool(verilate, f"'{toplevel}'")
        _share_runtime(folder)
        make = ["make", "-C", str(folder), "-f", "Vtop.mk", "OPT_FAST=-O1", *make_variables()]
        call_tool(make, f"'{toplevel}'")
        _share_runtime(folder)
        (folder / "model").replace(cached)


def _share_runtime(folder: Path) -> None:
    """Exchange Verilator's own object files, the same for every bench, with the cache."""
    tools = repr((version("verilator"), make_variables(), VERILATOR_FLAGS))
    shared = cache_folder() / "runtime" / hashlib.sha256(tools.encode()).hexdigest()[:20]
    shared.mkdir(parents=True, exist_ok=True)
    for built in shared.glob("*.o"):
        shutil.copyfile(built, folder / built.name)
    for built in folder.glob("verilated*.o"):
        if not (shared / built.name).exists():
            fresh = Path(shutil.copy(built, shared / f"{built.name}.{os.getpid()}"))
            fresh.replace(shared / built.name)


def _digest(toplevel: str, sources: Sequence[str], settings: Sequence[str]) -> str:
    tools = (version("verilator"), version("cocotb"), str(cocotb_tools.config.libs_dir))
    digest = hashlib.sha256(
        repr((toplevel, settings, VERILATOR_FLAGS, PORTS_VISIBLE, tools)).encode()
    )
    headers = sorted(path.name for path in RTL.glob("*.svh"))
    for name in (*headers, "lint.vlt", *sources):
        digest.update(f"{name}\0".encode() + (RTL / name).read_bytes())
    return digest.hexdigest()[:20]


def _environment(bench: str, toplevel: str, seed: int, tests: Sequence[str]) -> dict[str, str]:
    chosen = {"COCOTB_TEST_FILTER": rf"\.({'|'.join(tests)})$"} if tests else {}
    return {
        **os.environ,
        **chosen,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYGPI_PYTHON_BIN": sys.executable,
        "GPI_USERS": f"{find_libpython()};{cocotb_tools.config.pygpi_entry_point()}",
        "COCOTB_TOPLEVEL": toplevel,
        "COCOTB_TEST_MODULES": f"atoll_sim.benches.{bench}",
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_RESULTS_FILE": "results.xml",
        "COCOTB_TRUST_INERTIAL_WRITES": "1",
        "TOPLEVEL_LANG": "verilog",
    }


def _simulate(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> int:
    return run_logged(command, folder, environment, "log")


def _verdict(results: Path) -> tuple[list[str], int]:
    """Return the names of the failed tests and the number of all tests."""
    if not results.is_file():
        return [], 0
    cases = list(ElementTree.parse(results).getroot().iter("testcase"))
    bad = (case for case in cases if {child.tag for child in case} & {"failure", "error"})
    return [case.get("name", "?") for case in bad], len(cases)
