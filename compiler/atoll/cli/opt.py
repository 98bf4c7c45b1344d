# SPDX-License-Identifier: Apache-2.0
"""The command `atoll opt`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import BuildFileOption, JsonOption, SetOption, offered
from atoll.cli.tables import room
from atoll.description.build import Words
from atoll.description.build_networks import network_requests
from atoll.diagnostics.columns import wrapped
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.ir.graph import Graph
from atoll.opt.passes import PASSES, requested
from atoll.opt.read_program import read_program
from atoll.opt.run import require_chip, run_passes
from atoll.opt.text_pass import Chip, Kind, TextPass
from atoll.resolve import load_soc


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
            autocompletion=offered("passes"),
        ),
    ] = None,
    soc: Annotated[
        Path | None,
        typer.Option(
            "--soc",
            metavar="SOC",
            help="The chip, for passes that need one.",
            autocompletion=offered("chips"),
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
        _print_passes(machine=machine)
        return
    if file is None:
        remedy = "name a file, '-' for standard input, or use --list"
        raise UsageError("E090", "there is no FILE", remedy=remedy)
    chosen = [requested(each, chip=soc is not None) for each in passes or ()]
    chip = load_soc(soc, overrides or ()) if soc else None
    program = read_program(file, verified=verify)
    if chip:
        require_chip(program, chip)
    (asked,) = network_requests(build_file, {program.name: Words()})
    result = run_passes(program, chosen, chip, asked, verified=verify)
    if machine:
        kind = Kind.GRAPH if isinstance(result, Graph) else Kind.MODULE
        names = [each.each.name for each in chosen]
        print(json_text({"kind": str(kind), "passes": names, "text": str(result)}), end="")
    else:
        print(result, end="")


def _print_passes(*, machine: bool) -> None:
    if machine:
        print(json_text({"passes": [each.as_json() for each in PASSES]}), end="")
        return
    widest = max(len(each.name) for each in PASSES)
    for each in PASSES:
        line = f"{each.name:{widest}}  {_shape(each)}  {each.summary}"
        line += f" (cannot run on text: it needs {each.lacks})" if each.lacks else ""
        print(wrapped(line, room()))
        for option in each.options:
            unsaid = option.default in (None, ())
            usual = "" if unsaid else f" (default {_shown(option.default)})"
            print(wrapped(f"{'':{widest}}  {option.name}: {option.help}{usual}", room()))


def _shape(each: TextPass) -> str:
    """Return what a pass takes and makes, and whether it needs a chip."""
    chip = {Chip.NONE: "", Chip.OPTIONAL: "[--soc]", Chip.NEEDED: "--soc"}[each.chip]
    return f"{f'{each.takes} -> {each.makes}':16}  {chip:7}"


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
