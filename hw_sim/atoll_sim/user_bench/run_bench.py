# SPDX-License-Identifier: Apache-2.0
"""Run the tests of a bench, each in a simulation of its own, and hold its run against the plan."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

from atoll.api.bench import BenchRun, BenchTestResult
from atoll.api.runs import Run
from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import current
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.children import TimeLimitError
from atoll.utils.files import new_folder, require_writable, write_text
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import Backends, CpuKind
from atoll_sim.build.model import build_model
from atoll_sim.chip.memory_map import write_map
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import read_folders
from atoll_sim.inputs.build_folder import Image
from atoll_sim.model.process import LOG, MAX_SECONDS, run_watched, unfinished_error
from atoll_sim.runs.checked_run import Outcome, Written, run_image
from atoll_sim.simulate.firmware import write_image
from atoll_sim.trace.run_files import IMAGE
from atoll_sim.trace.simulation import OwnBench
from atoll_sim.user_bench.describe import describe
from atoll_sim.user_bench.discovery import BenchModule, BenchTest, find_tests
from atoll_sim.user_bench.files import DATA, DESCRIBED
from atoll_sim.user_bench.results import RESULTS, Verdict, junit_text, read_verdict
from atoll_sim.waves.request import Waves

FINISH = "atoll_sim.user_bench.finish"
"""Module of the test that follows each of the user's."""

Judge = Callable[[Sequence[Outcome]], Run]


def run_bench(
    image: Image,
    bench: str,
    samples: Sequence[Sequence[Sample]],
    *,
    result: Judge,
    backends: Backends | None = None,
    firmware: bool = True,
    waves: Waves | None = None,
    output: Path | None = None,
    junit: Path | None = None,
) -> BenchRun:
    """Run tests beside the firmware of a build folder; as `atoll.run_bench`.

    Args:
        image: the firmware and its networks.
        bench: module or file of the tests; ``:TEST`` behind it names one.
        samples: of each network.
        result: makes the outcomes of a run what callers see.
        backends: who plays the accelerators.
        firmware: that it runs; without it there are no cores, and images are but constants.
        waves: to record.
        output: folder that keeps what a bench needs and leaves.
        junit: file of the results.
    """
    if junit:
        require_writable(junit)
    module, tests = _find(bench)
    if waves and len(tests) > 1:
        raise UsageError(
            "E191",
            f"one file takes the waveforms of one test, and '{bench}' has {len(tests)}",
            remedy=f"name one: --bench {bench}:{tests[0].name}",
        )
    models = image.models
    if not firmware:
        return run_on_chip(models[0].soc, bench, image, samples, output=output, junit=junit)
    soc, modelled = models[0].soc, (backends or Backends()).models(models[0].soc)
    CpuKind.RTL.check_chip(soc)
    chip = plan_chip(soc, stand_ins=modelled)
    with _folder(output) as folder:
        build_model(
            soc,
            stand_ins=modelled,
            waves=waves.format if waves else None,
            bench=True,
            progress=current(),
        )
        data = describe(chip, models, samples, folder)

        def play(own: OwnBench) -> Run:
            return result(
                run_image(
                    image,
                    samples,
                    accelerator=backends,
                    progress=current(),
                    written=Written(waves=waves),
                    bench=own,
                )
            )

        return _run_tests(module, tests, data.absolute(), play, junit, FINISH)


def run_on_chip(
    soc: ResolvedSoc,
    bench: str,
    image: Image | None = None,
    samples: Sequence[Sequence[Sample]] = (),
    *,
    output: Path | None = None,
    junit: Path | None = None,
) -> BenchRun:
    """Run tests on a chip without cores, whose host they are.

    Args:
        soc: the chip.
        bench: as in `run_bench`.
        image: whose constants are in memory.
        samples: of each of its networks.
        output: as in `run_bench`.
        junit: likewise.
    """
    if junit:
        require_writable(junit)
    module, tests = _find(bench)
    chip = plan_chip(soc, external_host=True)
    with _folder(output) as folder:
        model = build_model(soc, external_host=True, bench=True, progress=current())
        data = describe(chip, image.models if image else (), samples, folder)
        elves = image.elves if image else ()
        play = partial(_play_alone, soc, model, elves)
        return _run_tests(module, tests, data.absolute(), play, junit)


def _play_alone(soc: ResolvedSoc, model: Path, elves: Sequence[Path], own: OwnBench) -> None:
    """Run a test on a model that runs no firmware, and has the constants of `elves`."""
    with temporary_folder() as folder:
        if elves:
            write_image(elves, soc, folder / IMAGE)
        command = [str(model.absolute()), *write_map(soc, folder)]
        try:
            status = run_watched(
                command,
                folder,
                MAX_SECONDS,
                lambda: None,
                reads=read_folders(soc),
                own=own.environment,
            )
        finally:
            shutil.copyfile(folder / LOG, own.folder / LOG)
        if status:
            raise unfinished_error(folder, status, soc)


def _run_tests(
    module: BenchModule,
    tests: Sequence[BenchTest],
    data: Path,
    play: Callable[[OwnBench], Run | None],
    junit: Path | None,
    *behind: str,
) -> BenchRun:
    """Run tests one after the other, each with `play`; `behind` are modules of what follows it."""
    pairs: list[tuple[BenchTestResult, Verdict]] = []
    for number, test in enumerate(tests, 1):
        current()(f"bench {module.name}: {test.name}, test {number} of {len(tests)}")
        pairs.append(_run_test(module, test, data, play, behind))
    found = BenchRun(module=module.name, tests=tuple(each for each, _ in pairs))
    if junit:
        cases = [verdict.case for _, verdict in pairs]
        write_text(junit, junit_text(module.name, found.tests, cases))
    return found


def _run_test(
    module: BenchModule,
    test: BenchTest,
    data: Path,
    play: Callable[[OwnBench], Run | None],
    behind: Sequence[str],
) -> tuple[BenchTestResult, Verdict]:
    """Run a test, and return how it and the firmware ended."""
    if test.skipped:
        skipped = BenchTestResult(name=test.name, passed=True, skipped=True, message="", run=None)
        return skipped, Verdict(True, "", None)
    folder = data.parent / quote(test.name, safe="")
    folder.mkdir()
    names = (test.full_name, *(f"{each}.finish" for each in behind))
    environment = {
        "PYTHONPATH": module.path,
        "COCOTB_TEST_MODULES": ",".join((module.name, *behind)),
        "COCOTB_TEST_FILTER": f"^({'|'.join(map(re.escape, names))})$",
        "COCOTB_RESULTS_FILE": str(folder / RESULTS),
        "COCOTB_REWRITE_ASSERTION_FILES": f"{module.name.rpartition('.')[2]}.py",
        DATA: str(data),
        "COCOTB_RANDOM_SEED": os.environ.get("COCOTB_RANDOM_SEED", "1"),
    }
    run, broke = None, ""
    try:
        run = play(OwnBench(environment=environment, folder=folder))
    except (SimulationError, TimeLimitError) as error:
        broke = error.faults[0].message
    verdict = read_verdict(folder / RESULTS, test.name, broke)
    passed = verdict.passed and (run is None or run.passed)
    ended = BenchTestResult(
        name=test.name, passed=passed, skipped=False, message=verdict.message, run=run
    )
    return ended, verdict


def _find(bench: str) -> tuple[BenchModule, Sequence[BenchTest]]:
    """Return a module, and its tests that shall run."""
    name, _, wanted = bench.partition(":")
    module = find_tests(name)
    if not wanted:
        return module, module.tests
    tests = [test for test in module.tests if test.name == wanted]
    if not tests:
        names = ", ".join(test.name for test in module.tests)
        raise UsageError(
            "E257",
            f"bench '{name}' has no test '{wanted}'",
            remedy=f"name one of its tests: {names}",
        )
    return module, tests


@contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    """Yield the folder of a bench: one to keep, or one that goes."""
    if output:
        with new_folder(output, marker=DESCRIBED) as folder:
            yield folder
    else:
        with temporary_folder() as folder:
            yield folder
