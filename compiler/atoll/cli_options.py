"""Options of the command line that several commands take."""

from pathlib import Path
from typing import Annotated, Literal

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

OverlapOption = Annotated[
    Literal["none", "free", "all"] | None,
    typer.Option(
        help="Let results lie over operands: none, free (default: where it costs no time), all.",
    ),
]

SocArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SOC", help="SoC description (YAML), or the name of a shipped chip: lagoon."
    ),
]
ModelArgument = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Quantised network (int8 TFLite).")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value of the description; may be given several times.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AcceleratorsOption = Annotated[
    bool, typer.Option(help="Use accelerators; otherwise the host runs every operator.")
]
ToolchainOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="C compiler and linker: zig or gcc; default: the description's."
    ),
]
