# SPDX-License-Identifier: Apache-2.0
"""Options of the command line that several commands take."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from atoll.diagnostics.units import parse_duration
from atoll.plugins.loading import load
from atoll.records import dataclass


def complete_with(completer: str) -> Callable[[typer.Context, str], list[str]]:
    """Return what offers words on TAB: a function of `completion`, imported when it is asked."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        words: list[str] = load(f"atoll.cli.completion:{completer}")(context, incomplete)
        return words

    return complete


def seconds_of(text: str) -> float:
    """Read the duration that is the value of an option."""
    try:
        return parse_duration(text)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from fault


BuildFileOption = Annotated[
    Path | None,
    typer.Option(
        "--build", metavar="FILE", help="Build options (YAML): place, pin, scopes, threads, ..."
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementOptions:
    """Where operators and tensors shall be."""

    build_file: BuildFileOption = None
    place: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OP=DEVICE",
            help="Run an operator on this device; of several MODELs, NETWORK:OP=DEVICE.",
            autocompletion=complete_with("placements"),
        ),
    ] = None
    pin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TENSOR=POOL[@SIZE],...[:in|out|both]",
            help="Keep a tensor, or all that match a pattern, in the first of these pools with "
            "room where it is read, written, or both (default); of several MODELs, "
            "NETWORK:TENSOR=POOL.",
            autocompletion=complete_with("pins"),
        ),
    ] = None
    pin_role: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=POOL[@SIZE],...",
            help="Likewise all workspace, constants, inputs or outputs without a pin; of one of "
            "several MODELs, NETWORK:ROLE=POOL.",
            autocompletion=complete_with("role_pins"),
        ),
    ] = None
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TENSOR=SCOPE[:in|out|both]",
            help="Narrow where a buffer, or all that match a pattern, may lie: global.workspace, "
            "global.POOL, global.stack, DEVICE.stack, local; of several MODELs, "
            "NETWORK:TENSOR=SCOPE.",
            autocompletion=complete_with("scopes"),
        ),
    ] = None
    set_scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OP=SCOPE[:in|out|both]",
            help="Likewise what an operator, or FIRST..LAST, writes (out, default), reads, or "
            "both; of several MODELs, NETWORK:OP=SCOPE.",
            autocompletion=complete_with("regions"),
        ),
    ] = None
    free: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TENSOR",
            help="Allow copies of a tensor that is pinned; of several MODELs, NETWORK:TENSOR.",
            autocompletion=complete_with("tensors"),
        ),
    ] = None
    thread: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORE=THREAD",
            help="Run networks on the stack of this thread of a core, 'main' for the main stack; "
            "one of several MODELs, NETWORK:CORE=THREAD.",
        ),
    ] = None
    on_device: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPS=DEVICE",
            help="Run an operator, all that match a pattern, or FROM..TO on this device, or where "
            "FIELD:VALUE,... of a scope says; of several MODELs, NETWORK:OPS=DEVICE.",
            autocompletion=complete_with("placements"),
        ),
    ] = None
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPS=TARGET",
            help="Make the code of an operator, or of all that match a pattern, for this target of "
            "its core, 'own' for the core's own code; of several MODELs, NETWORK:OPS=TARGET.",
            autocompletion=complete_with("targets"),
        ),
    ] = None
    overlap: Annotated[
        Literal["none", "free", "all"] | None,
        typer.Option(
            help="Let results lie over operands: none, free (default: where it costs no time), all."
        ),
    ] = None
    spread: Annotated[
        bool | None,
        typer.Option(
            "--spread/--no-spread",
            help="Spread operators over cores of one kind; default: where it is faster.",
        ),
    ] = None
    robust: Annotated[
        bool | None,
        typer.Option(
            "--robust/--no-robust",
            help="Choose devices by the high ends of the bands of estimates; default: by the "
            "estimates.",
        ),
    ] = None


SocArgument = Annotated[
    Path,
    typer.Argument(
        metavar="SOC",
        help="SoC description (YAML), or the name of a shipped chip such as lagoon.",
        autocompletion=complete_with("chips"),
    ),
]
AnyModelsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="MODEL",
        help="Quantised networks (TFLite or ONNX); several share one firmware. FILE#SIGNATURE "
        "is one of several functions.",
    ),
]
ModelsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL",
        help="Quantised network (TFLite or ONNX); of several, one image that runs them in turn. "
        "FILE#SIGNATURE is one of several functions.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Override a value of the description; may be given several times. Quotes in KEY hold "
        "a name with dots together.",
        autocompletion=complete_with("overrides"),
    ),
]
InputOption = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="FILE",
        help="One sample or a batch (.npy; .npz for several inputs), once for each MODEL or as "
        "NETWORK=FILE; default: a seeded random one.",
    ),
]
SimulateOption = Annotated[
    bool | None,
    typer.Option(
        "--simulate/--no-simulate",
        help="Also elaborate the RTL; or only what a build needs. Default: what is quick.",
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        "--trace", metavar="FILE", help="Write what happens when for Perfetto (.pftrace)."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ReportOption = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE", help="Also draw what was found, as one page (HTML)."),
]
AcceleratorsOption = Annotated[
    bool, typer.Option(help="Use accelerators; otherwise the host runs every operator.")
]
IssOption = Annotated[
    bool,
    typer.Option(
        "--iss",
        help="Count the cores' instructions in one run on the instruction-set simulator.",
    ),
]
ToolchainOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="C compiler and linker: zig, gcc or clang; default: the description's.",
        autocompletion=complete_with("toolchains"),
    ),
]
