# SPDX-License-Identifier: Apache-2.0
"""The user's own compiler and linker, by the command lines of a description."""

import shlex
import shutil
from collections.abc import Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from atoll.bsp.toolchain import LINK_FLAGS, SPEED, Link, c_flags, compile_failed
from atoll.diagnostics.errors import ToolchainError
from atoll.records import dataclass
from atoll.resolve.soc import Commands
from atoll.utils.tools import run_tool, tail


@dataclass(frozen=True)
class UserCommands:
    """Two command lines, in whose words names stand in braces.

    Attributes:
        commands: of the core.
        definitions: macros such as ``NAME=1``.
        level: what it strives for.
    """

    commands: Commands
    definitions: tuple[str, ...] = ()
    level: str = SPEED

    @cached_property
    def identity(self) -> str:
        """See `atoll.bsp.toolchain.Toolchain.identity`: the programs are told by their bytes."""
        programs = (_program(line) for line in (self.commands.compile, self.commands.link))
        sums = (f"{path.name} {sha256(path.read_bytes()).hexdigest()[:12]}" for path in programs)
        return ", ".join(dict.fromkeys(sums))

    @property
    def flags(self) -> tuple[str, ...]:
        """See `atoll.bsp.toolchain.Toolchain.flags`."""
        return tuple(_fill_in(self.commands.compile, self._compiler_words))

    def compile(self, source: str, target: Path, *, folder: Path) -> None:
        """See `atoll.bsp.toolchain.Toolchain.compile`."""
        words = {**self._compiler_words, "source": (source,), "object": (str(target),)}
        done = run_tool(tuple(_fill_in(self.commands.compile, words)), folder=folder)
        if done.returncode:
            raise compile_failed(source, tail(done.stderr or done.stdout))

    def link(self, link: Link) -> str:
        """See `atoll.bsp.toolchain.Toolchain.link`."""
        words = {
            "flags": LINK_FLAGS,
            "script": (link.script,),
            "map": (link.map,),
            "elf": (link.elf,),
            "objects": link.objects,
        }
        done = run_tool(tuple(_fill_in(self.commands.link, words)), folder=link.folder)
        if done.returncode:
            return done.stderr or done.stdout or f"the linker ended with {done.returncode}"
        return ""

    @property
    def _compiler_words(self) -> Mapping[str, tuple[str, ...]]:
        macros = tuple(f"-D{definition}" for definition in self.definitions)
        return {"flags": (*c_flags(self.level), *macros), "definitions": macros}


def _fill_in(line: str, words: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield the words of a command line with its names replaced.

    A name that is a word of its own becomes as many words as it has values; one inside a word
    becomes one text, its values with commas between, as ``-Wl,`` takes them.
    """
    for each in shlex.split(line):
        if each[:1] == "{" and each[1:-1] in words:
            yield from words[each[1:-1]]
            continue
        for name, values in words.items():
            each = each.replace(f"{{{name}}}", ",".join(values))
        yield each


def _program(line: str) -> Path:
    name = shlex.split(line)[0]
    found = shutil.which(name)
    if found is None:
        raise ToolchainError(
            "E070",
            f"{name} is not on the PATH",
            remedy="install it, or correct the name in 'commands'",
        )
    return Path(found)
