"""The command `atoll check-image`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption, SetOption, SocArgument
from atoll.cli.tables import room
from atoll.description.faults import nearest
from atoll.errors import DescriptionError, Fault, UsageError
from atoll.image.check import disagreements
from atoll.image.elf import read_image
from atoll.image.stacks import stack_of
from atoll.image.usage import usage
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.shown import json_text


def check_image(
    soc: SocArgument,
    image: Annotated[
        Path, typer.Argument(metavar="IMAGE", help="ELF file that a linker wrote for a core.")
    ],
    core: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose image it is; default: the host's.")
    ] = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Hold a linked image against a chip, whoever linked it.

    Shows what the image takes of each region. Sections, symbols, vectors, stacks, the protection
    table and what it was compiled for are compared with the chip; each disagreement is an error.

    Example: atoll check-image lagoon build/zig/firmware.elf
    """
    resolved = load_soc(soc, overrides or ())
    name = _core(resolved, core)
    found = read_image(image)
    faults = disagreements(resolved, name, found)
    stack, exceeded = (None, ()) if faults else stack_of(resolved, name, image, found)
    faults = (*faults, *exceeded)
    chart = usage(resolved, name, found, stack)
    if machine:
        disagreeing = [_as_data(fault) for fault in faults]
        words = {"soc": resolved.name, "core": name, "image": str(image)}
        print(json_text({**words, "usage": chart.as_data(), "disagreements": disagreeing}), end="")
        if faults:
            raise typer.Exit(1)
        return
    print(chart.text(room()))
    if faults:
        raise DescriptionError.all(faults)
    print(f"\n{image}: agrees with {resolved.name}")


def _core(soc: ResolvedSoc, asked: str | None) -> str:
    names = tuple(core.name for core in soc.cpus)
    if asked is not None and asked not in names:
        message = f"'{soc.name}' has no core '{asked}'"
        raise UsageError("E142", message, remedy=nearest(asked, names))
    return asked or soc.host


def _as_data(fault: Fault) -> dict[str, object]:
    return {"message": fault.message, "at": str(fault.at) if fault.at else None}
