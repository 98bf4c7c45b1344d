# SPDX-License-Identifier: Apache-2.0
"""The command `atoll doctor`."""

import typer

from atoll.bsp.doctor import diagnose
from atoll.cli.options import JsonOption
from atoll.diagnostics.shown import json_text, shown_lines


def doctor(machine: JsonOption = False) -> None:
    """Check the tools that Atoll needs.

    Each one that is missing comes with what to install.
    The status is 0 if all that is required works.
    """
    checks = diagnose()
    well = all(check_.ok for check_ in checks if check_.required)
    if machine:
        print(json_text({"ok": well, "checks": [check.as_json() for check in checks]}), end="")
    else:
        print(shown_lines("\n".join(map(str, checks))))
    if not well:
        raise typer.Exit(1)
