# SPDX-License-Identifier: Apache-2.0
"""Let Verilator elaborate a chip without building it."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from atoll.diagnostics.errors import Fault, SimulationError, SourceLoc
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.scratch import temporary_folder
from atoll_sim.build.model import TOP, WHAT
from atoll_sim.build.tools import call_tool
from atoll_sim.build.verilate import notes_of, verilate
from atoll_sim.chip.blame import blame_devices, has_bits_enough
from atoll_sim.chip.checks import check_cores, check_engines, check_memories
from atoll_sim.chip.generate import defines, generate, in_order, includes, sources
from atoll_sim.chip.plan import plan_chip
from atoll_sim.chip.sources import (
    RTL,
    described_place,
    memory_readers,
    owner_of,
    read_folders,
)

FLAGS = (
    "--no-timing",
    "--timescale",
    "1ns/1ps",
    "--assert",
    "--relative-includes",
    "--top-module",
    TOP,
)


def elaborate(soc: ResolvedSoc) -> tuple[str, ...]:
    """Find out whether the RTL of `soc` fits together; return what Verilator warns of.

    Raises:
        SimulationError: E080 to E083, E113; the chip cannot be simulated.
        ToolchainError: E070, E077, E114; Verilator is missing, or refuses the RTL.
    """
    check_cores(soc)
    check_memories(soc)
    absent = frozenset(engine.name for engine in soc.engines if not engine.spec.rtl_module)
    check_engines(soc, absent)
    chip = plan_chip(soc, stand_ins=absent)
    with temporary_folder() as folder:
        texts = generate(chip)
        for file, text in texts.items():
            (folder / file).write_text(text)
        files = (RTL / "lint.vlt", *in_order(texts, sources(chip), folder))
        with blame_devices(soc, folder / f"{TOP}.sv"):
            folders = [f"+incdir+{path}" for path in includes(chip)]
            folders += [f"+define+{name}={text}" for name, text in defines(chip).items()]
            command = ["verilator", *FLAGS, f"-I{RTL}", *folders, *map(str, files)]
            lint = [*command, "--lint-only"]
            warnings = verilate(lint, WHAT, folder, lambda each: has_bits_enough(soc, each.text))
        if faults := tuple(_absent_files(soc, command, folder)):
            raise SimulationError.all(faults)
    return notes_of(soc, warnings)


_PLACE = re.compile(r"(\w+),(\d+):(\d+),")
_TEXT = re.compile(r'\\?"(.+?)\\?"')


@dataclass(frozen=True, slots=True)
class _Reading:
    """A statement that reads a file into a memory: the file's name, and its own place."""

    name: str
    at: SourceLoc


def _absent_files(soc: ResolvedSoc, command: Sequence[str], folder: Path) -> Iterator[Fault]:
    """Yield a fault for each file that others' RTL reads into a memory, and that is absent.

    Args:
        soc: the chip.
        command: with which Verilator elaborates it.
        folder: takes what Verilator writes.
    """
    if not any(memory_readers(soc)):
        return
    folders = (*read_folders(soc), Path.cwd())
    for reading in dict.fromkeys(_readings(command, folder)):
        owner = owner_of(soc, reading.at.path)
        if owner and not any((each / reading.name).is_file() for each in folders):
            spec, kind, device = owner
            yield Fault(
                code="E255",
                message=f"the RTL of {kind} '{spec.name}' reads '{reading.name}' into a memory, and"
                " there is no such file",
                at=reading.at,
                other=described_place(spec, kind, device),
                remedy=f"put it beside the RTL that names it, or beside the {kind}'s YAML",
            )


def _readings(command: Sequence[str], folder: Path) -> Iterator[_Reading]:
    """Yield what is read where, as it is once parameters have their values.

    A name that only a simulation works out is left out.
    """
    tree, files = folder / "tree.json", folder / "files.json"
    outputs = ("--json-only-output", str(tree), "--json-only-meta-output", str(files))
    flags = ("--json-only", *outputs, "--Mdir", str(folder), "-Wno-fatal", "-Wno-lint")
    call_tool([*command, *flags], WHAT)
    names = json.loads(files.read_text())["files"]
    for node in _nodes(tree.read_text(errors="replace"), "READMEM"):
        (name,) = node["filenamep"]
        place = _PLACE.match(node["loc"])
        text = _TEXT.fullmatch(name["name"]) if name["type"] == "CONST" else None
        if place and text:
            letter, line, column = place.groups()
            path = Path(names[letter]["filename"])
            yield _Reading(text[1], SourceLoc(path, int(line), int(column)))


def _nodes(text: str, kind: str) -> list[dict[str, Any]]:
    """Return the nodes of a kind in a tree of Verilator, which is too deep for recursion."""
    found: list[dict[str, Any]] = []

    def look(node: dict[str, Any]) -> dict[str, Any]:
        if node.get("type") == kind:
            found.append(node)
        return node

    json.loads(text, object_hook=look)
    return found
