# SPDX-License-Identifier: Apache-2.0
"""The command `atoll new`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.written import require_new_soc
from atoll.cli.options import JsonOption, complete_with
from atoll.cli.written import log_files
from atoll.description.part_words import NONE, parts_of, words_of
from atoll.diagnostics.errors import UsageError
from atoll.records import dataclass

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
            autocompletion=complete_with("cores"),
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

    def prompt(self, folder: Path) -> "PartOptions":
        """Return what the user answers, words between blanks; an empty answer takes what is here.

        Raises:
            DescriptionError: E042; there is no such core.
            UsageError: E090; a memory is not understood, or nobody answers.
        """
        parts = parts_of(self.core, self.accelerator, self.dma, self.memory, folder)
        cores, accelerators, engines, memories = words_of(parts)
        try:
            return PartOptions(
                core=_answer("Cores, the host first", cores),
                accelerator=_answer("Accelerators, or none", accelerators),
                dma=[each for each in _answer("DMA engines", engines or [NONE]) if each != NONE],
                memory=_answer("Memories", memories),
            )
        except typer.Abort as end:
            remedy = "answer, or give --core, --accelerator, --dma and --memory instead of --ask"
            raise UsageError("E090", "--ask got no answer", remedy=remedy) from end


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
    target = require_new_soc(name, path)
    parts = options.prompt(target.parent) if options.ask else options
    made = atoll.new_soc(
        name,
        target,
        cores=parts.core,
        accelerators=parts.accelerator,
        engines=parts.dma,
        memories=parts.memory,
    )
    log_files(made, machine=machine, hint=f"; next: atoll check {target}")


def _new_accelerator(word: str, name: str, path: Path | None, *, machine: bool) -> None:
    if word != WORD:
        raise UsageError(
            "E099",
            f"'atoll new' makes no '{word}' called '{name}'",
            remedy=f"write 'atoll new {WORD} {name}', or 'atoll new {name}' for a chip",
        )
    target = path or Path(name)
    made = atoll.new_accelerator(name, target)
    hint = f"; next: atoll accelerator test {target / name / f'{name}.yaml'}"
    log_files(made, machine=machine, folder=target, hint=hint)


def _answer(question: str, usual: list[str]) -> list[str]:
    words: str = typer.prompt(question, default=" ".join(usual), err=True)
    return words.split()
