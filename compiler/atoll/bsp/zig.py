# SPDX-License-Identifier: Apache-2.0
"""The default toolchain: clang and LLD of the ziglang wheel."""

from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from atoll.bsp.toolchain import LINK_FLAGS, SPEED, Link, c_flags, compile_failed
from atoll.diagnostics.progress import tell
from atoll.isa.instruction_set import InstructionSet, ZigTarget
from atoll.records import dataclass
from atoll.utils.children import Done
from atoll.utils.files import write_bytes
from atoll.utils.tools import cache_file, run_zig, tail, ziglang

_LIBRARY = "compiler_rt.o"
_NEEDED = "undefined symbol"


@dataclass(frozen=True)
class Zig:
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
        return f"zig {ziglang().version} {self._target.cpu}"

    @property
    def flags(self) -> tuple[str, ...]:
        """See `atoll.bsp.toolchain.Toolchain.flags`."""
        macros = (f"-D{definition}" for definition in self.definitions)
        return (*self._machine, *self._target.options, *c_flags(self.level), *macros)

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """See `atoll.bsp.toolchain.Toolchain.compile`."""
        done = run_zig("cc", *self.flags, "-c", source, "-o", str(target), folder=folder)
        if done.returncode:
            raise compile_failed(source, tail(done.stderr))

    def link(self, link: Link) -> str:
        """See `atoll.bsp.toolchain.Toolchain.link`."""
        return self.link_by(lambda words: run_zig("ld.lld", *words, folder=link.folder), link)

    def link_by(self, lld: Callable[[Sequence[str]], Done], link: Link) -> str:
        """Have `lld` link, with the run-time library only if an object needs it.

        Few images do, and to build it takes seconds.
        """
        words = [*self.link_flags, "-T", link.script, f"-Map={link.map}", "-o", link.elf]
        done = lld([*words, *link.objects])
        if _NEEDED in done.stderr:
            done = lld([*words, *link.objects, self.put_library(link)])
        return done.stderr if done.returncode else ""

    @property
    def link_flags(self) -> tuple[str, ...]:
        """What LLD is told, without files."""
        return ("-m", self._target.emulation, *LINK_FLAGS)

    def put_library(self, link: Link) -> str:
        """Put the compiler's run-time library beside the objects; return its name.

        Raises:
            ToolchainError: E070, zig is missing; E072, it refuses the library.
        """
        name = f"{link.objects_folder}/{_LIBRARY}"
        write_bytes(link.folder / name, self.library())
        return name

    def library(self) -> bytes:
        """Return the compiler's run-time library as one object, from the cache if it was built.

        Raises:
            ToolchainError: E070, zig is missing; E072, it refuses the library.
        """
        parts = "\0".join((self.identity, *self._library_flags))
        kept = f"objects/{sha256(parts.encode()).hexdigest()}-{_LIBRARY}"
        return cache_file(kept, self._build_library).read_bytes()

    @property
    def _target(self) -> ZigTarget:
        return self.instructions.zig

    @property
    def _machine(self) -> tuple[str, ...]:
        return ("-target", self._target.target, f"-mcpu={self._target.cpu}")

    @property
    def _library_flags(self) -> tuple[str, ...]:
        cpu = self._target.library or self._target.cpu
        return (
            *("-target", self._target.target, f"-mcpu={cpu}", "-OReleaseFast", "-fstrip"),
            *("-fno-unwind-tables", "-ffunction-sections", "-fdata-sections"),
        )

    def _build_library(self, target: Path) -> None:
        """Build the compiler's run-time library as one object; some seconds, once per machine."""
        tell("building the compiler's run-time library, kept for later builds")
        source = ziglang().locate_file("ziglang/lib/compiler_rt.zig")
        done = run_zig(
            *("build-obj", str(source), *self._library_flags),
            *("--name", "compiler_rt", f"-femit-bin={target}"),
            folder=target.parent,
        )
        if done.returncode:
            raise compile_failed("compiler_rt.zig", tail(done.stderr))
