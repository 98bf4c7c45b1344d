"""Instances of cores: what a chip may ask of each, and what all of a kind have in common."""

from collections.abc import Iterator
from pathlib import Path

from atoll.description.core import LOCAL_SIZE, Core, Interrupts
from atoll.description.cores import CoreDescription
from atoll.description.schema import Cpu
from atoll.description.vocabulary import ISA, ISAS
from atoll.errors import SourceLoc
from atoll.resolve.draft import Draft
from atoll.resolve.mailbox import LINE
from atoll.resolve.soc import CoreSpec


def check_core(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note an instruction set or a mailbox that a core cannot have."""
    description = draft.description.cores.get(name)
    core = description.model if description else None
    if not draft.knows("devices", name, "isa"):
        pass
    elif not ISA.fullmatch(cpu.isa):
        draft.faults.add(
            "E040",
            f"no back end generates code for '{cpu.isa}', the instruction set of '{name}'",
            at=draft.where.at("devices", name, "isa"),
            remedy=f"use one of {', '.join(core.isas if core else ISAS)}",
        )
    elif core and cpu.isa not in core.isas:
        draft.faults.add(
            "E040",
            f"core '{core.core}' of '{name}' cannot run '{cpu.isa}'",
            at=draft.where.at("devices", name, "isa"),
            remedy=f"use one of {', '.join(core.isas)}",
        )
    if core and cpu.mailbox is not None and LINE not in lines_of(core.interrupts):
        draft.faults.add(
            "E044",
            f"core '{core.core}' of '{name}' has no interrupt line {LINE} for its mailbox",
            at=draft.where.at("devices", name, "mailbox"),
            remedy="name another core, or let the host alone be of this kind",
        )


def lines_of(interrupts: Interrupts) -> range:
    """Return the interrupt lines that devices may use."""
    return range(interrupts.first, interrupts.last + 1)


def spec_of(description: CoreDescription) -> CoreSpec:
    """Return what all instances of a core have in common."""
    model, beside = description.model, description.path.parent
    return CoreSpec(
        name=model.core,
        isas=model.isas,
        first_line=model.interrupts.first,
        last_line=model.interrupts.last,
        bus_error_line=model.interrupts.bus_error,
        controller=model.interrupts.controller,
        cycles={str(name): cycles for name, cycles in model.cycles.items()},
        reset_offset=model.reset.offset,
        code_alignment=model.reset.alignment,
        local=model.local,
        traps=model.bus_errors == "traps",
        startup=shipped_or_beside(model.startup, beside),
        asleep=model.asleep,
        rtl_module=model.rtl.module,
        rtl_packages=model.rtl.packages,
        rtl_sources=tuple(shipped_or_beside(word, beside) for word in model.rtl.sources),
        rtl_parameters=model.rtl.parameters,
        waves=model.rtl.waves,
        places=dict(_places(description)),
    )


def local_of(core: Core | CoreSpec) -> range:
    """Return the addresses that a core keeps to itself."""
    return range(0) if core.local is None else range(core.local, core.local + LOCAL_SIZE)


def shipped_or_beside(word: str, folder: Path) -> str:
    """Return a file as later stages look for it: with a '/' it is relative to `folder`."""
    return str((folder / word).resolve()) if "/" in word else word


def _places(description: CoreDescription) -> Iterator[tuple[str, SourceLoc]]:
    sources = range(len(description.model.rtl.sources))
    keys = [("startup",), ("rtl", "module")]
    keys += [("rtl", "sources", str(index)) for index in sources]
    keys += [("rtl", "packages", name) for name in description.model.rtl.packages]
    for key in keys:
        if at := description.where.at(*key):
            yield ".".join(key), at
