# SPDX-License-Identifier: Apache-2.0
"""Which source file each function of an image is of, by its debugging information."""

from collections.abc import Mapping
from pathlib import PurePath

from elftools.elf.elffile import ELFFile


def sources_in(image: ELFFile) -> Mapping[int, str]:
    """Return the file, without folders, that each function was compiled from, by its address.

    An image without debugging information says nothing.
    """
    if not image.has_dwarf_info():
        return {}
    even = ~1 if image["e_machine"] == "EM_ARM" else ~0
    found: dict[int, str] = {}
    for unit in image.get_dwarf_info().iter_CUs():
        top = unit.get_top_DIE()
        if (name := top.attributes.get("DW_AT_name")) is None:
            continue
        file = PurePath(name.value.decode(errors="replace")).name
        for entry in top.iter_children():
            begin = entry.attributes.get("DW_AT_low_pc")
            if entry.tag != "DW_TAG_subprogram" or begin is None:
                continue
            if isinstance(begin.value, int) and begin.value:  # 0 is what a linker left out
                found[begin.value & even] = file
    return found
