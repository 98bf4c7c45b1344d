# SPDX-License-Identifier: Apache-2.0
"""What the self-test of a chip printed, judged."""

import io
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, BinaryIO

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.notebook import Row, html_table
from atoll.diagnostics.columns import table_lines, wrap
from atoll.diagnostics.progress import current
from atoll.protocol import USUAL_BAUD
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestFinding:
    """A fault of the chip that explains tests that failed.

    Attributes:
        message: a sentence.
        devices: that it is about.
        places: likewise, names of pools and registers.
        at: the line of the description that it is about; None if none is known.
    """

    message: str
    devices: tuple[str, ...]
    places: tuple[str, ...]
    at: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestResult:
    """A line of the log; `found` is as it is to be if it is what to `expect`.

    Attributes:
        number: of the test, 1 for the first.
        place: None if the test is about none.
    """

    number: int
    kind: str
    device: str
    place: str | None
    expect: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelftestCheck:
    """What a self-test found.

    Attributes:
        tests: how many there are.
        passed_tests: how many found what was to be expected.
        missing: numbers of the tests without a line in the log.
        lost: those of `missing` whose lines may have been printed and arrived damaged, which says
            nothing about the chip; None if lines of this log have no checks that would tell.
        findings: what is wrong with the chip.
    """

    chip: str
    tests: int
    passed_tests: int
    missing: tuple[int, ...]
    lost: tuple[int, ...] | None
    findings: tuple[SelftestFinding, ...]
    results: tuple[SelftestResult, ...] = field(repr=False)
    _cells: tuple[tuple[str, ...], ...] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Every test is there and passed."""
        return not self.findings and not self.missing

    def rows(self) -> list[Row]:
        """Return the tests of the log."""
        return [asdict(each) for each in self.results]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll selftest`` prints: devices and kinds of tests, then the findings."""
        lines: list[str] = []
        if self._cells:
            right = range(1, len(self._cells[0]))
            lines += [*table_lines(self._cells, right=right, columns=columns), ""]
        lines.append(self._summary())
        if self.lost:
            lines.append(wrap(_of_lost(self.lost), columns))
        for each in self.findings:
            lines.append(wrap(f"{f'{each.at}: ' if each.at else ''}{each.message}", columns))
        return "\n".join(lines) + "\n"

    def _summary(self) -> str:
        return f"{self.chip}: {self.passed_tests} of {self.tests} tests passed"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll selftest --json`` prints."""
        return {
            "chip": self.chip,
            "tests": self.tests,
            "passed": self.passed_tests,
            "missing": list(self.missing),
            "lost": None if self.lost is None else list(self.lost),
            "findings": [asdict(each) for each in self.findings],
            "results": self.rows(),
        }

    def _repr_html_(self) -> str:
        notes = [_of_lost(self.lost)] if self.lost else []
        told = [*notes, *(each.message for each in self.findings)]
        return html_table(self._summary(), self.rows(), told)


def _of_lost(lost: tuple[int, ...]) -> str:
    what = "the line of 1 test" if len(lost) == 1 else f"the lines of {len(lost)} tests"
    return f"{what} arrived damaged or not at all, first of test {lost[0]}: run the self-test again"


def check_selftest(log: Path | str | BinaryIO, *, soc: SocSource | None = None) -> SelftestCheck:
    """Judge what the self-test of a chip printed, among whatever else is in a log.

    Args:
        log: a file, its text of several lines, or a stream of its bytes.
        soc: the chip, or what `load_soc` takes; findings then name lines of its description.

    Raises:
        UsageError: E132, there is no self-test in the log; E133, it is another chip's.
    """
    chip = None if soc is None else load_soc(soc)._resolved
    found: SelftestCheck = function_of("atoll_selftest.api:judge", "check_selftest")(log, chip)
    return found


SILENCE = 60.0
"""Seconds without a line of the self-test after which a board is given up."""


def run_selftest(
    port: str,
    *,
    soc: SocSource | None = None,
    baud: int = USUAL_BAUD,
    silence: float = SILENCE,
) -> SelftestCheck:
    """Judge what the self-test of a board prints on a serial line, from its start to its end.

    Reset the board while this waits.

    Args:
        port: a path, such as ``"/dev/ttyUSB0"``.
        soc: as in `check_selftest`.
        baud: of the port.
        silence: seconds without a line of the self-test after which the board is given up; what
            came is judged.

    Raises:
        UsageError: E090, no simulator is installed; E132, E133, as `check_selftest`; E271, the
            port cannot be opened.
        SimulationError: E272, nothing comes, or the port went away.
    """
    chip = None if soc is None else load_soc(soc)._resolved
    open_port = function_of("atoll_sim.api.boards:open_port", "run_selftest")
    listen = function_of("atoll_selftest.api:listen", "run_selftest")
    judge = function_of("atoll_selftest.api:judge", "run_selftest")
    with open_port(port, baud) as line:
        log = listen(line, silence, current())
    found: SelftestCheck = judge(io.BytesIO(log), chip, f"'{port}'")
    return found
