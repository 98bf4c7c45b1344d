# SPDX-License-Identifier: Apache-2.0
"""Clang and LLD, when the user has them; the run-time library is zig's."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from atoll.bsp.toolchain import SPEED, Link, c_flags, compile_failed, program
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.instruction_set import Family, InstructionSet
from atoll.records import dataclass
from atoll.utils.tools import run_tool, tail

_REMEDY = "install clang and lld, or use the toolchain zig"


@dataclass(frozen=True)
class Clang:
    """Clang and LLD for a core.

    Attributes:
        instructions: of the core.
        definitions: macros such as ``NAME=1``.
        level: what it strives for.
    """

    instructions: InstructionSet
    definitions: tuple[str, ...] = ()
    level: str = SPEED

    @cached_property
    def identity(self) -> str:
        """See `atoll.bsp.toolchain.Toolchain.identity`."""
        said = run_tool((program("clang", _REMEDY), "--version"), folder=Path.cwd()).stdout
        return f"{said.partition(chr(10))[0].strip()} {' '.join(self._machine)}"

    @property
    def flags(self) -> tuple[str, ...]:
        """See `atoll.bsp.toolchain.Toolchain.flags`."""
        macros = (f"-D{definition}" for definition in self.definitions)
        return (*self._machine, *c_flags(self.level), *macros)

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """See `atoll.bsp.toolchain.Toolchain.compile`."""
        command = (program("clang", _REMEDY), *self.flags, "-c", source, "-o", str(target))
        done = run_tool(command, folder=folder)
        if done.returncode:
            raise compile_failed(source, tail(done.stderr))

    def link(self, link: Link) -> str:
        """See `atoll.bsp.toolchain.Toolchain.link`."""
        lld = program("ld.lld", _REMEDY)
        return Zig(self.instructions).link_by(
            lambda words: run_tool((lld, *words), folder=link.folder), link
        )

    @property
    def _machine(self) -> tuple[str, ...]:
        gcc = self.instructions.gcc
        if gcc is None:
            raise ToolchainError(
                "E071",
                f"this Atoll has no options of clang for '{self.instructions.name}'",
                remedy="use the toolchain zig",
            )
        target = f"--target={self.instructions.llvm.triple}"
        if self.instructions.family is Family.RISCV:
            # LLVM has the instructions of Zicsr in every base, and older versions refuse its name;
            # LLD learnt to relax later than clang learnt to ask for it.
            options = (option.replace("_zicsr", "") for option in gcc.options)
            return (target, *options, "-mno-relax")
        named = (option for option in gcc.options if not option.startswith("-march="))
        return (target, *named, *_features(self.instructions))


def _features(instructions: InstructionSet) -> Iterator[str]:
    """Yield options for features whose names for -march differ between compilers.

    With floats in integer registers clang takes an architecture with MVE for one that has a
    floating-point unit, even where MVE has integers alone.
    """
    features = [feature for feature in instructions.llvm.features.split(",") if feature]
    if "+mve" in features and not any(each.startswith("+fp-armv8") for each in features):
        features.append("-vfp2sp")
    for feature in features:
        yield from ("-Xclang", "-target-feature", "-Xclang", feature)
