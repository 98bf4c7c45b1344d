# SPDX-License-Identifier: Apache-2.0
"""The command `atoll schema`."""

import json
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption, complete_with
from atoll.cli.written import log_files


def schema(
    which: Annotated[
        str,
        typer.Argument(
            metavar="WHICH",
            help="soc, accelerator, core or build; COMMAND-output: of its --json.",
            autocompletion=complete_with("schemas"),
        ),
    ] = "soc",
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all schemas into DIR instead.")
    ] = None,
    machine: JsonOption = False,
) -> None:
    """Print the JSON Schema of a file or an output.

    Editors check and complete descriptions with it.

    Example: atoll schema accelerator > accelerator.schema.json
    """
    if write is None:
        print(json.dumps(atoll.schema(which), indent=2))
    else:
        log_files(atoll.write_schemas(write), machine=machine)
