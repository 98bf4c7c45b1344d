# SPDX-License-Identifier: Apache-2.0
"""`make quick` leaves out tests that always took long on this machine; every run notes how long."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from tests.effort import QUICK

LIMIT = 0.1
"""Seconds that a test may take, with its fixtures, where only quick ones run."""
RECORD = "atoll/seconds"


def seconds_of(reports: Iterable[Any]) -> dict[str, float]:
    """Return how long each test took, with its fixtures."""
    seconds: dict[str, float] = {}
    for report in reports:
        if isinstance(report, pytest.TestReport):
            seconds[report.nodeid] = seconds.get(report.nodeid, 0.0) + report.duration
    return seconds


def is_long(nodeid: str, seconds: Mapping[str, float]) -> bool:
    """Say whether a test took longer than it may; one that never ran did not."""
    return seconds.get(nodeid, 0.0) > LIMIT


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """Return what pytest keeps between runs, None where its plugin is left out."""
    return getattr(config, "cache", None)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what took long."""
    if QUICK:
        cache = _cache(config)
        known = cache.get(RECORD, {}) if cache else {}
        long = [item for item in items if is_long(item.nodeid, known)]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not is_long(item.nodeid, known)]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Note how long the tests took at least, and say that some were left out."""
    reports = [each for found in terminalreporter.stats.values() for each in found]
    if (cache := _cache(config)) and (seconds := seconds_of(reports)):
        known: dict[str, float] = cache.get(RECORD, {})
        least = {each: min(took, known.get(each, took)) for each, took in seconds.items()}
        cache.set(RECORD, {**known, **least})
    if QUICK:
        terminalreporter.write_line(
            f"tests that took more than {LIMIT} s before are left to `make test`"
        )
