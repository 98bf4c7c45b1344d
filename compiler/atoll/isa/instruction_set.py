# SPDX-License-Identifier: Apache-2.0
"""An instruction set with its calling convention, in the words of each tool."""

from dataclasses import replace
from enum import StrEnum

from atoll.records import dataclass


class Family(StrEnum):
    """Whose machine code it is."""

    RISCV = "riscv"
    THUMB = "thumb"
    ARM = "arm"
    AARCH64 = "aarch64"
    HEXAGON = "hexagon"
    X86 = "x86"


class Vectors(StrEnum):
    """What multiplies several int8 numbers at once."""

    NONE = "none"
    DSP = "dsp"
    MVE = "mve"
    RVV = "rvv"
    """RISC-V's, of any length."""
    UNIT = "unit"
    """A function unit beside the core, words that are aligned."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What a core makes sums of products with.

    Attributes:
        vectors: what multiplies several numbers at once.
        registers: that its instructions take for numbers and addresses. Where LLVM keeps sums in
            vectors, these are not what there is too few of, and `MANY` stands for them.
        multiplies: has an instruction for it.
    """

    vectors: Vectors
    registers: int
    multiplies: bool = True

    def compact(self) -> "Arithmetic":
        """Return the same for code that shall be small: fewer sums are made together."""
        return replace(self, registers=min(self.registers, FEW))


FEW = 8
"""Registers for which the shortest loops are made."""

MANY = 31
"""Registers of the instruction sets that have the most."""

SCALAR = Arithmetic(Vectors.NONE, MANY)
"""A core that multiplies number by number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlvmTarget:
    """Triple, processor, features, ABI, relocation and code model in LLVM's terms."""

    triple: str
    cpu: str
    features: str = ""
    abi: str = ""
    relocation: str = "static"
    code_model: str = "small"

    @property
    def kernel_features(self) -> str:
        """The features with which kernels are made: of RISC-V's vectors the least.

        Loop programs make all vectors. Of a core with longer ones LLVM would make some of plain
        loops too, and fill and copy memory with others; it keeps them in registers over calls and
        spills them, to frames whose size nobody knows before the code runs.
        """
        words = ("+zve32x" if each == "+v" else each for each in self.features.split(","))
        return ",".join(each for each in words if not each.startswith("+zvl"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ZigTarget:
    """The target of `zig cc`.

    Attributes:
        target: such as ``riscv32-freestanding-none``.
        cpu: with features, such as ``generic_rv32+m+c``.
        options: more flags for C.
        emulation: what LLD calls its output; "" where Atoll links no firmware.
        library: likewise of the run-time library; "" for the same.
    """

    target: str
    cpu: str
    options: tuple[str, ...] = ()
    emulation: str = ""
    library: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GccTarget:
    """A GNU cross compiler.

    Attributes:
        program: its name.
        options: that make code for the core.
        library: that choose its run-time library; none if `options` do.
    """

    program: str
    options: tuple[str, ...]
    library: tuple[str, ...] = ()


def passes_integers_alike(one: str, other: str) -> bool:
    """Tell whether two calling conventions differ at most in where floats are passed.

    RISC-V's are named by that, behind a common name; of Arm's the one has floats in registers of
    their own (RISC-V ELF psABI, "Named ABIs"; Procedure Call Standard for the Arm Architecture,
    6.1).
    """
    return _without_floats(one) == _without_floats(other)


def _without_floats(abi: str) -> str:
    plain = abi.removesuffix("-vfp")
    return plain.rstrip("fd") if plain.startswith(("ilp32", "lp64")) else plain


_IMPLIED = {
    "+d": ("+f",),
    "+mve.fp": ("+mve",),
    "+mve": ("+dsp",),
    "+fp-armv8d16": ("+fp-armv8d16sp", "+vfp4d16sp"),
    "+v": ("+zve32x", "+zvl128b"),
    "+zve32x": ("+zvl32b",),
    **{f"+zvl{2 * bits}b": (f"+zvl{bits}b",) for bits in (2**n for n in range(5, 16))},
}
"""What LLVM's features bring besides themselves."""


def _close(features: str) -> frozenset[str]:
    left, found = features.split(",") if features else [], set[str]()
    while left:
        feature = left.pop()
        found.add(feature)
        left += _IMPLIED.get(feature, ())
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionSet:
    """An instruction set with one of its calling conventions.

    Attributes:
        name: as a description writes it, such as ``rv32imc`` or ``armv8-m.main+dsp``.
        family: whose machine code it is.
        bits: of an address.
        abi: the calling convention, such as ``ilp32`` or ``aapcs``.
        abis: all that it may have, the usual one first.
        llvm: what compiles operators.
        zig: what compiles C and links, from PyPI.
        gcc: likewise, the GNU cross tools; None where no common package brings them.
        vectors: what operators' sums of products are laid out for.
        registers: that its instructions take for numbers and addresses.
        multiplies: has an instruction for it.
        selects: whether it chooses one of two values without a branch.
    """

    name: str
    family: Family
    bits: int
    abi: str
    abis: tuple[str, ...]
    llvm: LlvmTarget
    zig: ZigTarget
    gcc: GccTarget | None = None
    vectors: Vectors = Vectors.NONE
    registers: int = MANY
    multiplies: bool = True
    selects: bool = True

    def includes(self, other: "InstructionSet") -> bool:
        """Tell whether a core of this instruction set executes all of another one."""
        ours, theirs = self.llvm, other.llvm
        same = (ours.triple, ours.cpu) == (theirs.triple, theirs.cpu)
        return same and _close(theirs.features) <= _close(ours.features)
