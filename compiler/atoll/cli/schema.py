# SPDX-License-Identifier: Apache-2.0
"""The command `atoll schema`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption, offered
from atoll.cli.written import wrote
from atoll.report.schema_files import schema_text, write_schemas


def schema(
    which: Annotated[
        str,
        typer.Argument(
            metavar="WHICH",
            help="soc, accelerator, core or build; COMMAND-output: of its --json.",
            autocompletion=offered("schemas"),
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
        print(schema_text(which), end="")
    else:
        wrote(*write_schemas(write), machine=machine)
