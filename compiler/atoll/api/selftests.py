# SPDX-License-Identifier: Apache-2.0
"""What the self-test of a chip printed, judged."""

from dataclasses import asdict, field
from pathlib import Path
from typing import Any, BinaryIO

from atoll.api.beside import function_of
from atoll.api.chips import SocSource, load_soc
from atoll.api.notebook import Row, html_table
from atoll.diagnostics.columns import table_lines, wrap
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
        findings: what is wrong with the chip.
    """

    chip: str
    tests: int
    passed_tests: int
    missing: tuple[int, ...]
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
        lines.append(f"{self.chip}: {self.passed_tests} of {self.tests} tests passed")
        for each in self.findings:
            lines.append(wrap(f"{f'{each.at}: ' if each.at else ''}{each.message}", columns))
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll selftest --json`` prints."""
        return {
            "chip": self.chip,
            "tests": self.tests,
            "passed": self.passed_tests,
            "missing": list(self.missing),
            "findings": [asdict(each) for each in self.findings],
            "results": self.rows(),
        }

    def _repr_html_(self) -> str:
        title = f"{self.chip}: {self.passed_tests} of {self.tests} tests passed"
        return html_table(title, self.rows(), [each.message for each in self.findings])


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
