"""What an image of Atoll's start-up code takes of its stack, and whether that is within limits."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atoll.errors import AtollError, Fault
from atoll.image.elf import ElfImage
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.stack.elf_check import ENTRY, INTERRUPT, check_stack


def stack_of(
    soc: ResolvedSoc, name: str, path: Path, image: ElfImage
) -> tuple[int | None, Sequence[Fault]]:
    """Return the bytes that core `name` may use of its stack, and the limits that they exceed.

    They are None if the image has other start-up code, or if they cannot be bounded.
    """
    core = soc.device(name)
    assert isinstance(core, Cpu)
    if not all(symbol in image.symbols for symbol in (ENTRY, INTERRUPT)):
        return None, ()
    try:
        bound = check_stack(core, path, ENTRY)
    except AtollError as error:
        faults = (replace(each, code="E140", at=each.at or core.at) for each in error.faults)
        return None, tuple(faults)
    return bound.bytes + core.interrupt_reserve, ()
