# SPDX-License-Identifier: Apache-2.0
"""The command `atoll selftest`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.selftests import SILENCE
from atoll.cli.options import JsonOption, SetOption, complete_with, seconds_of
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.protocol import USUAL_BAUD


def selftest(
    log: Annotated[
        Path | None,
        typer.Argument(metavar="LOG", help="What the image printed; - reads standard input."),
    ] = None,
    soc: Annotated[
        Path | None,
        typer.Option(
            metavar="SOC",
            help="The chip's description: findings name its lines.",
            autocompletion=complete_with("chips"),
        ),
    ] = None,
    serial: Annotated[
        str | None,
        typer.Option(metavar="PORT", help="Instead of LOG: listen to the board at PORT."),
    ] = None,
    baud: Annotated[
        int | None, typer.Option(metavar="N", min=1, help=f"Of PORT; default: {USUAL_BAUD}.")
    ] = None,
    silence: Annotated[
        float | None,
        typer.Option(
            parser=seconds_of,
            metavar="TIME",
            help="Give the board at PORT up after so long without a line of the self-test;"
            f" default: '{SILENCE:g}s'.",
        ),
    ] = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Judge what the self-test of a chip printed.

    The image is one of a package that 'atoll bsp --selftest' wrote. Its log may have other lines
    between its own. The status is 0 only if every test is there and passed.

    With --serial the log comes from a board, from its next reset to the last line of the self-test.

    Example: atoll selftest uart.log --soc lagoon
    """
    _refuse_in_vain(log, serial, {"--baud": baud, "--silence": silence})
    chip = atoll.load_soc(soc, overrides=overrides or ()) if soc else None
    if serial:
        with show_work("waiting for the self-test"):
            found = atoll.run_selftest(
                serial, soc=chip, baud=baud or USUAL_BAUD, silence=silence or SILENCE
            )
    elif log is None:
        raise UsageError("E090", "no LOG and no --serial", remedy="see atoll selftest --help")
    else:
        found = atoll.check_selftest(sys.stdin.buffer if str(log) == "-" else log, soc=chip)
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
    if not found.passed:
        raise typer.Exit(1)


def _refuse_in_vain(
    log: Path | None, serial: str | None, of_ports: Mapping[str, float | None]
) -> None:
    """Refuse a log and a port together, and options of ports without one.

    Raises:
        UsageError: E191.
    """
    if log and serial:
        remedy = "leave LOG or --serial out"
        raise UsageError("E191", f"'{log}' has no effect with --serial", remedy=remedy)
    for option, value in of_ports.items():
        if value and not serial:
            message = f"{option} has no effect without --serial"
            raise UsageError("E191", message, remedy=f"leave {option} out")
