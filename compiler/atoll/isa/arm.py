# SPDX-License-Identifier: Apache-2.0
"""Arm: M-profile cores in Thumb, and A-profile cores in both states, by GCC's names for -march.

Objects of operators pass no floats, so they fit code of either floating-point convention
(`atoll.codegen.arm_attributes`).
"""

import re

from atoll.isa.instruction_set import (
    Family,
    GccTarget,
    InstructionSet,
    LlvmTarget,
    Vectors,
    ZigTarget,
)

_FLOATS = r"(?:\+fp(?:\.dp)?)?"
PATTERN = "|".join(
    (
        r"armv6-m",
        r"armv7-m",
        rf"armv7e-m{_FLOATS}",
        r"armv8-m\.base",
        rf"armv8-m\.main(?:\+dsp)?{_FLOATS}",
        rf"armv8\.1-m\.main(?:\+dsp)?(?:\+mve(?:\.fp)?)?{_FLOATS}",
        r"armv8-a",
        r"aarch64",
    )
)
USUAL = (
    *("armv6-m", "armv7-m", "armv7e-m+fp", "armv7e-m+fp.dp", "armv8-m.main+dsp"),
    *("armv8-m.main+dsp+fp", "armv8.1-m.main+mve", "armv8-a", "aarch64"),
)
SOFT, HARD = "aapcs", "aapcs-vfp"

_NAME = re.compile(PATTERN)
_THUMB = {
    "armv6-m": ("thumbv6m", "cortex_m0plus"),
    "armv7-m": ("thumbv7m", "cortex_m3"),
    "armv7e-m": ("thumbv7em", "cortex_m4"),
    "armv8-m.base": ("thumbv8m.base", "cortex_m23"),
    "armv8-m.main": ("thumbv8m.main", "cortex_m33"),
    "armv8.1-m.main": ("thumbv8.1m.main", "cortex_m55"),
}
"""LLVM's name of the architecture, and zig's of a core that has it."""

_FEATURES = {"dsp": "dsp", "mve": "mve", "mve.fp": "mve.fp"}
_FLOAT_UNITS = {
    ("armv7e-m", "fp"): "vfp4d16sp",
    ("armv8-m.main", "fp"): "fp-armv8d16sp",
    ("armv8.1-m.main", "fp"): "fp-armv8d16sp",
}
_DOUBLE_UNIT = "fp-armv8d16"
_VECTORS = (("mve", Vectors.MVE), ("dsp", Vectors.DSP))
"""By feature, what is more first."""

_ALL, _LOW = 14, 8
"""Registers of Thumb, the program counter and the stack's pointer apart."""

_LOW_ALONE = ("armv6-m", "armv8-m.base")
"""Architectures most of whose instructions take eight registers."""

_ABSENT = ("dsp", "mve", "vfp2sp", "fp64")
"""What zig's cores may have, and an architecture without a feature has not."""


def find(name: str, abi: str | None = None) -> InstructionSet | None:
    """Return the instruction set `name`; None if it is no Arm one, or has no such `abi`."""
    if not _NAME.fullmatch(name):
        return None
    if name == "aarch64":
        return _aarch64(name, abi)
    architecture, *extensions = name.split("+")
    floats = any(each.startswith("fp") for each in extensions) or name == "armv8-a"
    abis = (HARD, SOFT) if floats else (SOFT,)
    abi = abi or abis[0]
    if abi not in abis:
        return None
    made = _arm if name == "armv8-a" else _thumb
    return made(name, architecture, extensions, abi, abis)


def _thumb(
    name: str, architecture: str, extensions: list[str], abi: str, abis: tuple[str, ...]
) -> InstructionSet:
    triple, core = _THUMB[architecture]
    features = [_feature(architecture, each) for each in extensions]
    dropped = [each for each in _ABSENT if not any(_has(each, have) for have in features)]
    if architecture == "armv7e-m":
        dropped.remove("dsp")
    hard = abi == HARD
    return InstructionSet(
        name=name,
        family=Family.THUMB,
        bits=32,
        abi=abi,
        abis=abis,
        llvm=LlvmTarget(
            triple=f"{triple}-unknown-none-eabi",
            cpu="generic",
            features=",".join(f"+{each}" for each in features),
        ),
        zig=ZigTarget(
            target=f"thumb-freestanding-eabi{'hf' if hard else ''}",
            cpu="".join((core, *(f"-{e}" for e in dropped), *(f"+{e}" for e in features)))
            .replace("fp-armv8", "fp_armv8")
            .replace(".", "_"),
            emulation="armelf",
        ),
        gcc=GccTarget(
            program="arm-none-eabi-gcc",
            options=(
                *("-mthumb", f"-march={name}"),
                f"-mfloat-abi={'hard' if hard else _soft(extensions)}",
            ),
        ),
        registers=_LOW if architecture in _LOW_ALONE else _ALL,
        vectors=next((have for each, have in _VECTORS if each not in dropped), Vectors.NONE),
    )


def _soft(extensions: list[str]) -> str:
    """Return GCC's word for floats in integer registers: with `soft` it has no MVE either."""
    return "softfp" if any(each.startswith("mve") for each in extensions) else "soft"


def _feature(architecture: str, extension: str) -> str:
    if extension == "fp.dp":
        return _DOUBLE_UNIT
    return _FEATURES.get(extension) or _FLOAT_UNITS[architecture, extension]


def _has(absent: str, feature: str) -> bool:
    """Tell whether a feature brings what would be left out."""
    if absent == "vfp2sp":
        return feature.startswith(("vfp", "fp", "mve.fp"))
    if absent == "fp64":
        return feature == _DOUBLE_UNIT
    return feature.startswith(absent) or (absent == "dsp" and feature.startswith("mve"))


def _arm(
    name: str, architecture: str, _extensions: list[str], abi: str, abis: tuple[str, ...]
) -> InstructionSet:
    hard = abi == HARD
    return InstructionSet(
        name=name,
        family=Family.ARM,
        bits=32,
        abi=abi,
        abis=abis,
        llvm=LlvmTarget(triple="armv8a-unknown-none-eabi", cpu="generic", features="+neon"),
        zig=ZigTarget(target=f"arm-freestanding-eabi{'hf' if hard else ''}", cpu="cortex_a32"),
        gcc=GccTarget(
            program="arm-none-eabi-gcc",
            options=(
                *("-marm", f"-march={architecture}+simd"),
                *(f"-mfloat-abi={'hard' if hard else 'soft'}",),
            ),
        ),
    )


def _aarch64(name: str, abi: str | None) -> InstructionSet | None:
    if abi not in (None, "aapcs64"):
        return None
    return InstructionSet(
        name=name,
        family=Family.AARCH64,
        bits=64,
        abi="aapcs64",
        abis=("aapcs64",),
        llvm=LlvmTarget(triple="aarch64-unknown-none-elf", cpu="generic"),
        zig=ZigTarget(target="aarch64-freestanding-none", cpu="generic", emulation="aarch64elf"),
        gcc=GccTarget(program="aarch64-linux-gnu-gcc", options=()),
    )
