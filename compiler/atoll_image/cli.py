# SPDX-License-Identifier: Apache-2.0
"""The command `atoll check-image`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.options import JsonOption, SetOption, SocArgument
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text

_Image = Annotated[
    Path | None,
    typer.Argument(
        metavar="IMAGE",
        help="ELF file that a linker wrote for a core; with --stack-only, the only word.",
    ),
]
_Core = Annotated[
    str | None, typer.Option(metavar="NAME", help="Whose image it is; default: the host's.")
]
_StackOnly = Annotated[
    bool, typer.Option("--stack-only", help="Bound the stack of IMAGE, without a chip.")
]
_Entry = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Bound what this function takes, in the place of the whole image."
    ),
]
_Su = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A file of -fstack-usage, or a folder of them."),
]
_Calls = Annotated[
    list[str] | None,
    typer.Option(metavar="CALLER=NAME,...", help="What a function may call through its pointers."),
]
_Nested = Annotated[
    bool,
    typer.Option("--nested", help="Count interrupts on top of each other, one per priority."),
]
_Priority = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HANDLER=LEVEL", help="Priority of a handler, for --nested; others differ."
    ),
]
_AllowUnbounded = Annotated[
    bool,
    typer.Option("--allow-unbounded", help="Let a stack pass that nothing bounds."),
]


def check_image(
    soc: SocArgument,
    image: _Image = None,
    core: _Core = None,
    stack_only: _StackOnly = False,
    entry: _Entry = None,
    su: _Su = None,
    calls: _Calls = None,
    nested: _Nested = False,
    priority: _Priority = None,
    allow_unbounded: _AllowUnbounded = False,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Hold a linked image against a chip, or bound its stack.

    Shows what the image takes of each region. Sections, symbols, vectors, stacks, the protection
    table and what it was compiled for are compared with the chip; each disagreement is an error.

    Example: atoll check-image lagoon build/zig/firmware.elf
    """
    questions = atoll.StackQuestions(
        entries=entry or (),
        usage=su or (),
        calls={name: words.split(",") for name, words in _pairs("--calls", calls or ())},
        nested=nested or bool(priority),
        priorities=dict(_levels(priority or ())),
    )
    if stack_only:
        _nothing_but_the_image(soc, image, core, overrides)
        chip, image = None, soc
    elif image is None:
        remedy = "give a chip and an image, or --stack-only and an image"
        what = "there is no image to hold against the chip"
        raise atoll.UsageError("E184", what, remedy=remedy)
    else:
        chip = atoll.load_soc(soc, overrides=overrides or ())
    with show_work("checking the image"):
        found = atoll.check_image(
            chip, image, core=core, allow_unbounded=allow_unbounded, **questions
        )
    print(json_text(found.to_json()) if machine else found.text(room()), end="")
    if found.faults and not machine:
        raise atoll.DescriptionError.all(found.faults)
    if found.faults:
        raise typer.Exit(1)


def _nothing_but_the_image(
    first: Path, second: Path | None, core: str | None, overrides: Sequence[str] | None
) -> None:
    """Refuse what --stack-only would not read.

    Raises:
        UsageError: E191.
    """
    unread = [f"'{first}'"] if second is not None else []
    unread += ["--core"] if core is not None else []
    unread += ["--set"] if overrides else []
    if unread:
        message = f"--stack-only reads an image alone, and not {', '.join(unread)}"
        remedy = f"write 'atoll check-image --stack-only {second or first}', or leave it out"
        raise atoll.UsageError("E191", message, remedy=remedy)


def _pairs(option: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            message = f"{option} '{word}' is no pair of a function and what belongs to it"
            raise atoll.UsageError("E184", message, remedy=f"write {option} NAME=...")
        yield name, value


def _levels(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    for name, level in _pairs("--priority", words):
        if not level.lstrip("-").isdecimal():
            message = f"the priority '{level}' of '{name}' is not a number"
            raise atoll.UsageError(
                "E184", message, remedy=f"write --priority {name}=3, or another one"
            )
        yield name, int(level)
