# SPDX-License-Identifier: Apache-2.0
"""Damaged images: one seed damages one part of an ELF file that a linker wrote."""

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

from elftools.elf.elffile import ELFFile

_LENGTHS = {
    32: {
        "header": (("<H", 0x28), ("<H", 0x2A), ("<H", 0x2C), ("<H", 0x2E), ("<H", 0x30)),
        "programs": (("<I", 0x04), ("<I", 0x10), ("<I", 0x14), ("<I", 0x1C)),
        "sections": (("<I", 0x10), ("<I", 0x14), ("<I", 0x18), ("<I", 0x20), ("<I", 0x24)),
        "symbols": (("<I", 0x00), ("<I", 0x08)),
    },
    64: {
        "header": (("<H", 0x34), ("<H", 0x36), ("<H", 0x38), ("<H", 0x3A), ("<H", 0x3C)),
        "programs": (("<Q", 0x08), ("<Q", 0x20), ("<Q", 0x28), ("<Q", 0x30)),
        "sections": (("<Q", 0x18), ("<Q", 0x20), ("<I", 0x28), ("<Q", 0x30), ("<Q", 0x38)),
        "symbols": (("<I", 0x00), ("<Q", 0x10)),
    },
}
"""Where an entry of each table has offsets, sizes and counts."""
_SIZES = {"<H": 2, "<I": 4, "<Q": 8}


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file that can be damaged: entries of one size, and where each has lengths."""

    name: str
    begin: int
    size: int
    entry: int
    lengths: tuple[tuple[str, int], ...]


def parts_of(data: bytes) -> tuple[Part, ...]:
    """Return the header, the tables, and the sections of symbols, attributes and notes."""
    return tuple(part for part in _parts(ELFFile(BytesIO(data))) if part.size)


def noted(data: bytes, name: str) -> bytes:
    """Return the file with a note in the place of the bytes of a section that is not loaded."""
    elf, found = ELFFile(BytesIO(data)), bytearray(data)
    index, section = elf.get_section_index(name), elf.get_section_by_name(name)
    assert index is not None
    assert section is not None
    note = struct.pack("<III", 6, 8, 1) + b"Atoll\0\0\0" + bytes(range(8))
    assert section["sh_size"] >= len(note)
    found[section["sh_offset"] : section["sh_offset"] + len(note)] = note
    kind = elf["e_shoff"] + index * elf["e_shentsize"] + 4
    found[kind : kind + 4] = struct.pack("<I", 7)
    return bytes(found)


def damaged(data: bytes, seed: int) -> bytes:
    """Truncate the file, flip bytes of a part, or set one of its lengths to 0, all, one off."""
    chance = random.Random(seed)
    if chance.random() < 0.15:
        return data[: chance.randrange(len(data))]
    found, part = bytearray(data), chance.choice(parts_of(data))
    for _ in range(chance.randint(1, 3)):
        if part.lengths and chance.random() < 0.6:
            _set_length(found, part, chance)
        else:
            at = part.begin + chance.randrange(part.size)
            found[at] ^= 1 << chance.randrange(8) if chance.random() < 0.5 else 0xFF
    return bytes(found)


def _parts(elf: ELFFile) -> Iterator[Part]:
    lengths, head = _LENGTHS[elf.elfclass], elf.header
    yield Part("header", 0, head["e_ehsize"], head["e_ehsize"], lengths["header"])
    for name, key in (("programs", "ph"), ("sections", "sh")):
        entry, count = head[f"e_{key}entsize"], head[f"e_{key}num"]
        yield Part(name, head[f"e_{key}off"], entry * count, entry, lengths[name])
    for section in elf.iter_sections():
        kind, begin, size = section["sh_type"], section["sh_offset"], section["sh_size"]
        if kind == "SHT_SYMTAB":
            yield Part("symbols", begin, size, section["sh_entsize"], lengths["symbols"])
        elif str(kind).endswith("_ATTRIBUTES") or kind == "SHT_NOTE":
            words = tuple(("<I", at) for at in range(0, min(size, 24) - 4, 1))
            yield Part(section.name, begin, size, size, words)


def _set_length(found: bytearray, part: Part, chance: random.Random) -> None:
    form, offset = chance.choice(part.lengths)
    at = part.begin + chance.randrange(part.size // part.entry) * part.entry + offset
    width = _SIZES[form]
    old = int.from_bytes(found[at : at + width], "little")
    new = chance.choice((0, (1 << 8 * width) - 1, 1 << (8 * width - 1), old - 1, old + 1))
    found[at : at + width] = (new % (1 << 8 * width)).to_bytes(width, "little")
