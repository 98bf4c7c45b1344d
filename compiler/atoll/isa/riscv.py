# SPDX-License-Identifier: Apache-2.0
"""RISC-V: base, single-letter extensions in canonical order, bit manipulation, and vectors.

Names and order are those of the unprivileged specification, "ISA Extension Naming Conventions";
calling conventions those of the psABI. ``zve32x`` are vectors of integers of up to 32 bits, ``v``
those of application processors; ``zvlNb`` says that a vector register has N bits at least.
"""

import re

from atoll.isa.instruction_set import (
    MANY,
    Family,
    GccTarget,
    InstructionSet,
    LlvmTarget,
    Vectors,
    ZigTarget,
)

_BITS = r"(?:_zba)?(?:_zbb)?(?:_zbs)?"
_MOST = r"128|256|512|1024|2048|4096|8192|16384|32768|65536"
PATTERN = (
    rf"rv(?:(?:(?:32|64)(?:im?a?(?:fd?)?|g)|32em?a?)c?{_BITS}"
    rf"|(?:32|64)(?:im?a?(?:fd?)?|g)c?{_BITS}_zve32x(?:_zvl(?:32|64|{_MOST})b)?"
    rf"|(?:32|64)(?:im?afd|g)c?v{_BITS}(?:_zvl(?:{_MOST})b)?)"
)
USUAL = (
    *("rv32im", "rv32imc", "rv32imac", "rv32imc_zba_zbb_zbs"),
    *("rv32i", "rv32emc", "rv32imafc", "rv32imafdc_zve32x", "rv64imac", "rv64gc", "rv64gcv"),
)
_NAME = re.compile(PATTERN)
_PARTS = re.compile(r"rv(32|64)([eig])([a-z]*)((?:_[a-z0-9]+)*)")
_VECTORS = ("v", "zve32x")
_OWN_VECTORS = ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")
"""Compilers of C make no vectors by themselves: they would spill some, to frames whose size nobody
knows before the code runs."""


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
    vectors = Vectors.RVV if {*_VECTORS} & {*extensions} else Vectors.NONE
    convention = (
        f"-mabi={abi}",
        *(("-mcmodel=medany",) * (bits == 64)),
        *(_OWN_VECTORS if vectors is Vectors.RVV else ()),
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
            options=convention,
            emulation=f"elf{bits}lriscv",
            library="+".join((f"generic_rv{bits}", *passed, *every[len(extensions) :])),
        ),
        gcc=GccTarget(
            program="riscv64-unknown-elf-gcc",
            options=(f"-march={march}", *convention),
            library=(f"-march={first}{letters}", *convention),
        ),
        vectors=vectors,
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
    """Return the extensions without vectors, and floats that the calling convention does not pass.

    The compiler's run-time library is named by these: zig makes one whose convention passes all
    floats there are. GCC 12 compares whole names, without extensions of several letters; where it
    knows none it links the library of its own default without a word.
    """
    floats = {"f": "f", "d": "fd"}.get(abi[-1], "")
    scalar = (each for each in extensions if each != "v" and not each.startswith("zv"))
    return tuple(each for each in scalar if each not in ("f", "d") or each in floats)
