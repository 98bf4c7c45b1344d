# SPDX-License-Identifier: Apache-2.0
"""What a core traps on though Unicorn would run it: what it lacks, what is off, what is closed.

The hooks (iss.cpp) hold every block and access against these rules.
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Protocol

from atoll.bsp.core_images import image_cores
from atoll.isa.instruction_set import Family
from atoll.records import dataclass
from atoll.resolve.soc import Cpu, ResolvedSoc

READ, WRITE, RUN = 1, 2, 4
MULTIPLIES, ATOMICS, FLOATS, DOUBLES, COMPRESSED, DSP, MACHINE = (1 << bit for bit in range(7))
_LETTERS = {"m": MULTIPLIES, "a": ATOMICS, "f": FLOATS, "d": DOUBLES, "c": COMPRESSED}


class Why(IntEnum):
    """Why an access was not made, or an instruction not run; the order of iss.h."""

    FIREWALL = 0
    MISALIGNED = 1
    PROTECTED = 2
    FLOATS_OFF = 3
    MISSING = 4


@dataclass(frozen=True, slots=True)
class Span:
    """Addresses from `first` to `last`, and what may be done there."""

    first: int
    last: int
    rights: int


class Rules(Protocol):
    """What a system tells the hooks."""

    def let_floats(self, *, on: bool) -> None:
        """Let the core run instructions on floating-point registers, or not."""
        ...

    def align_all(self, *, on: bool) -> None:
        """Have the core trap on every misaligned access, or only as its kind always does."""
        ...

    def protect(self, spans: Sequence[Span], rest: int, *, whole: bool) -> None:
        """Hold accesses against spans; see `IssModel.protect`."""
        ...


def extensions_of(cpu: Cpu) -> int:
    """Return the bits of what a core has, of what instructions need."""
    if cpu.instructions.family is Family.THUMB:
        base, *parts = cpu.isa.split("+")
        found = DSP if base == "armv7e-m" or "dsp" in parts or "mve" in parts else 0
        found |= FLOATS if {"fp", "fp.dp"} & {*parts} else 0
        return found | (DOUBLES if "fp.dp" in parts else 0)
    letters = cpu.isa.split("_")[0][4:].replace("g", "imafd")
    found = sum(bit for letter, bit in _LETTERS.items() if letter in letters)
    return found | (0 if cpu.spec.controller == "picorv32" else MACHINE)


def not_modelled(soc: ResolvedSoc) -> tuple[str, ...]:
    """Return what cores with firmware do that this simulation of them does not (docs/iss.md)."""
    return tuple(f"{cpu.name}: {what}" for cpu in image_cores(soc) for what in _not_modelled(cpu))


def _not_modelled(cpu: Cpu) -> Iterator[str]:
    if cpu.spec.misaligned is None:
        yield f"misaligned accesses work, as '{cpu.spec.name}' does not say what they do"
    if cpu.spec.controller == "picorv32":
        yield "an error is no interrupt"
    elif cpu.instructions.family is Family.RISCV:
        yield "there is no user mode"
        yield "every CSR is there"
    else:
        yield "interrupts are not taken"
        yield "all code is privileged"
        yield "code runs everywhere that no MPU closes"
        if cpu.isa.startswith("armv8"):
            yield "there are no stack limits and no Security Extension"
        if extensions_of(cpu) & FLOATS:
            yield "exception frames have no floating-point registers"
