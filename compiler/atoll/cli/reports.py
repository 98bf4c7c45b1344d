# SPDX-License-Identifier: Apache-2.0
"""The option `--report` of commands: what they found, as a page."""

from pathlib import Path
from typing import TYPE_CHECKING

import atoll
from atoll.cli.output import log
from atoll.diagnostics.errors import UsageError

if TYPE_CHECKING:
    from atoll.api.reports import Subject


def prepare_report(path: Path | None, trace: Path | None = None) -> None:
    """Refuse a file that could not be written, before the work whose result it takes."""
    if path:
        from atoll.api.reports import require_page  # knows every result

        if trace and path.resolve() == trace.resolve():
            raise UsageError(
                "E090", "--report and --trace name one file", remedy="name a file for each"
            )
        require_page(path)


def write_report(path: Path | None, *subjects: "Subject", before: "Subject | None" = None) -> None:
    """Write a page about what was found, if one is asked for."""
    if path:
        other = None if before is None else atoll.make_report(before)
        atoll.make_report(*subjects, before=other).write(path)
        log(f"wrote {path}")
