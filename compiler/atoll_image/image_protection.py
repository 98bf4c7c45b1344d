# SPDX-License-Identifier: Apache-2.0
"""The protection table that an image of Atoll's start-up code loads, against the chip's."""

from collections.abc import Iterator, Mapping

import capstone

from atoll.bsp.protection_table import protection_rows, protection_setup
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll_image.elf import ElfImage

_WORD = 4
_START, _TABLE = "atoll_start", "atoll_protection"
_LOADS = ("li", "c.li", "lui", "c.lui")
_SHIFTS = ("slli", "c.slli")
_SUMS = ("addi", "addiw", "c.addi", "c.addiw")


def wrong_entries(soc: ResolvedSoc, core: Cpu, image: ElfImage) -> Iterator[str]:
    """Yield what is wrong with the table; nothing if the image has other start-up code."""
    if _START not in image.symbols:
        return
    unit = core.spec.protection
    if unit is not None and unit.unit == "pmp":
        yield from _pmp(soc, core, image)
    else:
        yield from _mpu(soc, core, image)


def _mpu(soc: ResolvedSoc, core: Cpu, image: ElfImage) -> Iterator[str]:
    begin, rows = image.symbols.get(_TABLE), protection_rows(soc, core)
    if begin is None or not rows:
        if begin is not None or rows:
            yield _presence(there=begin is not None)
        return
    for number, (what, words) in enumerate(rows):
        at = begin + number * _WORD * len(words)
        if [image.word(at + _WORD * index) for index in range(len(words))] != list(words):
            yield f"entry {number} of the protection unit is not '{what}'"


def _pmp(soc: ResolvedSoc, core: Cpu, image: ElfImage) -> Iterator[str]:
    rows, written = protection_rows(soc, core), pmp_registers(image)
    if not rows or not written:
        if rows or written:
            yield _presence(there=bool(written))
        return
    for number, (what, (address,)) in enumerate(rows):
        if written.get(f"pmpaddr{number}") != address:
            yield f"entry {number} of the protection unit is not '{what}'"
    setup = protection_setup(soc, core)["rights"]
    assert isinstance(setup, Mapping)
    for register, value in setup.items():
        if written.get(register) != value:
            yield f"'{register}' is set to other rights than {value:#x}"


def _presence(*, there: bool) -> str:
    if there:
        return "there is a table of the protection unit, which is off"
    return "there is no table of the protection unit"


def pmp_registers(image: ElfImage) -> Mapping[str, int]:
    """Return what start-up code writes to the registers of PMP: constants, in a straight line."""
    begin = image.symbols[_START]
    section = next((each for each in image.sections if each.begin <= begin < each.end), None)
    if section is None:
        return {}
    mode = capstone.CS_MODE_RISCV32 if image.bits == 32 else capstone.CS_MODE_RISCV64
    engine = capstone.Cs(capstone.CS_ARCH_RISCV, mode | capstone.CS_MODE_RISCVC)
    held: dict[str, int] = {}
    written: dict[str, int] = {}
    mask = (1 << image.bits) - 1
    for found in engine.disasm(section.data[begin - section.begin :], begin):
        words = [word.strip() for word in found.op_str.split(",")]
        name = found.mnemonic
        if name in ("csrw", "csrrw"):
            register, source = words[-2:]
            if register.startswith("pmp") and source in held:
                written[register] = held[source] & mask
        elif (value := _constant(name, words, held)) is not None:
            held[words[0]] = value
        elif words and words[0] in held:
            del held[words[0]]
    return written


def _constant(name: str, words: list[str], held: Mapping[str, int]) -> int | None:
    """Return what an instruction makes of constants, None if that is not known."""
    if len(words) < 2:
        return None
    try:
        number = int(words[-1], 0)
    except ValueError:
        return held.get(words[1]) if name in ("mv", "c.mv") else None
    if name in _LOADS:
        return number << 12 if name.endswith("lui") else number
    source = "0" if words[-2] == "zero" else str(held.get(words[-2], ""))
    if not source:
        return None
    if name in _SUMS:
        return int(source) + number
    return int(source) << number if name in _SHIFTS else None
