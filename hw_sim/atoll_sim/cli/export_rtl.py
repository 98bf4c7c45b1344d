# SPDX-License-Identifier: Apache-2.0
"""The command `atoll export-rtl`: a chip's RTL for other tools."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.driver import names_of
from atoll.artifacts.samples import Sample, samples_of
from atoll.cli.network_files import files_by_network
from atoll.cli.options import (
    InputOption,
    JsonOption,
    PlacementOptions,
    SetOption,
    SocArgument,
    ToolchainOption,
)
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text


def export_rtl(
    soc: SocArgument,
    folder: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write; it is replaced.")
    ],
    models: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[MODEL]...", help="Networks that a bench runs on the RTL, in firmware."
        ),
    ] = None,
    samples: InputOption = None,
    *,
    placement: PlacementOptions,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Write a chip's RTL as a folder for other tools.

    The folder needs nothing of Atoll: lists of sources in order for synthesis and lint, clocks as
    SDC, a FuseSoC core file, and with a MODEL a bench that runs it and compares its outputs.
    README.md there has the commands.

    Example: atoll export-rtl lagoon model.tflite -o lagoon-rtl
    """
    if not models and placement != PlacementOptions():
        raise UsageError(
            "E090",
            "options of placement are for a MODEL, and there is none",
            remedy="name the network that the bench runs, or leave them out",
        )
    chip = atoll.load_soc(soc, overrides=overrides or ())
    made: atoll.Compilation | None = None
    batches: tuple[tuple[Sample, ...], ...] = ()
    inputs = files_by_network("--input", samples or (), names_of(models or ()))
    with show_work("compiling and planning") as progress:
        if models:
            made = compile_files(chip, models, build_options(models, placement))
            batches = samples_of(made._compiled, inputs)
        progress("writing the sources")
        found = atoll.export_rtl(chip, folder, made, samples=batches, toolchain=toolchain)
    if machine:
        print(json_text(found.to_json()), end="")
        return
    bench = f", and a bench that runs {', '.join(found.networks)}" if found.networks else ""
    log(wrap(f"wrote {folder}: {found.sources} sources of {found.top}{bench}", log_room()))
