# SPDX-License-Identifier: Apache-2.0
"""The command `atoll check-image`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.options import JsonOption, SetOption, SocArgument
from atoll.cli.tables import room
from atoll.description.faults import nearest
from atoll.description.identifiers import identifier
from atoll.diagnostics.errors import DescriptionError, Fault, UsageError
from atoll.diagnostics.shown import json_text
from atoll.isa.instruction_set import Family
from atoll.resolve import load_soc
from atoll.resolve.memory_views import as_seen_by, core_as_it_sees
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_image.check import disagreements
from atoll_image.convention import convention_faults
from atoll_image.elf import ElfImage, read_image
from atoll_image.provided import not_known
from atoll_image.stacks import NOT_BOUNDED, Questions, StackUse, limits, stack_of, thread_of
from atoll_image.usage import usage

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
    questions = Questions(
        entries=entry or (),
        usage=su or (),
        calls={name: words.split(",") for name, words in _pairs("--calls", calls or ())},
        nested=nested or bool(priority),
        priorities=dict(_levels(priority or ())),
    )
    if stack_only:
        _nothing_but_the_image(soc, image, core, overrides)
        _stack_only(soc, questions, machine, allow_unbounded)
        return
    if image is None:
        remedy = "give a chip and an image, or --stack-only and an image"
        raise UsageError("E184", "there is no image to hold against the chip", remedy=remedy)
    resolved = load_soc(soc, overrides or ())
    _held(resolved, _core(resolved, core), image, questions, machine, allow_unbounded)


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
        raise UsageError("E191", message, remedy=remedy)


def _held(
    resolved: ResolvedSoc,
    name: str,
    image: Path,
    questions: Questions,
    machine: bool,
    allow_unbounded: bool,
) -> None:
    found = read_image(image)
    faults = disagreements(resolved, name, found)
    use = _stack(resolved, name, image, found, questions)
    stacks: dict[str, int | None] = {}
    if use is not None:
        exceeded = (*limits(resolved, name, use), *_at(tuple(use.small()), resolved, name))
        unbounded = () if allow_unbounded else tuple(use.unbounded())
        faults = (*faults, *exceeded, *_at(unbounded, resolved, name))
        stacks |= _stacks(resolved, name, use)
    host = name == resolved.host
    unknown = tuple(not_known(as_seen_by(resolved, name), found)) if host else ()
    unrecorded = any(each.startswith("parameters") for each in unknown)
    chart = usage(resolved, name, found, stacks)
    if machine:
        disagreeing = [_as_data(fault) for fault in faults]
        words: dict[str, object] = {"soc": resolved.name, "core": name, "image": str(image)}
        words |= {"usage": chart.as_data(), **_bounds(use), "disagreements": disagreeing}
        words |= {"parameters_known": not unrecorded, "not_known": list(unknown)}
        print(json_text(words), end="")
        if faults:
            raise typer.Exit(1)
        return
    print(chart.text(room()))
    if faults:
        raise DescriptionError.all(faults)
    rest = f"; its stack is {NOT_BOUNDED}" if use is not None and use.bytes is None else ""
    if unknown:
        agrees = f"not known to agree with {resolved.name}: {'; '.join(unknown)}"
    else:
        agrees = f"agrees with {resolved.name}"
    print(f"\n{image}: {agrees}{rest}")


def _stack_only(image: Path, questions: Questions, machine: bool, allow: bool) -> None:
    use = stack_of(image, read_image(image), questions)
    faults = (*use.small(planned=True), *(() if allow else use.unbounded()))
    if machine:
        disagreeing = [_as_data(fault) for fault in faults]
        words = {"image": str(image), **_bounds(use), "disagreements": disagreeing}
        print(json_text(words), end="")
        if faults:
            raise typer.Exit(1)
        return
    print(use.table().text(room()))
    print()
    print(f"program: {_bytes(use.entry_bytes)}")
    if use.roots.unknown:
        print(f"interrupts: not known, {use.roots.unknown}")
    else:
        print(f"interrupts: {_bytes(use.interrupt_bytes)}")
        print(f"together: {_bytes(use.bytes)}")
    if faults:
        raise UsageError.all(faults)


def _stack(
    soc: ResolvedSoc, name: str, path: Path, image: ElfImage, questions: Questions
) -> StackUse | None:
    """Return what the image takes of its stack, None if the core cannot run it."""
    core = soc.device(name)
    assert isinstance(core, Cpu)
    if any(convention_faults(image, core)):
        return None
    thumb = core.instructions.family is Family.THUMB
    vectors = core_as_it_sees(soc, core).code.origin if thumb else None
    return stack_of(path, image, questions, vectors)


def _stacks(soc: ResolvedSoc, name: str, use: StackUse) -> Mapping[str, int | None]:
    """Return what the image may use of the core's stacks; interrupts are kept on each of them."""
    core = soc.device(name)
    assert isinstance(core, Cpu)
    main = use.entry_bytes
    if use.interrupt_bytes is None:
        main = None
    found = {core.stack.name: None if main is None else main + core.interrupt_reserve}
    for top, depth in use.works:
        thread = thread_of(core_as_it_sees(soc, core), top)
        if thread and depth.causes:
            found[core.stack_of(thread).name] = None
        elif thread:
            stack = core.stack_of(thread).name
            used = depth.bound.bytes + core.interrupt_reserve
            found[stack] = max(used, found.get(stack) or 0)
    return found


def _bounds(use: StackUse | None) -> dict[str, object]:
    if use is None:
        unknown = dict.fromkeys(("stack_bytes", "entry_bytes", "interrupt_bytes"))
        return {**unknown, "stack": [], "other_stacks": []}
    return {
        "stack_bytes": use.bytes,
        "entry_bytes": use.entry_bytes,
        "interrupt_bytes": use.interrupt_bytes,
        "stack": use.table().as_data(),
        "other_stacks": [each.as_data() for each in use.others()],
    }


def _bytes(size: int | None) -> str:
    return NOT_BOUNDED if size is None else f"{size:,} B"


def _at(faults: Sequence[Fault], soc: ResolvedSoc, name: str) -> Iterator[Fault]:
    return (replace(each, at=soc.device(name).at) for each in faults)


def _pairs(option: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if not (name and equals and value):
            message = f"{option} '{word}' is no pair of a function and what belongs to it"
            raise UsageError("E184", message, remedy=f"write {option} NAME=...")
        yield name, value


def _levels(words: Sequence[str]) -> Iterator[tuple[str, int]]:
    for name, level in _pairs("--priority", words):
        if not level.lstrip("-").isdecimal():
            message = f"the priority '{level}' of '{name}' is not a number"
            raise UsageError("E184", message, remedy=f"write --priority {name}=3, or another one")
        yield name, int(level)


def _core(soc: ResolvedSoc, asked: str | None) -> str:
    names = tuple(core.name for core in soc.cpus)
    if asked is not None and identifier(asked) not in names:
        message = f"'{soc.name}' has no core '{asked}'"
        raise UsageError("E142", message, remedy=nearest(asked, names))
    return identifier(asked) if asked else soc.host


def _as_data(fault: Fault) -> dict[str, object]:
    return {"message": fault.message, "at": str(fault.at) if fault.at else None}
