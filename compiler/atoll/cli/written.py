# SPDX-License-Identifier: Apache-2.0
"""Say which files a command wrote."""

from pathlib import Path

import atoll
from atoll.cli.output import log
from atoll.diagnostics.shown import json_text


def log_files(
    made: atoll.WrittenFiles, *, machine: bool, folder: Path | None = None, hint: str = ""
) -> None:
    """Name files to people, or the folder that has them; or files as JSON to programs."""
    if machine:
        print(json_text(made.to_json()), end="")
        return
    for path in made.files if folder is None else (folder,):
        log(f"wrote {path}{hint}")
