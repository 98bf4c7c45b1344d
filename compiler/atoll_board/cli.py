# SPDX-License-Identifier: Apache-2.0
"""The command `atoll bsp`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.artifacts.samples import samples_of
from atoll.cli.network_files import files_by_network
from atoll.cli.options import (
    AcceleratorsOption,
    AnyModelsArgument,
    InputOption,
    JsonOption,
    PlacementOptions,
    SetOption,
    SocArgument,
)
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, compile_files, log_notes
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.shown import json_text
from atoll_board.api import parse_uart, require_emitters, write_board

OnlyOption = Annotated[
    str,
    typer.Option("--only", metavar="NAMES", help="Emitters to run, with commas; default: all."),
]


def bsp_command(
    soc: SocArgument,
    models: AnyModelsArgument = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the package.")
    ] = Path("bsp"),
    samples: InputOption = None,
    overrides: SetOption = None,
    *,
    placement: PlacementOptions,
    accelerators: AcceleratorsOption = True,
    only: OnlyOption = "",
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if the files are not the chip's.")
    ] = False,
    selftest: Annotated[
        bool, typer.Option("--selftest", help="Add a self-test of the chip: images and sources.")
    ] = False,
    serial: Annotated[
        str | None,
        typer.Option(
            "--serial",
            metavar="UART@ADDRESS",
            help="Add an image that serves `atoll run-image --serial`: over ns16550 or cmsdk.",
        ),
    ] = None,
    machine: JsonOption = False,
) -> None:
    """Write a board support package for a firmware team.

    Generated files say so, and are made again by the next run. Those of app/ and CMakeLists.txt
    are yours: they are made once and never written again.

    Example: atoll bsp lagoon model.tflite -o bsp, then: cmake --preset zig -S bsp
    """
    chip = atoll.load_soc(soc, overrides=overrides or ())
    asked = tuple(filter(None, only.split(",")))
    require_emitters(asked)
    if serial is not None:
        parse_uart(serial)
    with show_work("making the package") as progress:
        made: tuple[atoll.CompiledNetwork, ...] = ()
        if models:
            progress("compiling and planning")
            options = build_options(models, placement, accelerators=accelerators)
            made = compile_files(chip, models, options).networks
        log_notes(made, linked=False)
        networks = [each.name for each in made]
        compiled = [each._compiled for each in made]
        found = write_board(
            chip._resolved,
            compiled,
            samples_of(compiled, files_by_network("--input", samples or (), networks)),
            output,
            only=asked,
            selftest=selftest,
            serial=serial,
            check=check,
        )
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        log(wrap(f"{output}: {found.summary()}", log_room()))
        for name in found.undriven:
            what = f"note: nothing says how '{name}' is driven: its driver is missing (README.md)"
            log(wrap(what, log_room()))
