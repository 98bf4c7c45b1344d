"""Options of the command line that several commands take."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from atoll import completion
from atoll.description.build_networks import Wishes, network_requests
from atoll.networks import Known, Word, network_of, parts_of
from atoll.pipeline import BuildOptions
from atoll.together import names_of

BuildFileOption = Annotated[
    Path | None,
    typer.Option(
        "--build", metavar="FILE", help="Build options (YAML): place, pin, free, overlap, networks."
    ),
]
PlaceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--place",
        metavar="OP=DEVICE",
        help="Run an operator on this device; of several MODELs, NETWORK:OP=DEVICE.",
        autocompletion=completion.placements,
    ),
]
PinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pin",
        metavar="TENSOR=POOL[:in|out|both]",
        help="Keep a tensor in this pool where it is read, written, or both (default); "
        "of several MODELs, NETWORK:TENSOR=POOL.",
        autocompletion=completion.pins,
    ),
]
FreeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--free",
        metavar="TENSOR",
        help="Allow copies of a tensor that is pinned; of several MODELs, NETWORK:TENSOR.",
        autocompletion=completion.tensors,
    ),
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
        autocompletion=completion.chips,
    ),
]
AnyModelsArgument = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="MODEL",
        help="Quantised networks (int8 TFLite); several share one firmware.",
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
        autocompletion=completion.overrides,
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
        metavar="NAME",
        help="C compiler and linker: zig or gcc; default: the description's.",
        autocompletion=completion.toolchains,
    ),
]


def build_options(
    models: Sequence[Path],
    build_file: Path | None = None,
    place: Sequence[str] | None = None,
    pin: Sequence[str] | None = None,
    free: Sequence[str] | None = None,
    overlap: str | None = None,
    *,
    accelerators: bool = True,
) -> tuple[BuildOptions, ...]:
    """Return what the options of a command ask for each MODEL.

    Raises:
        UsageError: E090; E150, E151, an option that names an operator or a tensor does not say
            of which of several MODELs, or of one that is not there.
        DescriptionError: as `network_requests`.
        ToolchainError: E075; two MODELs have one name.
    """
    networks = names_of(models)
    operators, tensors = parts_of(models, "operator"), parts_of(models, "tensor")
    places = _by_network("--place", "operator", place or (), networks, operators)
    pins = _by_network("--pin", "tensor", pin or (), networks, tensors)
    frees = _by_network("--free", "tensor", free or (), networks, tensors)
    wishes = {
        name: Wishes(tuple(places[name]), tuple(pins[name]), tuple(frees[name]))
        for name in networks
    }
    return tuple(
        BuildOptions(accelerators=accelerators, requests=requests)
        for requests in network_requests(build_file, wishes, overlap)
    )


def _by_network(
    option: str,
    kind: Literal["operator", "tensor"],
    texts: Sequence[str],
    networks: Sequence[str],
    known: Callable[[], Known],
) -> Mapping[str, list[str]]:
    """Sort the texts of an option by network; one that is not understood goes to the first."""
    sorted_texts: dict[str, list[str]] = {name: [] for name in networks}
    for text in texts:
        name, equals, _ = text.partition("=")
        word = Word(option=option, text=text, name=name, kind=kind)
        whole = bool(equals) or option == "--free"
        found = network_of(word, networks, known) if whole else None
        network, rest = found or (networks[0], text)
        sorted_texts[network].append(rest)
    return sorted_texts
