# SPDX-License-Identifier: Apache-2.0
"""The parts of a chip to start from, as words of a command line or of a caller."""

import re
from collections.abc import Sequence
from pathlib import Path

from atoll.description.core_files import find_core, load_core
from atoll.description.template import USUAL, CorePart, MemoryPart, Parts
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.units import format_size, parse_size

NONE = "none"
"""What stands for no accelerator."""

_MEMORY = re.compile(
    r"(?P<name>[a-z][a-z0-9_]{0,31})=(?:(?P<kind>rom|ram):)?(?P<size>[^@:]+)(?:@(?P<origin>.+))?"
)
_ROM_WORDS = ("rom", "flash", "nvm", "mram", "xip")
_EXAMPLE = "--memory flash=rom:1MiB, --memory sram=256KiB@0x2000_0000"


def parts_of(
    cores: Sequence[str] | None,
    accelerators: Sequence[str] | None,
    engines: Sequence[str] | None,
    memories: Sequence[str] | None,
    folder: Path,
) -> Parts:
    """Return the parts that options name; what no option names is as usual.

    Args:
        cores: ``CORE`` or ``CORE:ISA``.
        accelerators: names and paths, or `NONE`.
        engines: names and paths of DMA engines.
        memories: ``NAME=[KIND:]SIZE[@ORIGIN]``.
        folder: what paths are relative to.

    Raises:
        DescriptionError: E042; there is no such core.
        UsageError: E090; a memory is not understood.
    """
    named = USUAL.accelerators if accelerators is None else accelerators
    return Parts(
        cores=tuple(_core(word, folder) for word in cores) if cores else USUAL.cores,
        accelerators=tuple(word for word in named if word != NONE),
        engines=tuple(engines or ()),
        memories=tuple(map(_memory, memories)) if memories else USUAL.memories,
    )


def words_of(parts: Parts) -> tuple[list[str], list[str], list[str], list[str]]:
    """Return what `parts_of` makes such parts of, without its folder."""
    return (
        [f"{each.core}:{each.isa}" for each in parts.cores],
        list(parts.accelerators or (NONE,)),
        list(parts.engines),
        list(map(_memory_word, parts.memories)),
    )


def _core(word: str, folder: Path) -> CorePart:
    name, _, isa = word.partition(":")
    core = load_core(find_core(name, "", folder, None), None).model
    return CorePart(name, isa or core.isas[0])


def _memory(text: str) -> MemoryPart:
    found = _MEMORY.fullmatch(text)
    try:
        if not found:
            raise ValueError
        name, origin = found["name"], found["origin"]
        kind = "rom" if any(word in name for word in _ROM_WORDS) else "ram"
        return MemoryPart(
            name=name,
            kind=found["kind"] or kind,
            size=parse_size(found["size"]),
            origin=int(origin, 0) if origin else None,
        )
    except ValueError as fault:
        message = f"'--memory {text}' is not understood"
        raise UsageError("E090", message, remedy=f"write {_EXAMPLE}") from fault


def _memory_word(memory: MemoryPart) -> str:
    at = "" if memory.origin is None else f"@{memory.origin:#x}"
    return f"{memory.name}={memory.kind}:{format_size(memory.size).replace(' ', '')}{at}"
