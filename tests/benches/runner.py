# SPDX-License-Identifier: Apache-2.0
"""Build RTL with Verilator and run a cocotb bench on it.

A built model is cached under its content's hash, so a second run with the same sources,
parameters and tools starts at once.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from atoll.utils.cache import cache_folder
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.module import build_module
from atoll_sim.chip.sources import FOLDERS as SHIPPED
from atoll_sim.chip.sources import find_source
from atoll_sim.model.process import bench_environment, run_logged

FOLDERS = (*SHIPPED, Path(__file__).parent / "rtl")


class BenchError(Exception):
    """Tests of a bench failed."""


def run_bench(
    bench: str,
    toplevel: str,
    sources: Sequence[str],
    parameters: Mapping[str, int] | None = None,
    seed: int = 1,
    tests: Sequence[str] = (),
    options: Mapping[str, int] | None = None,
    generated: Mapping[str, str] | None = None,
) -> None:
    """Build `toplevel` and run tests of module ``tests.benches.<bench>`` on it.

    Args:
        bench: module of the tests.
        toplevel: module of the design under test.
        sources: file names below ``rtl/``, packages before their users.
        parameters: of `toplevel`; the bench reads them in ``cocotb.plusargs`` as well.
        seed: what the bench's random choices start from.
        tests: names of the tests to run; all if empty.
        options: more for the bench to find in ``cocotb.plusargs``.
        generated: text of sources that come after `sources`, by file name.

    Raises:
        BenchError: a test failed, or no test ran.
        ToolchainError: a tool is missing or fails.
    """
    model = build_model(toplevel, sources, parameters or {}, generated or {})
    settings = {**(parameters or {}), **(options or {})}
    words = [f"+{name}={value}" for name, value in settings.items()]
    run_on(model, words, bench, toplevel, seed, tests)


def run_on(
    model: Path,
    words: Sequence[str],
    bench: str,
    toplevel: str,
    seed: int = 1,
    tests: Sequence[str] = (),
) -> None:
    """Run a bench on a model that is built and takes some words; see `run_bench`."""
    logs = cache_folder() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with temporary_folder() as folder:
        status = _simulate([str(model), *words], folder, _environment(bench, toplevel, seed, tests))
        failed, total = _verdict(folder / "results.xml")
        if total and not failed and status == 0:
            return
        kept = logs / f"{bench}-{model.parent.name}-{seed}.log"
        shutil.copyfile(folder / "log", kept)
    names = f": {', '.join(failed)}" if failed else ""
    count = f"{len(failed)} of {total} tests of bench '{bench}' failed (status {status}){names}"
    raise BenchError(f"{count}; read the log in {kept}")


def build_model(
    toplevel: str,
    sources: Sequence[str],
    parameters: Mapping[str, int],
    generated: Mapping[str, str] = {},
) -> Path:
    """Return the executable of `toplevel`, from the cache if it was built before.

    Raises:
        ToolchainError: a tool is missing or fails.
    """
    rtl = [find_source(name, FOLDERS) for name in sources]
    return build_module(toplevel, rtl, parameters, generated)


def _environment(bench: str, toplevel: str, seed: int, tests: Sequence[str]) -> dict[str, str]:
    chosen = {"COCOTB_TEST_FILTER": rf"\.({'|'.join(tests)})$"} if tests else {}
    return {
        **bench_environment(f"tests.benches.{bench}", toplevel),
        **chosen,
        "COCOTB_RANDOM_SEED": str(seed),
        "COCOTB_REWRITE_ASSERTION_FILES": str(Path(__file__).with_name("*.py")),
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
