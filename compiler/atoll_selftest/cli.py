# SPDX-License-Identifier: Apache-2.0
"""The command `atoll selftest`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption, SetOption, complete_with
from atoll.cli.tables import room
from atoll.diagnostics.shown import json_text


def selftest(
    log: Annotated[
        Path,
        typer.Argument(metavar="LOG", help="What the image printed; - reads standard input."),
    ],
    soc: Annotated[
        Path | None,
        typer.Option(
            metavar="SOC",
            help="The chip's description: findings name its lines.",
            autocompletion=complete_with("chips"),
        ),
    ] = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Judge what the self-test of a chip printed.

    The image is one of a package that 'atoll bsp --selftest' wrote. Its log may have other lines
    between its own. The status is 0 only if every test is there and passed.

    Example: atoll selftest uart.log --soc lagoon
    """
    chip = atoll.load_soc(soc, overrides=overrides or ()) if soc else None
    found = atoll.check_selftest(sys.stdin.buffer if str(log) == "-" else log, soc=chip)
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
    if not found.passed:
        raise typer.Exit(1)
