# SPDX-License-Identifier: Apache-2.0
"""The image of a core that its host loads, as a source of the host's image."""

import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile

from atoll.bsp.render import opening_sentence, render
from atoll.resolve.memory_views import core_as_it_sees
from atoll.resolve.soc import Cpu, ResolvedSoc

IMAGE_SECTION = ".atoll.image."
_WORD = 4


def image_source_name(core: Cpu) -> str:
    """Name the source that has the image of a core."""
    return f"image_{core.name}.c"


def image_source(soc: ResolvedSoc, core: Cpu, elf: Path) -> str:
    """Write all that is loaded of the image of a core, from the begin of its code region on."""
    data = _load_image(soc, core, elf)
    words = [f"0x{word:08X}u" for (word,) in struct.iter_unpack("<I", data)]
    return render(
        "image.c",
        made_from=opening_sentence(soc),
        core=core,
        symbol=image_symbol(core),
        section=f"{IMAGE_SECTION}{core.name}",
        rows=[", ".join(words[at : at + 8]) for at in range(0, len(words), 8)],
        count=len(words),
    )


def image_symbol(core: Cpu) -> str:
    """Name the array of the words of an image."""
    return f"atoll_image_{core.name}"


def _load_image(soc: ResolvedSoc, core: Cpu, elf: Path) -> bytes:
    region = core_as_it_sees(soc, core).code
    loaded = bytearray()
    with elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            if not segment["p_filesz"]:
                continue
            begin = segment["p_paddr"] - region.origin
            end = begin + segment["p_filesz"]
            assert 0 <= begin <= end <= region.size, f"{elf} loads bytes outside of {region.name}"
            loaded.extend(bytes(max(0, end - len(loaded))))
            loaded[begin:end] = segment.data()
    return bytes(loaded) + bytes(-len(loaded) % _WORD)
