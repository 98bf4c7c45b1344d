# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.make_report`."""

from collections.abc import Mapping, Sequence
from typing import Any

from atoll.api.reports import Subject
from atoll_report.collect import collect
from atoll_report.page import page


def documents_of(subjects: Sequence[Subject], try_seconds: float) -> Mapping[str, Any]:
    """Return all that is known of the subjects, of the shape of ``atoll report --json``."""
    return collect(subjects, try_seconds)


def html_of(documents: Mapping[str, Any]) -> str:
    """Return the page that shows documents."""
    return page(documents)
