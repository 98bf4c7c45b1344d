# SPDX-License-Identifier: Apache-2.0
"""The option `--report` of commands: what they found, as a page."""

from pathlib import Path

import atoll
from atoll.api.reports import Subject, require_page
from atoll.cli.output import log
from atoll.diagnostics.errors import UsageError


def prepare_report(path: Path | None, trace: Path | None = None) -> None:
    """Refuse a file that could not be written, before the work whose result it takes."""
    if path:
        if trace and path.resolve() == trace.resolve():
            raise UsageError(
                "E090", "--report and --trace name one file", remedy="name a file for each"
            )
        require_page(path)


def write_report(path: Path | None, *subjects: Subject, before: Subject | None = None) -> None:
    """Write a page about what was found, if one is asked for."""
    if path:
        other = None if before is None else atoll.make_report(before)
        atoll.make_report(*subjects, before=other).write(path)
        log(f"wrote {path}")
