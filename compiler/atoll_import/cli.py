# SPDX-License-Identifier: Apache-2.0
"""The command `atoll import`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption
from atoll.cli.output import log, log_room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text


def import_command(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="CHIP.yaml", help="File to write.")
    ],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Files that describe one chip."),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="Format of the files; default: told by each."
        ),
    ] = "",
    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="NAME",
            help="The device, of files that describe several; for Vela's such as ethos-u55-128.",
        ),
    ] = "",
    zephyr: Annotated[
        str,
        typer.Option(
            "--zephyr",
            metavar="BOARD",
            help="A board of the Zephyr tree that ZEPHYR_BASE names; FILE may be left out.",
        ),
    ] = "",
    onto: Annotated[
        str,
        typer.Option(
            "--onto",
            metavar="SOC",
            help="A chip to extend with what Vela's FILE says of its Ethos-U.",
        ),
    ] = "",
    system_config: Annotated[
        str,
        typer.Option(
            "--system-config", metavar="NAME", help="System configuration of Vela's FILE."
        ),
    ] = "",
    memory_mode: Annotated[
        str, typer.Option("--memory-mode", metavar="NAME", help="Memory mode of Vela's FILE.")
    ] = "",
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite the file that is there.")
    ] = False,
    machine: JsonOption = False,
) -> None:
    """Begin a description with what files of a chip's vendor say.

    What no file decides is 'undecided' in it: 'atoll check' names each such key until a human has
    answered. Several files are read as one chip.

    Example: atoll import vendor.pdsc chip.svd --device NAME -o chip.yaml
    """
    with show_work("reading the vendor's files"):
        found = atoll.import_files(
            files or (),
            output,
            format=form,
            device=device,
            zephyr=zephyr,
            onto=onto,
            system_config=system_config,
            memory_mode=memory_mode,
            force=force,
        )
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        log(found.text(log_room()).rstrip("\n"))
