# SPDX-License-Identifier: Apache-2.0
"""The command `atoll new`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.new_accelerator import write_skeleton
from atoll.cli.new_parts import asked, parts_of
from atoll.cli.options import JsonOption, offered
from atoll.cli.written import wrote
from atoll.description.json_schemas import require_schema_beside, write_schema_beside
from atoll.description.template import USUAL, Parts, starting_description
from atoll.diagnostics.errors import AtollError, UsageError
from atoll.resolve import load_soc
from atoll.utils.files import write_text
from atoll.utils.scratch import temporary_folder

WORD = "accelerator"
"""What 'atoll new' makes the package of, if another name follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOptions:
    """What the chip starts with; what no option names is as usual."""

    core: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CORE[:ISA]",
            help="A core such as ibex or cortex_m33:armv8-m.main; the first one is the host.",
            autocompletion=offered("cores"),
        ),
    ] = None
    accelerator: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An accelerator: an installed one such as reef, or the path of its YAML; or none.",
        ),
    ] = None
    dma: Annotated[
        list[str] | None,
        typer.Option(metavar="ENGINE", help="A DMA engine such as ripple."),
    ] = None
    memory: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=[KIND:]SIZE[@ORIGIN]",
            help="A memory such as flash=rom:2MiB or sram=256KiB@0x2000_0000.",
        ),
    ] = None
    ask: Annotated[bool, typer.Option("--ask", help="Ask for each of these.")] = False

    def parts(self, folder: Path) -> Parts:
        """Return the parts; paths are relative to `folder`."""
        given = parts_of(self.core, self.accelerator, self.dma, self.memory, folder)
        return asked(given, folder) if self.ask else given


def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the chip: lower-case letters, digits, _.")
    ],
    called: Annotated[
        str | None,
        typer.Argument(
            metavar="[ACCELERATOR]", help="Name of the accelerator, after the word 'accelerator'."
        ),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="File or folder to write; default: by the name."
        ),
    ] = None,
    *,
    options: PartOptions,
    machine: JsonOption = False,
) -> None:
    """Write a commented, valid description to start from.

    Without options: one core, one accelerator, a ROM and a RAM. Each option may be given several
    times. Beside the file goes soc.schema.json, with which editors check and complete it.
    'atoll new accelerator NAME' writes the package of an accelerator instead: description, model,
    RTL, a chip and tests, which pass at once.

    Example: atoll new my_chip --core ibex --accelerator reef --memory sram=512KiB
    """
    if called is not None:
        if options != PartOptions():
            message = "the package of an accelerator is made of no cores, memories or other parts"
            remedy = f"write 'atoll new {name} {called}' without them"
            raise UsageError("E191", message, remedy=remedy)
        _new_accelerator(name, called, path, machine=machine)
        return
    target = path or Path(f"{name}.yaml")
    starting_description(name)
    if target.exists():
        raise UsageError(
            "E091", f"{target} exists already", remedy="choose another name, or remove the file"
        )
    parts = options.parts(target.parent)
    text = starting_description(name, parts)
    _try(target, text, parts)
    require_schema_beside(target)
    write_text(target, text)
    write_schema_beside(target)
    wrote(target, machine=machine, hint=f"; next: atoll check {target}")


def _new_accelerator(word: str, name: str, path: Path | None, *, machine: bool) -> None:
    if word != WORD:
        raise UsageError(
            "E099",
            f"'atoll new' makes no '{word}' called '{name}'",
            remedy=f"write 'atoll new {WORD} {name}', or 'atoll new {name}' for a chip",
        )
    target = path or Path(name)
    files = write_skeleton(name, target)
    described = target / name / f"{name}.yaml"
    if machine:
        wrote(*files, machine=True)
    else:
        wrote(target, machine=False, hint=f"; next: atoll accelerator test {described}")


def _try(target: Path, text: str, parts: Parts) -> None:
    """Refuse parts that make no chip.

    Raises:
        UsageError: E145; with what keeps them from being one.
    """
    if parts == USUAL:
        return
    with temporary_folder() as folder:
        trial = folder / f"{target.stem}.yaml"
        trial.write_text(text, encoding="utf-8")
        try:
            load_soc(trial)
        except AtollError as error:
            fault = error.faults[0]
            raise UsageError(
                "E145",
                f"these parts make no chip: {fault.message}",
                remedy=f"choose others; of the file: {fault.remedy}",
            ) from error
