# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.make_report`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from atoll.api.differences import Change
from atoll.api.reports import Subject
from atoll.diagnostics.errors import UsageError
from atoll_report.collect import collect
from atoll_report.difference import changes_between
from atoll_report.node import Node
from atoll_report.page import page


def documents_of(subjects: Sequence[Subject], try_seconds: float) -> Mapping[str, Any]:
    """Return all that is known of the subjects, of the shape of ``atoll report --json``."""
    return collect(subjects, try_seconds)


def html_of(documents: Mapping[str, Any]) -> str:
    """Return the page that shows documents."""
    return page(documents)


def changes_of(before: Path, after: Path) -> tuple[Change, ...]:
    """Return what differs between two files of results: reports, or what commands printed.

    Raises:
        UsageError: as `documents_of`; E225, they have nothing in common.
    """
    found = changes_between(*(Node(collect([each], 0)) for each in (before, after)))
    if found is None:
        raise UsageError(
            "E225",
            f"'{before}' and '{after}' have nothing that can be compared",
            remedy="give two reports, or what atoll plan, estimate, explain or run printed of each",
        )
    return found
