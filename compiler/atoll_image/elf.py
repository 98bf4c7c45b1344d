# SPDX-License-Identifier: Apache-2.0
"""What an image is made of: the part of an ELF file that a chip has an opinion about.

Source: System V ABI, chapters "Object Files" and "Program Loading"; ABI supplements for the Arm
Architecture and for RISC-V.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import (
    ARMAttributesSection,
    RISCVAttributesSection,
    Symbol,
    SymbolTableSection,
)

from atoll.diagnostics.errors import AtollError, UsageError
from atoll.records import dataclass

_ALLOCATED, _WRITABLE, _EXECUTABLE = 0x2, 0x1, 0x4
_ATTRIBUTES = {"EM_ARM": "aeabi", "EM_RISCV": "riscv"}
"""Whose attributes are read, by machine."""

_MOST_BYTES = 256 << 20
_PARAMETERS = ".atoll.parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Bytes of the image in memory.

    Attributes:
        name: of the section.
        begin: address of the first byte, as the core sees it.
        end: first address past it.
        load: address to which a loader brings the first byte; start-up code copies it from there.
        align: bytes, of the first one, here and where it is loaded.
        data: what is loaded; empty for what is only reserved.
    """

    name: str
    begin: int
    end: int
    writable: bool
    executable: bool
    load: int
    align: int
    data: bytes

    @property
    def copied(self) -> bool:
        """Tell whether start-up code brings it to where it runs."""
        return bool(self.data) and self.load != self.begin

    def as_data(self) -> dict[str, object]:
        """Return it for programs."""
        return {
            "section": self.name,
            "first_address": self.begin,
            "size_bytes": self.end - self.begin,
            "loaded_bytes": len(self.data),
            "copied_from_address": self.load if self.copied else None,
        }

    def __str__(self) -> str:
        return f"'{self.name}' ({self.begin:#010x} to {self.end - 1:#010x})"


@dataclass(frozen=True, slots=True, order=True)
class Variable:
    """An array or another variable, as a symbol has it."""

    begin: int
    end: int
    name: str

    def __str__(self) -> str:
        return f"'{self.name}' ({self.end - self.begin} B at {self.begin:#010x})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ElfImage:
    """A linked image.

    Attributes:
        machine: such as ``EM_RISCV``.
        bits: of an address.
        flags: ``e_flags``.
        entry: address of the first instruction, with bit 0 set in Thumb.
        sections: those with bytes in memory, by address.
        symbols: value of each symbol that has a section or is absolute.
        attributes: what it was compiled for, by tag, as far as it says so.
        parameters: what networks say of arrays that the application defines.
        objects: arrays and other variables that symbols name, with a size, by address.
    """

    machine: str
    bits: int
    flags: int
    entry: int
    sections: tuple[Span, ...]
    symbols: Mapping[str, int]
    attributes: Mapping[str, object]
    parameters: bytes = b""
    objects: tuple[Variable, ...] = ()

    def read_loaded(self, address: int, size: int) -> bytes | None:
        """Return bytes that are there once start-up code has run, None if they are not whole."""
        for section in self.sections:
            at = address - section.begin
            if at >= 0 and at + size <= len(section.data):
                return section.data[at : at + size]
        return None

    def word(self, address: int) -> int | None:
        """Return 32 loaded bits, None where nothing is loaded."""
        for section in self.sections:
            if section.begin <= address and address + 4 <= section.begin + len(section.data):
                at = address - section.begin
                return int.from_bytes(section.data[at : at + 4], "little")
        return None


def read_image(path: Path) -> ElfImage:
    """Read a linked image.

    Raises:
        UsageError: E141; it cannot be read, or is no whole ELF file that runs.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _no_image(path, f"it has more than {_MOST_BYTES >> 20} MiB")
        data = path.read_bytes()
    except OSError as fault:
        raise _no_image(path, fault.strerror or "it cannot be read") from fault
    with refuse_damage(path):
        return _read(ELFFile(BytesIO(data)), path)


@contextmanager
def refuse_damage(path: Path) -> Iterator[None]:
    """Refuse a damaged file that is read inside.

    Raises:
        UsageError: E141; it is no whole ELF file.
    """
    try:
        yield
    except AtollError:
        raise
    except (ELFError, ArithmeticError, LookupError, ValueError, TypeError) as fault:
        raise _no_image(path, f"it is no whole ELF file: {fault}") from fault
    except (OSError, AttributeError, AssertionError, MemoryError, RecursionError) as fault:
        raise _no_image(path, "it is a damaged ELF file") from fault


def _read(elf: ELFFile, path: Path) -> ElfImage:
    if elf["e_type"] != "ET_EXEC":
        raise _no_image(path, f"it is {elf['e_type']}, which no core runs as it is")
    if not elf.little_endian:
        raise _no_image(path, "it is big-endian")
    return ElfImage(
        machine=str(elf["e_machine"]),
        bits=elf.elfclass,
        flags=elf["e_flags"],
        entry=elf["e_entry"],
        sections=tuple(sorted(_sections(elf), key=lambda span: (span.begin, span.end))),
        symbols=_symbols(elf),
        attributes=_attributes(elf),
        parameters=record.data() if (record := elf.get_section_by_name(_PARAMETERS)) else b"",
        objects=tuple(sorted(_objects(elf))),
    )


def _sections(elf: ELFFile) -> Iterator[Span]:
    segments = [each for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
    for section in elf.iter_sections():
        flags, begin, size = section["sh_flags"], section["sh_addr"], section["sh_size"]
        if not (flags & _ALLOCATED and size):
            continue
        around = (
            each["p_paddr"] - each["p_vaddr"]
            for each in segments
            if each["p_vaddr"] <= begin and begin + size <= each["p_vaddr"] + each["p_memsz"]
        )
        yield Span(
            name=section.name,
            begin=begin,
            end=begin + size,
            writable=bool(flags & _WRITABLE),
            executable=bool(flags & _EXECUTABLE),
            load=begin + next(around, 0),
            align=max(section["sh_addralign"], 1),
            data=b"" if section["sh_type"] == "SHT_NOBITS" else section.data(),
        )


def _symbols(elf: ELFFile) -> Mapping[str, int]:
    return {symbol.name: symbol["st_value"] for symbol in _named_symbols(elf)}


def _objects(elf: ELFFile) -> Iterator[Variable]:
    for symbol in _named_symbols(elf):
        begin, size = symbol["st_value"], symbol["st_size"]
        if symbol["st_info"]["type"] == "STT_OBJECT" and size:
            yield Variable(begin, begin + size, symbol.name)


def _named_symbols(elf: ELFFile) -> Iterator[Symbol]:
    table = elf.get_section_by_name(".symtab")
    if isinstance(table, SymbolTableSection):
        for symbol in table.iter_symbols():
            if symbol.name and symbol["st_shndx"] != "SHN_UNDEF":
                yield symbol


def _attributes(elf: ELFFile) -> Mapping[str, object]:
    found: dict[str, object] = {}
    if elf["e_machine"] not in _ATTRIBUTES:
        return found
    kinds = (ARMAttributesSection, RISCVAttributesSection)
    for section in (each for each in elf.iter_sections() if isinstance(each, kinds)):
        size = section["sh_size"]
        for vendor in section.iter_subsections():
            if not 0 < vendor["length"] < size:
                raise ValueError("attributes of another length than their section")
            if vendor["vendor_name"] != _ATTRIBUTES[elf["e_machine"]]:
                continue
            for scope in vendor.iter_subsubsections():
                if not 0 < scope.header.value < size:
                    raise ValueError("attributes of another length than their section")
                found |= {each.tag: each.value for each in scope.iter_attributes()}
    return found


def _no_image(path: Path, why: str) -> UsageError:
    remedy = "give the ELF file that the linker wrote for a core"
    return UsageError("E141", f"'{path}' is no image: {why}", remedy=remedy)
