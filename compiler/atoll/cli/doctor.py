# SPDX-License-Identifier: Apache-2.0
"""The command `atoll doctor`."""

import typer

import atoll
from atoll.cli.options import JsonOption
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text


def doctor(machine: JsonOption = False) -> None:
    """Check the tools that Atoll needs.

    Each one that is missing comes with what to install.
    The status is 0 if all that is required works.
    """
    with show_work("looking for tools"):
        found = atoll.doctor()
    print(json_text(found.to_json()) if machine else found.text(), end="")
    if not found.ok:
        raise typer.Exit(1)
