# SPDX-License-Identifier: Apache-2.0
"""The GNU cross tools, when the user has them."""

from functools import cached_property
from pathlib import Path

from atoll.bsp.toolchain import LINK_FLAGS, SPEED, Link, c_flags, compile_failed, program
from atoll.diagnostics.errors import ToolchainError
from atoll.isa.instruction_set import GccTarget, InstructionSet
from atoll.records import dataclass
from atoll.utils.tools import run_tool, tail

LIBRARY = "-lgcc"


@dataclass(frozen=True)
class Gcc:
    """GCC and GNU ld for a core.

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
        version = run_tool((self._program, "-dumpfullversion"), folder=Path.cwd()).stdout.strip()
        return f"gcc {version} {' '.join(self._target.options)}"

    @property
    def flags(self) -> tuple[str, ...]:
        """See `atoll.bsp.toolchain.Toolchain.flags`."""
        # GCC turns loops into calls of memset and memcpy even when it must not know them.
        macros = (f"-D{definition}" for definition in self.definitions)
        return (
            *self._target.options,
            *c_flags(self.level),
            "-fno-tree-loop-distribute-patterns",
            *macros,
        )

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """See `atoll.bsp.toolchain.Toolchain.compile`."""
        command = (self._program, *self.flags, "-c", source, "-o", str(target))
        done = run_tool(command, folder=folder)
        if done.returncode:
            raise compile_failed(source, tail(done.stderr))

    def link(self, link: Link) -> str:
        """See `atoll.bsp.toolchain.Toolchain.link`."""
        command = (
            *(self._program, *self.link_flags, f"-Wl,-Map={link.map}"),
            *("-T", link.script, "-o", link.elf, *link.objects, LIBRARY),
        )
        done = run_tool(command, folder=link.folder)
        return done.stderr if done.returncode else ""

    @property
    def link_flags(self) -> tuple[str, ...]:
        """What GCC is told when it links, without files."""
        # -n: otherwise the ELF header becomes a part of the first segment, below its origin.
        quiet = ("--no-warn-rwx-segments", "-z", "noexecstack")
        machine = self._target.library or self._target.options
        driver = (*machine, "-nostdlib", "-nostartfiles", "-static")
        return (*driver, ",".join(("-Wl", *LINK_FLAGS, "-n", *quiet)))

    @property
    def _target(self) -> GccTarget:
        target = self.instructions.gcc
        if target is None:
            raise ToolchainError(
                "E071",
                f"no GNU tools compile for '{self.instructions.name}'",
                remedy="use the toolchain zig",
            )
        return target

    @property
    def _program(self) -> str:
        remedy = "install the GNU tools for the core, or use the toolchain zig"
        return program(self._target.program, remedy)
