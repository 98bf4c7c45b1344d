# SPDX-License-Identifier: Apache-2.0
"""A user's own cocotb tests on a simulated chip."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from atoll.api.beside import function_of
from atoll.api.chips import Soc
from atoll.api.notebook import Row, html_table, plain_text
from atoll.api.runs import NetworkRun, Run
from atoll.api.samples import Samples, samples_for
from atoll.api.simulation import Accelerator, Waveforms, run_of
from atoll.records import dataclass

if TYPE_CHECKING:
    from atoll.api.driver import Compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchTestResult:
    """How one test of a bench ended, and the firmware beside it.

    Attributes:
        name: of the test.
        passed: it, and Atoll's own checks of what the chip did meanwhile.
        skipped: its author wants it skipped; nothing ran.
        message: why the test itself failed, "" if it did not.
        run: what Atoll's checks say; None if the simulation did not come to its end, or there was
            no firmware.
    """

    name: str
    passed: bool
    skipped: bool
    message: str
    run: Run | None = field(repr=False)

    @property
    def faults(self) -> tuple[str, ...]:
        """What Atoll's own checks found, one line each."""
        return tuple(self._faults())

    def _faults(self) -> Iterator[str]:
        for each in self.run or ():
            if not each.passed:
                yield from map(str, (*each.mismatches, *each.violations))
                if not each.layers_compared:
                    yield f"'{each.network}' ended no layer"

    def to_json(self) -> dict[str, Any]:
        """Return the object of the test; ``atoll simulate --bench --json`` lists them."""
        return {
            "test": self.name,
            "passed": self.passed,
            "skipped": self.skipped,
            "message": self.message,
            "networks": None if self.run is None else [*map(_beside, self.run)],
        }

    def rich(self) -> RenderableType:
        """Return what a terminal shows of it."""
        words = "skipped" if self.skipped else "passed" if self.passed else "FAILED"
        lines: list[RenderableType] = [Text(f"{self.name}: {words}")]
        if self.message:
            lines += [Text(f"  {line}", style="red") for line in self.message.splitlines()]
        for each in self.run or ():
            right = f"{each.network}: {each.layers_compared - len(each.mismatches)} of"
            right += f" {each.layers_compared} layers bit-exact, {len(each.violations)} violations"
            lines.append(Text(f"  {right} in {each.accesses:,} accesses"))
        lines += [Text(f"  {fault}", style="red") for fault in self.faults]
        return Group(*lines)


def _beside(run: NetworkRun) -> Mapping[str, Any]:
    return {
        "network": run.network,
        "samples": run.samples,
        "layers_compared": run.layers_compared,
        "layers_equal": run.layers_compared - len(run.mismatches),
        "accesses": run.accesses,
        "mismatches": [each.as_json() for each in run.mismatches],
        "violations": [each.as_json() for each in run.violations],
        "total_cycles": run.total_cycles,
        "notes": list(run.notes),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRun:
    """What the tests of a bench said.

    Attributes:
        module: of the tests.
        tests: in the order in which they ran.
    """

    module: str
    tests: tuple[BenchTestResult, ...]

    @property
    def passed(self) -> bool:
        """No test failed, and Atoll's checks found nothing."""
        return all(each.passed for each in self.tests)

    def rows(self) -> list[Row]:
        """Return the tests."""
        return [
            {
                "test": each.name,
                "passed": each.passed,
                "skipped": each.skipped,
                "message": each.message,
                "faults": list(each.faults),
            }
            for each in self.tests
        ]

    def text(self, *, columns: int | None = None) -> str:
        """Return what ``atoll simulate --bench`` prints."""
        return plain_text(self.rich(), columns)

    def rich(self) -> RenderableType:
        """Return the same for a console of the package `rich`."""
        failed = sum(not each.passed for each in self.tests)
        count = f"{len(self.tests)} test{'s' if len(self.tests) != 1 else ''}"
        verdict = f"{failed} of {count} failed" if failed else f"{count} passed"
        return Group(*(each.rich() for each in self.tests), Text(f"{self.module}: {verdict}"))

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll simulate --bench --json`` prints."""
        return {
            "bench": self.module,
            "passed": self.passed,
            "tests": [each.to_json() for each in self.tests],
        }

    def _repr_html_(self) -> str:
        return html_table(f"{self.module}: {'passed' if self.passed else 'failed'}", self.rows())


def run_bench(
    on: Path | str | Soc,
    bench: str,
    samples: Samples = None,
    *,
    accelerator: Accelerator = None,
    firmware: bool = True,
    waves: Waveforms | Path | str | None = None,
    output: Path | str | None = None,
    junit: Path | str | None = None,
) -> BenchRun:
    """Run a user's cocotb tests on the chip of a build folder, beside its firmware.

    Each test has a simulation of its own, in which Atoll's checks are on as in `simulate`. On a
    chip alone there is no firmware and no core: tests make the host's accesses.

    Args:
        on: a folder that `build` wrote, or a chip.
        bench: module of the tests, or a file ``x.py``; ``MODULE:TEST`` runs one of them.
        samples: that the firmware runs, as in `simulate`.
        accelerator: who plays the accelerators.
        firmware: that it runs; without it, a build folder gives its constants alone.
        waves: record waveforms of the only test.
        output: keep references, logs and what tests leave in this folder; it is replaced.
        junit: write the results there as JUnit XML.

    Raises:
        UsageError: E096, it is no usable build folder; E257, the bench cannot be imported or has
            no such test; E091, E092, a file or folder cannot be written; E191, waveforms of
            several tests.
        SimulationError: E080 to E083; the chip cannot be simulated.
    """
    kept = {
        "output": None if output is None else Path(output),
        "junit": None if junit is None else Path(junit),
    }
    if isinstance(on, Soc):
        alone = function_of("atoll_sim.user_bench.run_bench:run_on_chip", "run_bench")
        bare: BenchRun = alone(on._resolved, bench, **kept)
        return bare
    opened = function_of("atoll_sim.api.compiled_networks:open_folder", "run_bench")(Path(on))
    models: tuple[Compiled, ...] = opened.models

    def result(outcomes: Any) -> Run:
        return run_of(models, outcomes)

    found: BenchRun = opened.run_bench(
        bench,
        samples_for(models, samples),
        accelerator=accelerator,
        firmware=firmware,
        waves=Path(waves) if isinstance(waves, str) else waves,
        result=result,
        **kept,
    )
    return found
