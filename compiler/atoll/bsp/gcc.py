"""The GNU cross tools, when the user has them."""

import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from atoll.bsp.toolchain import C_FLAGS, LINK_FLAGS, Link, compile_failed
from atoll.errors import ToolchainError
from atoll.tools import run_tool, tail

PROGRAM = "riscv64-unknown-elf-gcc"


@dataclass(frozen=True)
class Gcc:
    """GCC and GNU ld for a RISC-V core.

    Attributes:
        extensions: those beyond ``rv32i``, such as ``m``, ``c`` and ``zba``.
        definitions: macros such as ``NAME=1``.
    """

    extensions: tuple[str, ...]
    definitions: tuple[str, ...] = ()

    @cached_property
    def identity(self) -> str:
        """See `atoll.bsp.toolchain.Toolchain.identity`."""
        version = run_tool((self._program, "-dumpfullversion"), folder=Path.cwd()).stdout.strip()
        return f"gcc {version} {self._isa}"

    @property
    def flags(self) -> tuple[str, ...]:
        """See `atoll.bsp.toolchain.Toolchain.flags`."""
        # GCC turns loops into calls of memset and memcpy even when it must not know them.
        macros = (f"-D{definition}" for definition in self.definitions)
        return (*self._target, *C_FLAGS, "-fno-tree-loop-distribute-patterns", *macros)

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """See `atoll.bsp.toolchain.Toolchain.compile`."""
        command = (self._program, *self.flags, "-c", source, "-o", str(target))
        done = run_tool(command, folder=folder)
        if done.returncode:
            raise compile_failed(source, tail(done.stderr))

    def link(self, link: Link) -> str:
        """See `atoll.bsp.toolchain.Toolchain.link`."""
        # -n: otherwise the ELF header becomes a part of the first segment, below its origin.
        flags = ",".join(("-Wl", *LINK_FLAGS, f"-Map={link.map}", "-n", "--no-warn-rwx-segments"))
        command = (
            *(self._program, *self._target, "-nostdlib", "-nostartfiles", "-static"),
            *(flags, "-T", link.script, "-o", link.elf, *link.objects, "-lgcc"),
        )
        done = run_tool(command, folder=link.folder)
        return done.stderr if done.returncode else ""

    @property
    def _target(self) -> tuple[str, str]:
        return f"-march={self._isa}", "-mabi=ilp32"

    @property
    def _isa(self) -> str:
        return "rv32i" + "".join(f"_{name}" if len(name) > 1 else name for name in self.extensions)

    @property
    def _program(self) -> str:
        program = shutil.which(PROGRAM)
        if program is None:
            raise ToolchainError(
                "E070",
                f"{PROGRAM} is not on the PATH",
                remedy="install the GNU tools for RISC-V, or use the toolchain zig",
            )
        return program
