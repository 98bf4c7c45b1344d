"""RISC-V: base, single-letter extensions in canonical order, and bit manipulation.

Names and order are those of the unprivileged specification, "ISA Extension Naming Conventions";
calling conventions those of the psABI.
"""

import re

from atoll.isa.instruction_set import MANY, Family, GccTarget, InstructionSet, LlvmTarget, ZigTarget

PATTERN = r"rv(?:(?:32|64)(?:im?a?(?:fd?)?|g)|32em?a?)c?(?:_zba)?(?:_zbb)?(?:_zbs)?"
USUAL = (
    *("rv32im", "rv32imc", "rv32imac", "rv32imc_zba_zbb_zbs"),
    *("rv32i", "rv32emc", "rv32imafc", "rv64imac", "rv64gc"),
)
_NAME = re.compile(PATTERN)
_PARTS = re.compile(r"rv(32|64)([eig])([a-z]*)((?:_[a-z]+)*)")


def find(name: str, abi: str | None = None) -> InstructionSet | None:
    """Return the instruction set `name`; None if it is no RISC-V one, or has no such `abi`."""
    parts = _PARTS.fullmatch(name) if _NAME.fullmatch(name) else None
    if parts is None:
        return None
    bits, base = int(parts[1]), parts[2]
    extensions = (*("mafd" if base == "g" else ""), *parts[3], *parts[4].split("_")[1:])
    abis = _abis(bits, base, extensions)
    abi = abi or abis[0]
    if abi not in abis:
        return None
    every = (*extensions, *(("e",) if base == "e" else ()))
    march = f"rv{bits}{'e' if base == 'e' else 'i'}" + "".join(
        f"_{each}" if len(each) > 1 else each for each in (*extensions, "zicsr")
    )
    return InstructionSet(
        name=name,
        family=Family.RISCV,
        bits=bits,
        abi=abi,
        abis=abis,
        llvm=LlvmTarget(
            triple=f"riscv{bits}-unknown-none-elf",
            cpu=f"generic-rv{bits}",
            features=",".join(f"+{each}" for each in every),
            abi=abi,
            code_model="medium",
        ),
        zig=ZigTarget(
            target=f"riscv{bits}-freestanding-none",
            cpu="+".join((f"generic_rv{bits}", *every)),
            options=(f"-mabi={abi}", *(("-mcmodel=medany",) * (bits == 64))),
            emulation=f"elf{bits}lriscv",
        ),
        gcc=GccTarget(
            program="riscv64-unknown-elf-gcc",
            options=(f"-march={march}", f"-mabi={abi}", *(("-mcmodel=medany",) * (bits == 64))),
        ),
        registers=15 if base == "e" else MANY,
        multiplies="m" in extensions,
        selects="zbb" in extensions,
    )


def _abis(bits: int, base: str, extensions: tuple[str, ...]) -> tuple[str, ...]:
    if base == "e":
        return ("ilp32e",)
    plain = "ilp32" if bits == 32 else "lp64"
    return (*(f"{plain}{float}" for float in "df" if float in extensions), plain)
