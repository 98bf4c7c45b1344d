# SPDX-License-Identifier: Apache-2.0
"""Measure what an image takes of its stack: paint it, run it in Unicorn, look for the paint.

Nothing of Atoll is used: sections and symbols come from the ELF file, instructions from Unicorn.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm64_const, arm_const, riscv_const

PAINT, PAGE = 0xA5, 0x1000
TOP, SIZE = 0x60000, 0x8000
MOST = 3_000_000
_ARM, _RISCV = unicorn.UC_ARCH_ARM, unicorn.UC_ARCH_RISCV
_MACHINES = {
    "EM_ARM": (_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS),
    "EM_AARCH64": (unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM),
}
_REGISTERS = {
    "EM_ARM": (arm_const.UC_ARM_REG_SP, arm_const.UC_ARM_REG_LR),
    "EM_AARCH64": (arm64_const.UC_ARM64_REG_SP, arm64_const.UC_ARM64_REG_LR),
    "EM_RISCV": (riscv_const.UC_RISCV_REG_SP, riscv_const.UC_RISCV_REG_RA),
}
_RETURNS = {"EM_AARCH64": bytes.fromhex("e0039fd6"), "EM_RISCV": bytes.fromhex("73002030")}
"""`eret` and `mret`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a run took.

    Attributes:
        bytes: below the top of the stack, up to the last one without paint.
        finished: the code came to its end.
    """

    bytes: int
    finished: bool


def measure(image: Path, begin: str, end: str = "finished") -> Measured:
    """Run the function `begin` of an image until it is at `end`, or returns from an exception."""
    with image.open("rb") as file:
        elf = ELFFile(file)
        machine = elf["e_machine"]
        table = elf.get_section_by_name(".symtab")
        symbols = {each.name: each["st_value"] for each in table.iter_symbols()}  # type: ignore[union-attr]
        segments = [
            (each["p_vaddr"], each.data(), each["p_memsz"])
            for each in elf.iter_segments()
            if each["p_type"] == "PT_LOAD" and each["p_memsz"]
        ]
        bits = elf.elfclass
    mode = unicorn.UC_MODE_RISCV32 if bits == 32 else unicorn.UC_MODE_RISCV64
    machine_of: Any = unicorn
    engine = machine_of.Uc(*_MACHINES.get(machine, (_RISCV, mode)))
    engine.mem_map(0, 0x80000)
    for address, data, _ in segments:
        engine.mem_write(address, data)
    engine.mem_write(TOP - SIZE, bytes([PAINT]) * SIZE)
    stack, link = _REGISTERS[machine]
    thumb = machine == "EM_ARM"
    stop = symbols[end] & ~1 if thumb else symbols[end]
    engine.reg_write(stack, TOP)
    engine.reg_write(link, symbols[end])
    reached = [False]

    def watch(uc: Any, address: int, size: int, _: object) -> None:
        word = bytes(uc.mem_read(address, 4)) if size == 4 else b""
        if address == stop or word == _RETURNS.get(machine):
            reached[0] = True
            uc.emu_stop()

    engine.hook_add(unicorn.UC_HOOK_CODE, watch)
    engine.emu_start(symbols[begin] | thumb, 0x7FFFF, count=MOST)
    painted = bytes(engine.mem_read(TOP - SIZE, SIZE))
    untouched = len(painted) - len(painted.lstrip(bytes([PAINT])))
    return Measured(bytes=SIZE - untouched, finished=reached[0])
