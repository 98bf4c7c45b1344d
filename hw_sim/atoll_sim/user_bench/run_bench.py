# SPDX-License-Identifier: Apache-2.0
"""Run the tests of a bench, each in a simulation of its own, and hold its run against the plan."""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from atoll.api.bench import BenchRun, BenchTestResult
from atoll.api.runs import Run
from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import current
from atoll.records import dataclass
from atoll.utils.files import new_folder, require_writable, write_text
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import Backends, CpuKind
from atoll_sim.build.model import build_model
from atoll_sim.chip.plan import plan_chip
from atoll_sim.inputs.build_folder import Image
from atoll_sim.runs.checked_run import Outcome, run_image
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
        runner = _Runner(image, module, samples, backends, waves, data.absolute(), result)
        pairs = [runner.run(test, len(tests)) for test in tests]
    found = BenchRun(module=module.name, tests=tuple(each for each, _ in pairs))
    if junit:
        cases = [verdict.case for _, verdict in pairs]
        write_text(junit, junit_text(module.name, found.tests, cases))
    return found


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs one test after the other."""

    image: Image
    module: BenchModule
    samples: Sequence[Sequence[Sample]]
    backends: Backends | None
    waves: Waves | None
    data: Path
    result: Judge

    def run(self, test: BenchTest, count: int) -> tuple[BenchTestResult, Verdict]:
        """Run a test, and return how it and the firmware ended."""
        if test.skipped:
            skipped = BenchTestResult(
                name=test.name, passed=True, skipped=True, message="", run=None
            )
            return skipped, Verdict(True, "", None)
        number = self.module.tests.index(test) + 1
        current()(f"bench {self.module.name}: {test.name}, test {number} of {count}")
        folder = self.data.parent / quote(test.name, safe="")
        folder.mkdir()
        run, broke = None, ""
        try:
            outcomes = run_image(
                self.image,
                self.samples,
                accelerator=self.backends,
                progress=current(),
                waves=self.waves,
                bench=OwnBench(environment=self._environment(test, folder), folder=folder),
            )
            run = self.result(outcomes)
        except SimulationError as error:
            broke = error.faults[0].message
        verdict = read_verdict(folder / RESULTS, test.name, broke)
        passed = verdict.passed and run is not None and run.passed
        ended = BenchTestResult(
            name=test.name,
            passed=passed,
            skipped=False,
            message=verdict.message,
            run=run,
        )
        return ended, verdict

    def _environment(self, test: BenchTest, folder: Path) -> dict[str, str]:
        names = (test.full_name, f"{FINISH}.finish")
        return {
            "PYTHONPATH": self.module.path,
            "COCOTB_TEST_MODULES": f"{self.module.name},{FINISH}",
            "COCOTB_TEST_FILTER": f"^({'|'.join(map(re.escape, names))})$",
            "COCOTB_RESULTS_FILE": str(folder / RESULTS),
            "COCOTB_REWRITE_ASSERTION_FILES": f"{self.module.name.rpartition('.')[2]}.py",
            DATA: str(self.data),
            "COCOTB_RANDOM_SEED": os.environ.get("COCOTB_RANDOM_SEED", "1"),
        }


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
