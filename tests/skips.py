# SPDX-License-Identifier: Apache-2.0
"""What was skipped and why, in one line; where tools are promised, a skip is a failure.

Continuous integration installs what tests use (`.ci/packages`) and sets ``ATOLL_NO_SKIPS``: a skip
there is a test that nobody runs, unless `EXPECTED` says why.
"""

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable

import pytest

EXPECTED = {
    r"^ATOLL_FREERTOS names no kernel": "FreeRTOS's sources are in no package",
    r"^ZEPHYR_BASE names no Zephyr tree": "Zephyr's sources are in no package",
    r"^ATOLL_ETHOS_U_DRIVER names no driver": "Arm's driver is in no package",
    r"^ATOLL_IMPORT_FOLDER names no folder": "vendors' files are not ours to keep",
    r"^no network namespace can be made": "containers are seldom allowed to make any",
    r"^a folder is never read-only for the superuser": "continuous integration runs as root",
}
"""Patterns of the reasons that a machine with every tool has, and why."""

NO_SKIPS = "ATOLL_NO_SKIPS"


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str | None:
    """Return why a report was skipped, or None where it was not: an expected failure is none."""
    if not report.skipped or hasattr(report, "wasxfail"):
        return None
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")


def is_expected(reason: str) -> bool:
    """Say whether a machine with every tool skips for this reason."""
    return any(re.search(pattern, reason) for pattern in EXPECTED)


def summary(reasons: Iterable[str]) -> str:
    """Return one line that counts the reasons, the most frequent first."""
    counts = Counter(reasons)
    told = "; ".join(f"{count} {reason}" for reason, count in counts.most_common())
    return f"{counts.total()} skipped: {told}" if counts else "nothing skipped"


def _refuse(report: pytest.TestReport | pytest.CollectReport) -> None:
    reason = reason_of(report)
    if os.environ.get(NO_SKIPS) and reason is not None and not is_expected(reason):
        report.outcome = "failed"
        report.longrepr = f"skipped, where nothing may be: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Make a failure of a skip that is not expected."""
    report = yield
    _refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Make a failure of a module that is left out."""
    report = yield
    _refuse(report)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what was skipped, and why, in one line."""
    reports = terminalreporter.stats.get("skipped", ())
    terminalreporter.write_line(summary(filter(None, map(reason_of, reports))))
