# SPDX-License-Identifier: Apache-2.0
"""The command `atoll opt`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import BuildFileOption, JsonOption, SetOption, complete_with
from atoll.cli.tables import room
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text


def opt(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            help="Text of a graph or a loop program, '-' for standard input; or a network.",
        ),
    ] = None,
    passes: Annotated[
        list[str] | None,
        typer.Option(
            "--pass",
            metavar="NAME[:KEY=VALUE,...]",
            help="Run this pass; may be given several times, for one after the other.",
            autocompletion=complete_with("passes"),
        ),
    ] = None,
    soc: Annotated[
        Path | None,
        typer.Option(
            "--soc",
            metavar="SOC",
            help="The chip, for passes that need one.",
            autocompletion=complete_with("chips"),
        ),
    ] = None,
    overrides: SetOption = None,
    build_file: BuildFileOption = None,
    *,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Verify FILE and the result of each pass.")
    ] = True,
    list_passes: Annotated[
        bool, typer.Option("--list", help="List the passes and their options.")
    ] = False,
    machine: JsonOption = False,
) -> None:
    """Run single passes of the compiler on text.

    It prints the result as text. That holds all that a graph or a loop program is, bytes of
    constants included, so one run reads what another has printed. Without --pass it prints what
    FILE holds, a network as a graph.

    Example: atoll opt model.tflite --pass fuse-activations --pass remove-dead-code
    """
    if list_passes:
        known = atoll.passes()
        print(json_text(known.to_json()) if machine else known.text(room()), end="")
        return
    if file is None:
        remedy = "name a file, '-' for standard input, or use --list"
        raise UsageError("E090", "there is no FILE", remedy=remedy)
    chip = atoll.load_soc(soc, overrides=overrides or ()) if soc else None
    found = atoll.run_passes(file, passes or (), soc=chip, build=build_file, verify=verify)
    print(json_text(found.to_json()) if machine else found.text(), end="")
