"""The command `atoll new`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption
from atoll.cli.written import wrote
from atoll.description.schemas import require_schema_beside, write_schema_beside
from atoll.description.template import starting_description
from atoll.errors import UsageError
from atoll.files import write_text


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the chip: lower-case letters, digits, _.")
    ],
    path: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write; default: NAME.yaml."),
    ] = None,
    machine: JsonOption = False,
) -> None:
    """Write a commented, valid description to start from.

    Beside it goes soc.schema.json, with which editors check and complete it.

    Example: atoll new my_chip, then: atoll check my_chip.yaml
    """
    target = path or Path(f"{name}.yaml")
    text = starting_description(name)
    if target.exists():
        raise UsageError(
            "E091", f"{target} exists already", remedy="choose another name, or remove the file"
        )
    require_schema_beside(target)
    write_text(target, text)
    write_schema_beside(target)
    wrote(target, machine=machine, hint=f"; next: atoll check {target}")
