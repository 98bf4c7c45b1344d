# SPDX-License-Identifier: Apache-2.0
"""The functions of a linked image: where each one begins and ends, and what lies between its code.

Sources: ELF for the Arm Architecture, "Mapping symbols"; RISC-V ELF psABI, "Mapping Symbol".
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import PurePath

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import ARMAttributesSection, Symbol, SymbolTableSection

from atoll.records import dataclass
from atoll.stack import a64, riscv, thumb
from atoll.stack.instruction import Instruction
from atoll.stack.thumb_words import HELPERS

_WRITABLE, _ALLOCATED, _EXECUTABLE, _DOUBLES = 0x1, 0x2, 0x4, 0x4
_MAPPING = re.compile(r"\$([adtx])(?:\..*|rv.*)?")
_WORD = 0xFFFF_FFFF


_TRAP_RETURNS = re.compile(rb"\x73\x00\x20[\x10\x30]")
"""MRET and SRET of RISC-V."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """What an image has to run.

    Attributes:
        machine: such as ``EM_RISCV``.
        bits: of an address.
        doubles: RISC-V code may have stores of floats of 64 bits, see `riscv.decode`.
        names: of functions, by the address of their first instruction.
        ends: first address past each function.
        absent: the image calls weak functions that it lacks; such calls lead to 0.
        symbols: value of each symbol.
        sections: (address, bytes) of what is loaded, by address.
        executable: likewise, of what has instructions.
        data: begin and end of what lies between instructions and is none.
        arm: likewise of instructions that have 32 bits in an image of Thumb code.
        constant: begin and end of what is loaded and not written.
        entry: address of the first instruction.
        floats: of an Arm image: it has instructions for floats, whose registers exceptions push.
        object_ends: first address past each object that has a size, by its address.
        objects: names of these.
        sources: the file of each function whose file the image names, without folders.
        files: all that it names.
    """

    machine: str
    bits: int
    doubles: bool
    names: Mapping[int, str]
    ends: Mapping[int, int]
    absent: bool
    symbols: Mapping[str, int]
    sections: tuple[tuple[int, bytes], ...]
    executable: tuple[tuple[int, int], ...]
    data: Mapping[int, int]
    arm: Mapping[int, int]
    constant: tuple[tuple[int, int], ...]
    entry: int
    floats: bool
    object_ends: Mapping[int, int]
    objects: Mapping[int, str] = field(default_factory=dict)
    sources: Mapping[int, str] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    def read(self, place: int, size: int) -> bytes:
        """Return so many loaded bytes at an address, fewer where nothing is loaded."""
        at = bisect_right(self.sections, place, key=lambda each: each[0]) - 1
        if at < 0:
            return b""
        begin, code = self.sections[at]
        return code[place - begin : place - begin + size]

    def read_constant(self, place: int, size: int) -> bytes:
        """Return so many loaded bytes that no code changes, fewer where there are none."""
        inside = any(begin <= place and place + size <= end for begin, end in self.constant)
        return self.read(place, size) if inside else b""

    def word(self, place: int) -> int | None:
        """Return 32 loaded bits, None where nothing is loaded."""
        found = self.read(place, 4)
        return int.from_bytes(found, "little") if len(found) == 4 else None

    def object_at(self, address: int) -> str:
        """Return the name of the object that has an address, "" if none has."""
        inside = (at for at, end in self.object_ends.items() if at <= address < end)
        return next((f"'{self.objects[at]}'" for at in inside if at in self.objects), "")

    def runs(self, address: int) -> bool:
        """Tell whether there are instructions at an address."""
        return any(begin <= address < end for begin, end in self.executable) and not any(
            begin <= address < end for begin, end in self.data.items()
        )

    @property
    def returns_from_traps(self) -> bool:
        """Tell whether code of RISC-V has an instruction that ends a handler."""
        if self.machine != "EM_RISCV":
            return False
        code = (self.read(begin, end - begin) for begin, end in self.executable)
        return any(not at.start() % 2 for each in code for at in _TRAP_RETURNS.finditer(each))

    def with_names(self, names: Mapping[int, str]) -> "Code":
        """Return the same with functions of these names, each as long as until the next one."""
        ends = {each: _end(each, 0, names, self.executable) for each in names}
        return replace(self, names=names, ends=ends)

    def start(self, address: int) -> int | None:
        """Return where the function begins that has code at `address`.

        Libraries written in assembly jump into each other's middle; what no function has is one
        of its own.
        """
        if address in self.names:
            return address
        before = (each for each in self.names if each < address < self.ends[each])
        return max(before, default=address if self.runs(address) else None)

    def decode(self, start: int, entry: int) -> Iterator[Instruction]:
        """Yield the instructions of the function that begins at `start`, or those from `entry` on.

        The latter is where `entry` is between two instructions of the function.
        """
        found = tuple(self._decode(start, self._end(start)))
        if any(item.address == entry for item in found) or not self.runs(entry):
            return iter(found)
        return self._decode(entry, self._end(start))

    @property
    def _helpers(self) -> Mapping[int, str]:
        return {self.symbols[each] & ~1: each for each in HELPERS if each in self.symbols}

    def _end(self, start: int) -> int:
        if start in self.ends:
            return self.ends[start]
        inside = next((end for begin, end in self.executable if begin <= start < end), start)
        return min((each for each in self.names if each > start), default=inside)

    def _decode(self, begin: int, end: int) -> Iterator[Instruction]:
        code = self.read(begin, end - begin)
        end = begin + len(code)
        data = {
            max(one, begin): min(two, end)
            for one, two in self.data.items()
            if one < end and begin < two
        }
        if self.machine == "EM_ARM":
            return thumb.decode(code, begin, data, self.read, self._helpers)
        if self.machine == "EM_AARCH64":
            return a64.decode(code, begin, data, self.read)
        return riscv.decode(code, begin, self.bits, data, self.doubles)


def read_code(image: ELFFile) -> Code:
    """Return what an image has to run; functions without a size end where the next one begins."""
    thumb_code = image["e_machine"] == "EM_ARM"
    table = image.get_section_by_name(".symtab")
    symbols = [*table.iter_symbols()] if isinstance(table, SymbolTableSection) else []
    sections = [each for each in image.iter_sections() if each["sh_flags"] & _ALLOCATED]
    executable = {
        number: (each["sh_addr"], each["sh_addr"] + each["sh_size"])
        for number, each in enumerate(image.iter_sections())
        if each["sh_flags"] & _EXECUTABLE
        and each["sh_flags"] & _ALLOCATED
        and each["sh_type"] != "SHT_NOBITS"
    }
    names, ends, maps = _functions(symbols, executable, thumb_code)
    kinds = {letter: dict(_mapped_ranges(maps, executable, letter)) for letter in "ad"}
    return Code(
        machine=str(image["e_machine"]),
        bits=image.elfclass,
        doubles=_doubles(image),
        names=names,
        ends=ends,
        absent=any(
            each["st_shndx"] == "SHN_UNDEF" and each["st_info"]["bind"] == "STB_WEAK"
            for each in symbols
        ),
        symbols={each.name: each["st_value"] for each in symbols if each.name},
        sections=tuple(
            sorted(
                (each["sh_addr"], each.data())
                for each in sections
                if each["sh_type"] != "SHT_NOBITS" and each["sh_size"]
            )
        ),
        executable=tuple(sorted(executable.values())),
        data=kinds["d"],
        arm=kinds["a"] if thumb_code else {},
        constant=tuple(
            (each["sh_addr"], each["sh_addr"] + each["sh_size"])
            for each in sections
            if not each["sh_flags"] & _WRITABLE and each["sh_type"] != "SHT_NOBITS"
        ),
        entry=image["e_entry"] & (~1 if thumb_code else ~0),
        floats=_floats(image),
        object_ends={
            each["st_value"]: each["st_value"] + each["st_size"]
            for each in symbols
            if each["st_info"]["type"] == "STT_OBJECT" and each["st_size"]
        },
        objects={
            each["st_value"]: each.name
            for each in symbols
            if each["st_info"]["type"] == "STT_OBJECT" and each["st_size"]
        },
        sources=dict(_sources(symbols, thumb_code)),
        files=frozenset(
            PurePath(each.name).name for each in symbols if each["st_info"]["type"] == "STT_FILE"
        ),
    )


def _sources(symbols: Sequence[Symbol], thumb_code: bool) -> Iterator[tuple[int, str]]:
    """Yield (address, file) of functions that only their file sees: it is named before them."""
    file = ""
    for symbol in symbols:
        kind, local = symbol["st_info"]["type"], symbol["st_info"]["bind"] == "STB_LOCAL"
        if kind == "STT_FILE":
            file = PurePath(symbol.name).name
        elif kind == "STT_FUNC" and local and file:
            yield symbol["st_value"] & (~1 if thumb_code else ~0), file


def _functions(
    symbols: Sequence[Symbol], executable: Mapping[int, tuple[int, int]], thumb_code: bool
) -> tuple[dict[int, str], dict[int, int], dict[int, list[tuple[int, str]]]]:
    """Return names and ends of functions by address, and mapping symbols by section."""
    names: dict[int, str] = {}
    sizes: dict[int, int] = {}
    loose: dict[int, str] = {}
    maps: dict[int, list[tuple[int, str]]] = {}
    for symbol in symbols:
        name, where = symbol.name, symbol["st_shndx"]
        kind, bind = symbol["st_info"]["type"], symbol["st_info"]["bind"]
        if where not in executable or not name:
            continue
        address = symbol["st_value"] & (~1 if thumb_code else ~0)
        if found := _MAPPING.fullmatch(name):
            maps.setdefault(where, []).append((symbol["st_value"], found[1]))
        elif kind == "STT_FUNC":
            if bind == "STB_GLOBAL" or address not in names:
                names[address] = name
            sizes[address] = max(sizes.get(address, 0), symbol["st_size"])
        elif kind == "STT_NOTYPE" and bind != "STB_LOCAL":
            loose[address] = name
    taken = sorted((each, each + size) for each, size in sizes.items() if size)
    for address, name in loose.items():
        if address not in names and not any(a <= address < b for a, b in taken):
            names[address] = name
    ends = {each: _end(each, sizes.get(each, 0), names, executable.values()) for each in names}
    return names, ends, maps


def _end(
    begin: int, size: int, names: Mapping[int, str], executable: Collection[tuple[int, int]]
) -> int:
    if size:
        return begin + size
    inside = next((end for one, end in executable if one <= begin < end), begin)
    return min((each for each in names if begin < each < inside), default=inside)


def _mapped_ranges(
    maps: Mapping[int, list[tuple[int, str]]],
    executable: Mapping[int, tuple[int, int]],
    letter: str,
) -> Iterator[tuple[int, int]]:
    """Yield begin and end of what mapping symbols of one letter say."""
    for section, places in maps.items():
        marks = [*sorted(places), (executable[section][1], "")]
        for (begin, kind), (end, _) in pairwise(marks):
            if kind == letter and begin < end:
                yield begin, end


def _floats(image: ELFFile) -> bool:
    """Tell whether an Arm image has instructions for floats; one that says nothing may.

    Vectors of integers (MVE) are in the same registers.
    """
    section = image.get_section_by_name(".ARM.attributes")
    if not isinstance(section, ARMAttributesSection):
        return True
    return any(
        attribute.value
        for vendor in section.iter_subsections()
        for scope in vendor.iter_subsubsections()
        for tag in ("TAG_FP_ARCH", "TAG_MVE_ARCH")
        for attribute in scope.iter_attributes(tag)
    )


def _doubles(image: ELFFile) -> bool:
    """Tell whether RISC-V code may have floats of 64 bits: unless the image says that it has none.

    Zcmp has the same words for other instructions.
    """
    if image["e_flags"] & _DOUBLES:
        return True
    section = image.get_section_by_name(".riscv.attributes")
    found = re.search(rb"rv(?:32|64)[a-z0-9_]+", section.data()) if section else None
    if found is None:
        return True
    base = re.sub(r"\d+p\d+", "", found[0].decode().split("_")[0])
    words = {re.sub(r"\d+p\d+$", "", each) for each in found[0].decode().split("_")}
    return "d" in words or "d" in base[4:] or "g" in base[4:]
