# SPDX-License-Identifier: Apache-2.0
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
    first = f"rv{bits}{'e' if base == 'e' else 'i'}"
    march = first + "".join(
        f"_{each}" if len(each) > 1 else each for each in (*extensions, "zicsr")
    )
    passed = _passed_extensions(extensions, abi)
    letters = "".join(each for each in passed if len(each) == 1)
    convention = (f"-mabi={abi}", *(("-mcmodel=medany",) * (bits == 64)))
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
            options=convention,
            emulation=f"elf{bits}lriscv",
            library="+".join((f"generic_rv{bits}", *passed, *every[len(extensions) :])),
        ),
        gcc=GccTarget(
            program="riscv64-unknown-elf-gcc",
            options=(f"-march={march}", *convention),
            library=(f"-march={first}{letters}", *convention),
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


def _passed_extensions(extensions: tuple[str, ...], abi: str) -> tuple[str, ...]:
    """Return the extensions without floats that the calling convention does not pass.

    The compiler's run-time library is named by these: zig makes one whose convention passes all
    floats there are. GCC 12 compares whole names, without extensions of several letters; where it
    knows none it links the library of its own default without a word.
    """
    floats = {"f": "f", "d": "fd"}.get(abi[-1], "")
    return tuple(each for each in extensions if each not in ("f", "d") or each in floats)
