# SPDX-License-Identifier: Apache-2.0
"""The command `atoll operators`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption, SetOption, offered
from atoll.cli.tables import room
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.report.operators import operator_tables, supported_operators
from atoll.resolve import load_soc
from atoll.resolve.tables import as_text


def operators(
    soc: Annotated[
        Path | None,
        typer.Argument(
            metavar="SOC",
            help="SoC description (YAML), or the name of a shipped chip such as lagoon.",
            autocompletion=offered("chips"),
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
    chip = load_soc(soc, overrides or ()) if soc else None
    found = supported_operators(chip)
    if machine:
        listed = [each.as_json() for each in found]
        print(json_text({"soc": chip.name if chip else None, "operators": listed}), end="")
        return
    print(as_text(operator_tables(found, chip), room()), end="")
