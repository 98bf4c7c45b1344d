# SPDX-License-Identifier: Apache-2.0
"""Say which files a command wrote."""

from pathlib import Path

from atoll.cli.output import log
from atoll.diagnostics.shown import json_text


def wrote(*paths: Path, machine: bool, hint: str = "") -> None:
    """Name the files to people, or as JSON to programs."""
    if machine:
        print(json_text({"wrote": list(map(str, paths))}), end="")
        return
    for path in paths:
        log(f"wrote {path}{hint}")
