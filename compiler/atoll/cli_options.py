"""Options of the command line that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

BuildFileOption = Annotated[
    Path | None,
    typer.Option("--build", metavar="FILE", help="Build options (YAML): place, pin, free."),
]
PlaceOption = Annotated[
    list[str] | None,
    typer.Option("--place", metavar="OP=DEVICE", help="Run an operator on this device."),
]
PinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pin",
        metavar="TENSOR=POOL[:in|out|both]",
        help="Keep a tensor in this pool where it is read, written, or both (default).",
    ),
]
FreeOption = Annotated[
    list[str] | None,
    typer.Option("--free", metavar="TENSOR", help="Allow copies of a tensor that is pinned."),
]
