# SPDX-License-Identifier: Apache-2.0
"""Choose the compiler and linker of a core: zig from PyPI, tools on the PATH, or the user's."""

import shutil
from pathlib import Path
from typing import Protocol

from atoll.diagnostics.errors import ToolchainError
from atoll.plugins.loading import load
from atoll.records import dataclass
from atoll.resolve.soc import Cpu

TOOLCHAINS = {
    "clang": "atoll.bsp.clang:Clang",
    "gcc": "atoll.bsp.gcc:Gcc",
    "zig": "atoll.bsp.zig:Zig",
}

COMMANDS = "atoll.bsp.commands:UserCommands"
"""The toolchain of a core with command lines of its own."""

SPEED, SIZE = "-O2", "-Os"
"""What compilers strive for."""

_FLAGS = (
    "-ffreestanding",
    "-fno-builtin",
    "-fomit-frame-pointer",
    "-fno-jump-tables",
    "-fno-stack-protector",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-ffunction-sections",
    "-fdata-sections",
    "-g0",
    "-Wall",
    "-Wextra",
    "-Werror",
)

LINK_FLAGS = (
    "-e",
    "atoll_reset",
    "-z",
    "max-page-size=4",
    "--gc-sections",
    "--orphan-handling=error",
    "--build-id=none",
)
"""What every linker is told."""


def c_flags(level: str) -> tuple[str, ...]:
    """Return what every compiler of the firmware is told, next to its target."""
    return ("-std=c99", level, *_FLAGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One linker run; all names are relative to `folder`.

    Attributes:
        objects: in link order.
        script: the linker script.
        elf: the image to write.
        map: the map to write.
        objects_folder: where a toolchain puts an object of its own.
    """

    folder: Path
    objects: tuple[str, ...]
    script: str
    elf: str
    map: str
    objects_folder: str = "obj"


class Toolchain(Protocol):
    """Compiles for one core and links; finds its own run-time library."""

    @property
    def identity(self) -> str:
        """Name, version and target: with the same `flags`, equal identities make equal bytes."""
        ...

    @property
    def flags(self) -> tuple[str, ...]:
        """What the compiler is told besides the names of source and object."""
        ...

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """Compile the C or assembly file `source` of `folder` into the object `target`.

        Raises:
            ToolchainError: E070, the tool is missing; E072, it refuses the source.
        """
        ...

    def link(self, link: Link) -> str:
        """Link; return "" if the image was written, else what the linker said."""
        ...


def find_toolchain(
    cpu: Cpu,
    override: str | None = None,
    definitions: tuple[str, ...] = (),
    level: str = SPEED,
) -> Toolchain:
    """Return the toolchain that the core asks for, or `override`, with macros such as ``NAME=1``.

    `level` is `SPEED` or `SIZE`.

    Raises:
        ToolchainError: E071, no such toolchain.
    """
    name = override or cpu.toolchain
    if name not in TOOLCHAINS:
        raise ToolchainError(
            "E071",
            f"there is no toolchain '{name}'",
            at=None if override else cpu.at,
            remedy=f"choose one of {', '.join(sorted(TOOLCHAINS))}",
        )
    if cpu.commands and not override:
        own: Toolchain = load(COMMANDS)(cpu.commands, definitions, level)
        return own
    toolchain: Toolchain = load(TOOLCHAINS[name])(cpu.instructions, definitions, level)
    return toolchain


def program(name: str, remedy: str) -> str:
    """Return the path of a program.

    Raises:
        ToolchainError: E070, it is not on the PATH.
    """
    found = shutil.which(name)
    if found is None:
        raise ToolchainError("E070", f"{name} is not on the PATH", remedy=remedy)
    return found


def compile_failed(source: str, log: str) -> ToolchainError:
    """Describe a source that the compiler refused; `log` is the end of what it said."""
    return ToolchainError(
        "E072",
        f"the compiler refused {source}:\n{log}",
        remedy="run `atoll doctor`; if all is well there, report this as a bug of Atoll",
    )
