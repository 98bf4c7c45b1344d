"""Options of the command line that several commands take."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from atoll.description.build import load_requests
from atoll.errors import UsageError
from atoll.pipeline import BuildOptions

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
        metavar="SOC",
        help="SoC description (YAML), or the name of a shipped chip: lagoon, atoll2, twin.",
    ),
]
ModelsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL",
        help="Quantised network (int8 TFLite); of several, one image that runs them in turn.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value of the description; may be given several times.",
    ),
]
SimulateOption = Annotated[
    bool | None,
    typer.Option(
        "--simulate/--no-simulate",
        help="Also elaborate the RTL; or only what a build needs. Default: what is quick.",
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


def build_options(
    models: Sequence[Path],
    build_file: Path | None,
    place: Sequence[str] | None,
    pin: Sequence[str] | None,
    free: Sequence[str] | None,
    overlap: str | None,
    *,
    accelerators: bool,
) -> BuildOptions:
    """Return what the options of a command ask for.

    Raises:
        UsageError: E090; there are several models, and an option names operators or tensors.
    """
    asked = {"--build": build_file, "--place": place, "--pin": pin, "--free": free}
    given = ", ".join(option for option, value in asked.items() if value)
    if given and len(models) > 1:
        raise UsageError(
            "E090",
            f"{given}: names of operators and tensors belong to one MODEL, and there are "
            f"{len(models)}",
            remedy="give one MODEL, or leave the option out",
        )
    requests = load_requests(build_file, place or (), pin or (), free or (), overlap)
    return BuildOptions(accelerators=accelerators, requests=requests)
