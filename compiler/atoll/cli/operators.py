# SPDX-License-Identifier: Apache-2.0
"""The command `atoll operators`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption, SetOption, complete_with
from atoll.cli.tables import room
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text


def operators(
    soc: Annotated[
        Path | None,
        typer.Argument(
            metavar="SOC",
            help="SoC description (YAML), or the name of a shipped chip such as lagoon.",
            autocompletion=complete_with("chips"),
        ),
    ] = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """List the operators that a model may have.

    With SOC also the devices that run each, and the limits of its accelerators. What one model
    makes of them says atoll explain SOC MODEL --operators.

    Example: atoll operators lagoon
    """
    if overrides and soc is None:
        raise UsageError("E090", "--set needs a SOC", remedy="see atoll operators --help")
    chip = atoll.load_soc(soc, overrides=overrides or ()) if soc else None
    found = atoll.operators(chip)
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
