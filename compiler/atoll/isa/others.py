# SPDX-License-Identifier: Apache-2.0
"""Hexagon, and x86-64 hosts."""

import re

from atoll.isa.instruction_set import Family, InstructionSet, LlvmTarget, ZigTarget

PATTERN = r"hexagonv(?:60|62|65|66|67|68|69|71|73)|x86-64(?:-v[234])?"
USUAL = ("hexagonv68", "x86-64")
_NAME = re.compile(PATTERN)


def find(name: str, abi: str | None = None) -> InstructionSet | None:
    """Return the instruction set `name`; None if it is not one of these, or has no such `abi`."""
    if not _NAME.fullmatch(name):
        return None
    found = _x86(name) if name.startswith("x86") else _hexagon(name)
    return found if abi in (None, found.abi) else None


def _hexagon(name: str) -> InstructionSet:
    return InstructionSet(
        name=name,
        family=Family.HEXAGON,
        bits=32,
        abi="hexagon",
        abis=("hexagon",),
        llvm=LlvmTarget(triple="hexagon-unknown-none-elf", cpu=name),
        zig=ZigTarget(target="hexagon-freestanding-none", cpu=name),
    )


def _x86(name: str) -> InstructionSet:
    return InstructionSet(
        name=name,
        family=Family.X86,
        bits=64,
        abi="sysv",
        abis=("sysv",),
        # Programs of hosts are loaded anywhere.
        llvm=LlvmTarget(triple="x86_64-unknown-none-elf", cpu=name, relocation="pic"),
        zig=ZigTarget(
            target="x86_64-freestanding-none", cpu=name.replace("-", "_"), options=("-fPIC",)
        ),
    )
