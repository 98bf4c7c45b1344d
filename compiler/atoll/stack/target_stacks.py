# SPDX-License-Identifier: Apache-2.0
"""What the kernels of each target of a core take of the stack, from the linked image."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from atoll.stack.elf_bounds import bounds


def target_stacks(
    elf: Path, networks: Sequence[Mapping[str, Sequence[str]]]
) -> Mapping[str, int | None]:
    """Return the most bytes that a kernel of each target takes, with all that it calls.

    Args:
        elf: the image.
        networks: of each network in it, the kernels by target.

    Returns:
        By target; None where functions of several networks have the name of a kernel, which a
        symbol table does not tell apart. Kernels that a compiler left out take nothing.
    """
    found: dict[str, int | None] = {}
    if not any(networks):
        return found
    there = _functions(elf)
    every = [name for each in networks for names in each.values() for name in names]
    bound = bounds(elf, tuple(name for name in dict.fromkeys(every) if name in there))
    for target in sorted({target for each in networks for target in each}):
        names = [name for each in networks for name in each.get(target, ()) if name in bound]
        if names:
            alone = all(there.count(name) == 1 for name in names)
            found[target] = max(bound[name].bytes for name in names) if alone else None
    return found


def _functions(elf: Path) -> list[str]:
    with elf.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        kinds = ((each.name, each["st_info"]["type"]) for each in table.iter_symbols())
        return [name for name, kind in kinds if kind == "STT_FUNC"]
