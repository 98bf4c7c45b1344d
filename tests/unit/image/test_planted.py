# SPDX-License-Identifier: Apache-2.0
"""Each planted disagreement between an image and its chip is found, whichever linker made it."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from atoll.bsp.firmware import Part, link_unchecked
from atoll.bsp.interface import ModelInterface, Port
from atoll.bsp.toolchain import find_toolchain
from atoll.resolve import load_soc
from atoll_image.check import disagreements
from atoll_image.elf import read_image
from atoll_image.image_stacks import limits, stack_of

SMALL = "pools.private.size=16 KiB"
RISCV = (SMALL, "devices.cpu.core=ibex", "devices.cpu.protection=true")
ARM = (
    SMALL,
    "devices.cpu.core=cortex_m33",
    "devices.cpu.isa=armv8-m.main+dsp",
    "devices.cpu.protection=true",
)
FAMILIES = {"riscv": RISCV, "arm": ARM}
ENTRY, FLAGS, P_PADDR = 0x18, 0x24, 12
GCC = {"riscv": "riscv64-unknown-elf-gcc", "arm": "arm-none-eabi-gcc"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """Something that is not as the chip has it.

    Attributes:
        said: what one of the faults says.
        overrides: of the description that the image is linked for.
        edits: of the linker script: patterns and what replaces them.
        patch: of the bytes of the ELF file.
        only: the family of cores that it is for.
    """

    said: str
    overrides: tuple[str, ...] = ()
    edits: dict[str, str] = field(default_factory=dict)
    patch: Callable[[bytearray, ELFFile], None] | None = None
    only: str = ""


def setting(said: str, *overrides: str, only: str = "") -> Plant:
    return Plant(said=said, overrides=overrides, only=only)


def word_of(symbol: str, offset: int, change: int) -> Callable[[bytearray, ELFFile], None]:
    """Return a patch that changes a word behind a symbol."""

    def patch(data: bytearray, elf: ELFFile) -> None:
        table = elf.get_section_by_name(".symtab")
        (found,) = table.get_symbol_by_name(symbol)  # type: ignore[union-attr]
        at = next(elf.address_offsets(found["st_value"] & ~1)) + offset
        word = int.from_bytes(data[at : at + 4], "little") ^ change
        data[at : at + 4] = word.to_bytes(4, "little")

    return patch


def header(offset: int, change: int) -> Callable[[bytearray, ELFFile], None]:
    """Return a patch that changes a word of the ELF header."""

    def patch(data: bytearray, elf: ELFFile) -> None:
        word = int.from_bytes(data[offset : offset + 4], "little") ^ change
        data[offset : offset + 4] = word.to_bytes(4, "little")

    return patch


def load_data_over_code(data: bytearray, elf: ELFFile) -> None:
    """Change where the segment comes from that is copied."""
    text = elf.get_section_by_name(".text")
    copied = (
        each["p_filesz"] and each["p_paddr"] != each["p_vaddr"] for each in elf.iter_segments()
    )
    at = elf["e_phoff"] + [*copied].index(True) * elf["e_phentsize"] + P_PADDR
    data[at : at + 4] = text["sh_addr"].to_bytes(4, "little")  # type: ignore[index]


NETWORK = """
static volatile int initialised = 1, zero[64];
int tiny_run(const void *inputs, const void *outputs) {
  return (inputs == outputs) + initialised + zero[3] - 1;
}
"""

BEHIND = {r"(KEEP\(\*\(\.atoll\.reset\)\))\s*(\*\(\.text[^\n]*\))": r"\2 \1"}
PLANTS = {
    "stack shrunk": setting("'atoll_stack_top' is", "devices.cpu.stack.size=4 KiB"),
    "stack grown": setting("'atoll_stack_top' is", "devices.cpu.stack.size=16 KiB"),
    "stack elsewhere": setting("'atoll_stack_top' is", "devices.cpu.stack.memory=sram"),
    "code smaller, weights moved": setting(
        "entry 0 of the protection", "devices.cpu.code.size=64 KiB"
    ),
    "data in another memory": setting("'.data'", "devices.cpu.data.memory=sram"),
    "data larger": setting("pool_private' is", "devices.cpu.data.size=16 KiB"),
    "code in RAM": setting("entry", "devices.cpu.code.memory=sram"),
    "flash elsewhere": setting("entry", "memories.flash.origin=0x0800_0000"),
    "tcm elsewhere": setting("lies in no memory", "memories.dtcm.origin=0x1200_0000"),
    "sram elsewhere": setting("pool_shared' is", "memories.sram.origin=0x3000_0000"),
    "flash seen elsewhere": setting("entry", "memories.flash.views={cpu: 0x0800_0000}"),
    "pool moved": setting("entry 1 of the protection", "pools.weights.offset=0x30000"),
    "protection off": setting("no table of the protection", "devices.cpu.protection=false"),
    "protection of another reach": setting("protection unit", "pools.private.reach={cpu: ro}"),
    "protection of a smaller pool": setting("protection unit", "pools.private.size=8 KiB"),
    "code for a larger core": setting(
        "Tag_CPU_arch", "devices.cpu.core=cortex_m55", "devices.cpu.isa=armv8.1-m.main", only="arm"
    ),
    "another core's reset": setting(
        "where the core begins",
        "devices.cpu.core=picorv32",
        "devices.cpu.protection=false",
        only="riscv",
    ),
    "another machine": setting(
        "machine code of EM_ARM", *ARM[1:3], "devices.cpu.protection=false", only="riscv"
    ),
    "machine of the other": setting(
        "machine code of EM_RISCV",
        "devices.cpu.core=riscv",
        "devices.cpu.isa=rv32imc",
        "devices.cpu.protection=false",
        only="arm",
    ),
    "bss over a pool": Plant(
        said="overlaps pool", edits={r"(\.bss \(NOLOAD\).*?\}) > data": r"\1 > pool_private"}
    ),
    "bss over another pool": Plant(
        said="overlaps pool", edits={r"(\.bss \(NOLOAD\).*?\}) > data": r"\1 > pool_shared"}
    ),
    "bss over the stack": Plant(
        said="overlaps 'cpu.stack'", edits={r"(\.bss \(NOLOAD\).*?\}) > data": r"\1 > stack"}
    ),
    "data over a pool": Plant(
        said="overlaps pool", edits={r"> data AT > code": "> pool_private AT > code"}
    ),
    "data loaded in place": Plant(
        said="nothing copies it there", edits={r"> data AT > code": "> data"}
    ),
    "data copied from a pool": Plant(
        said="outside of 'cpu.code'", edits={r"> data AT > code": "> data AT > pool_weights"}
    ),
    "data loaded over code": Plant(said="over section '.text'", patch=load_data_over_code),
    "code that is copied": Plant(
        said="holds what the core begins with, is loaded at",
        edits={
            r"(\.text : \{.*?\}) > code": r"\1 > code AT > pool_weights",
            r"(\.rodata : \{.*?\}) > code": r"\1 > code AT > code",
        },
    ),
    "constants over weights": Plant(
        said="overlaps pool 'weights'", edits={r"(\.rodata :.*?\}) > code": r"\1 > pool_weights"}
    ),
    "constants over a pool": Plant(
        said="overlaps pool", edits={r"(\.rodata :.*?\}) > code": r"\1 > pool_shared"}
    ),
    "code that begins later": Plant(
        said="where",
        edits={r"code \(rx\) : ORIGIN = 0x(\w+)": r"code (rx) : ORIGIN = 0x100 + 0x\1"},
    ),
    "stack top moved": Plant(
        said="'atoll_stack_top' is", edits={r"(atoll_stack_top = )": r"\1 16 + "}
    ),
    "stack limit moved": Plant(
        said="'atoll_stack_limit' is", edits={r"(atoll_stack_limit = )": r"\1 16 + "}
    ),
    "pool symbol moved": Plant(
        said="pool_shared' is", edits={r"(atoll_pool_shared = )": r"\1 4096 + "}
    ),
    "entry behind the code": Plant(said="where the core begins", edits=BEHIND, only="riscv"),
    "vectors behind the code": Plant(said="first vector", edits=BEHIND, only="arm"),
    "entry patched": Plant(said="entry", patch=header(ENTRY, 0x0100_0000)),
    "floats in registers": Plant(said="calling convention", patch=header(FLAGS, 0x2), only="riscv"),
    "fewer registers": Plant(said="calling convention", patch=header(FLAGS, 0x8), only="riscv"),
    "stack of the vectors": Plant(
        said="first vector", patch=word_of("atoll_vectors", 0, 0x4000_0000), only="arm"
    ),
    "stack of the vectors uneven": Plant(
        said="not a multiple of 8", patch=word_of("atoll_vectors", 0, 0x104), only="arm"
    ),
    "reset vector without Thumb": Plant(
        said="reset vector", patch=word_of("atoll_vectors", 4, 0x1), only="arm"
    ),
    "reset vector into data": Plant(
        said="reset vector", patch=word_of("atoll_vectors", 4, 0x1000_0000), only="arm"
    ),
    "table of the MPU patched": Plant(
        said="entry 1 of the protection", patch=word_of("atoll_protection", 8, 0x2), only="arm"
    ),
    "limit of the MPU patched": Plant(
        said="entry 2 of the protection", patch=word_of("atoll_protection", 20, 0x1000), only="arm"
    ),
}


def of_family(family: str) -> Iterator[str]:
    return (name for name, plant in PLANTS.items() if plant.only in ("", family))


def linked(family: str, tools: str, plant: Plant, folder: Path) -> Path:
    """Link an image with what is planted; asserts of the script that name it are taken out."""

    def edit(text: str) -> str:
        text = re.sub(r"^ASSERT\(.*\n", "", text, flags=re.M)
        for pattern, into in plant.edits.items():
            text, count = re.subn(pattern, into, text, flags=re.S)
            assert count == 1, pattern
        return text

    soc = load_soc("lagoon", (*FAMILIES[family], *plant.overrides))
    (folder / "tiny.c").write_text(NETWORK)
    find_toolchain(soc.host_cpu, tools).compile("tiny.c", folder / "tiny.o", folder=folder)
    shared = soc.pool("shared").region.origin
    tiny = ModelInterface(
        name="tiny",
        inputs=(Port(name="x", size=4, address=shared),),
        outputs=(Port(name="y", size=4, address=shared + 16),),
        shares=(),
    )
    codes = {soc.host: (folder / "tiny.o").read_bytes()}
    part = Part(interface=tiny, codes=lambda: codes)
    (elf,) = link_unchecked(soc, (part,), folder, tools, edit)
    if plant.patch:
        with elf.open("rb") as stream:
            data = bytearray(stream.read())
            plant.patch(data, ELFFile(stream))
        elf.write_bytes(data)
    return elf


def faults_of(family: str, elf: Path) -> list[str]:
    soc, image = load_soc("lagoon", FAMILIES[family]), read_image(elf)
    found = disagreements(soc, "cpu", image)
    if not any("machine code" in fault.message for fault in found):
        use = stack_of(elf, image)
        found = (*found, *limits(soc, "cpu", use), *use.unbounded_faults())
    faults = tuple(replace(each, at=each.at or soc.host_cpu.at) for each in found)
    assert {fault.code for fault in faults} <= {"E140", "E183"}
    assert all(fault.at and fault.remedy for fault in faults)
    return [fault.message for fault in faults]


def tools_or_skip(family: str, tools: str) -> str:
    if tools == "gcc" and not shutil.which(GCC[family]):
        pytest.skip(f"{GCC[family]} is not installed")
    return tools


def _covered(family: str, name: str) -> bool:
    """Tell whether the other family has the same plant, and nothing of it is this family's own."""
    return family == "riscv" and not PLANTS[name].only and "protection" not in name


LINKERS = ["zig", pytest.param("gcc", marks=pytest.mark.slow)]


@pytest.mark.parametrize("tools", LINKERS)
@pytest.mark.parametrize("family", FAMILIES)
def test_an_image_of_the_chip_agrees(family: str, tools: str, tmp_path: Path) -> None:
    elf = linked(family, tools_or_skip(family, tools), Plant(said=""), tmp_path)
    assert faults_of(family, elf) == []


@pytest.mark.parametrize("tools", LINKERS)
@pytest.mark.parametrize(
    ("family", "name"),
    [
        pytest.param(family, name, marks=pytest.mark.slow if _covered(family, name) else ())
        for family in FAMILIES
        for name in of_family(family)
    ],
)
def test_a_planted_disagreement_is_found(
    family: str, name: str, tools: str, tmp_path: Path
) -> None:
    plant = PLANTS[name]
    elf = linked(family, tools_or_skip(family, tools), plant, tmp_path)
    found = faults_of(family, elf)
    assert any(plant.said in message for message in found), found


def test_there_are_thirty_for_each_family() -> None:
    assert all(len([*of_family(family)]) >= 30 for family in FAMILIES)
