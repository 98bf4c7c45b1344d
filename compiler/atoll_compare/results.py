# SPDX-License-Identifier: Apache-2.0
"""Files of results: reports, and what commands printed."""

import json
from pathlib import Path

from atoll.api.chips import is_text


def is_of_results(source: str | Path) -> bool:
    """Tell whether a path is that of a report, or of what a command printed with ``--json``."""
    suffix = "" if is_text(source) else Path(source).suffix.lower()
    return suffix in (".html", ".htm") or (suffix == ".json" and not _is_chip(Path(source)))


def _is_chip(path: Path) -> bool:
    """Tell whether a JSON file is a description, which has the version of its format."""
    try:
        return "version" in json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, RecursionError):
        return False
