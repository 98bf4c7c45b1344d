# SPDX-License-Identifier: Apache-2.0
"""Find out whether the tools that Atoll runs are there and work."""

import os
import platform
import shutil
import sys
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from atoll.bsp.gcc import Gcc
from atoll.bsp.toolchain import Link, Toolchain
from atoll.bsp.zig import Zig
from atoll.diagnostics.errors import AtollError
from atoll.isa.find import instruction_set
from atoll.plugins.loading import foreign_code
from atoll.records import dataclass
from atoll.utils.scratch import temporary_folder
from atoll.utils.tools import run_tool

_LEAST_PYTHON = (3, 11)
_PLUGINS = "atoll.doctor"
_CORE = instruction_set("rv32imc")

_TINY_SOURCE = "int atoll_reset(long long a, long long b) { return (int)(a / b); }\n"
_TINY_SCRIPT = """SECTIONS {
  .text 0 : { *(.text .text.* .rodata .rodata.* .srodata .srodata.*) }
  .riscv.attributes 0 : { *(.riscv.attributes) }
  .symtab 0 : { *(.symtab) }
  .strtab 0 : { *(.strtab) }
  .shstrtab 0 : { *(.shstrtab) }
  /DISCARD/ : { *(.comment .data* .sdata* .bss* .sbss* .debug_* .eh_frame .llvm_addrsig .note.*) }
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that Atoll needs from the machine.

    Attributes:
        name: what was looked for.
        ok: it is there and works.
        found: version and place, or what is wrong.
        remedy: what to do if it is not ok.
        required: Atoll cannot do its job without it.
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""
    required: bool = True

    def as_json(self) -> dict[str, str | bool]:
        """Return the fields by name."""
        return asdict(self)

    def __str__(self) -> str:
        mark = "ok     " if self.ok else "missing" if self.required else "no     "
        line = f"{mark} {self.name}: {self.found}"
        return line if self.ok or not self.remedy else f"{line}\n        help: {self.remedy}"


def diagnose() -> tuple[Check, ...]:
    """Check everything; entry points of the group ``atoll.doctor`` add checks of their own.

    Such an entry point is a function without parameters that returns an iterable of `Check`.
    """
    own = (
        _python(),
        _cross("zig: firmware", Zig(_CORE), "reinstall it: pip install --force-reinstall ziglang"),
        _gnu(),
        _program("C++ compiler", (os.environ.get("CXX", ""), "c++", "g++", "clang++"), "g++"),
        _program("make", ("make", "gmake"), "make"),
        _program("perl", ("perl",), "perl"),
    )
    points = sorted(entry_points(group=_PLUGINS), key=lambda point: point.name)
    return (*own, *(check for point in points for check in _run_plug_in(point)))


def _run_plug_in(point: EntryPoint) -> Iterable[Check]:
    """Return the checks of a plug-in, or the one that it is broken."""
    try:
        with foreign_code(f"plug-in '{point.value}' of {_PLUGINS} failed"):
            checks = tuple(point.load()())
    except AtollError as error:
        return (_broken_plug_in(point, error.faults[0].message),)
    if odd := [check for check in checks if not isinstance(check, Check)]:
        return (_broken_plug_in(point, f"'{point.value}' yields {odd[0]!r:.80}, no Check"),)
    return checks


def _broken_plug_in(point: EntryPoint, found: str) -> Check:
    package = point.dist.name if point.dist else point.value
    remedy = f"correct or remove the package '{package}'"
    return Check(name=f"plug-in {point.name}", ok=False, found=found, remedy=remedy)


def _python() -> Check:
    return Check(
        name="Python",
        ok=sys.version_info >= _LEAST_PYTHON,
        found=f"{platform.python_version()}, {sys.executable}",
        remedy=f"use Python {'.'.join(map(str, _LEAST_PYTHON))} or newer",
    )


def _gnu() -> Check:
    """Look for the GNU cross tools, which only `--toolchain gcc` needs."""
    remedy = "only --toolchain gcc needs it: install the GNU tools for RISC-V"
    return _cross("gcc: firmware", Gcc(_CORE), remedy, required=False)


def _cross(name: str, toolchain: Toolchain, remedy: str, *, required: bool = True) -> Check:
    """Compile and link a program of one line."""
    try:
        log = _link_tiny(toolchain)
        ok, found = not log, log.strip() or toolchain.identity
    except AtollError as error:
        ok, found = False, "; ".join(fault.message for fault in error.faults)
    return Check(name=name, ok=ok, found=found, remedy=remedy, required=required)


def _link_tiny(toolchain: Toolchain) -> str:
    with temporary_folder() as folder:
        (folder / "obj").mkdir()
        (folder / "tiny.c").write_text(_TINY_SOURCE)
        (folder / "tiny.ld").write_text(_TINY_SCRIPT)
        toolchain.compile("tiny.c", folder / "tiny.o", folder=folder)
        objects = ("tiny.o",)
        return toolchain.link(
            Link(folder=folder, objects=objects, script="tiny.ld", elf="tiny", map="tiny.map")
        )


def _program(name: str, candidates: Iterable[str], package: str) -> Check:
    """Look for the first of `candidates` on the PATH that tells its version."""
    for candidate in filter(None, candidates):
        if path := shutil.which(candidate):
            said = run_tool((path, "--version"), folder=Path.cwd()).stdout.strip().splitlines()
            version = next((line for line in said if line), "unknown version")
            return Check(name=name, ok=True, found=f"{version}, {path}")
    remedy = f"install the package '{package}' of your system; the simulator is built with it"
    return Check(name=name, ok=False, found="not on the PATH", remedy=remedy)
