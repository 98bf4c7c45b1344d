# SPDX-License-Identifier: Apache-2.0
"""The chip as a platform of Renode, and a script that starts the package's images on it.

Renode has models of cores, memories and timers. Engines, mailboxes and what keeps cores in their
memories have none: they are tags, which read as 0 and are logged.

Source: Renode documentation, "The Renode platform description format" and "Monitor and script
syntax" (https://renode.readthedocs.io/); names of types and parameters as of August 2026.
"""

from collections.abc import Iterator, Mapping

from atoll.bsp.core_images import elf_names
from atoll.isa.instruction_set import Family
from atoll.protocol import ConsoleRegister
from atoll.records import dataclass
from atoll.resolve.memory_views import as_seen_by
from atoll.resolve.soc import Cpu, Placed, ResolvedSoc
from atoll_board.cortex_m import architecture, has_floats, is_cortex_m
from atoll_board.package import Board, Entry, generated_entry
from atoll_board.reached import memories_of
from atoll_board.register_blocks import REGISTER_BYTES, Block, blocks_on_bus
from atoll_board.render import render

_RISCV = {
    "picorv32": "PicoRV32",
    "ibex": "IbexRiscV32",
    "cv32e40p": "CV32E40P",
    "vexriscv": "VexRiscv",
}
"""Renode's types of cores by Atoll's names; any other RISC-V core is the general type."""

_CORTEX = {
    "armv6-m": "cortex-m0+",
    "armv7-m": "cortex-m3",
    "armv7e-m": "cortex-m4",
    "armv8-m.base": "cortex-m23",
    "armv8-m.main": "cortex-m33",
    "armv8.1-m.main": "cortex-m55",
}
"""A core of each architecture, for those that Renode does not know by name."""

_KNOWN = ("cortex-m7", "cortex-m85")
"""Cores that it knows by name, and that stand for no architecture."""

_KEYWORDS = {"using", "new", "as", "preinit", "init", "reset", "local", "none", "empty"}
_KEYWORDS |= {"sysbus", "machine", "host", "emulation"}
_VALUES = ("true", "false", "null")
"""The monitor reads words that begin so as values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Core:
    """A core, for the templates.

    Attributes:
        name: in Renode.
        core: as its own programs see it.
        type: class of Renode.
        model: its ``cpuType``.
        number: among the chip's cores; where any of them has a `hart`, that.
        image: file that the package's CMake project makes; "" if the core has none.
    """

    name: str
    core: Cpu
    type: str
    model: str
    number: int
    image: str

    @property
    def cortex_m(self) -> bool:
        """It has an NVIC and a table of vectors."""
        return is_cortex_m(self.core)

    @property
    def clint(self) -> bool:
        """It has a timer of its own at `CoreSpec.local`."""
        return not self.cortex_m and self.core.spec.local is not None


@dataclass(frozen=True, slots=True)
class _Memory:
    """A memory: places on the bus, each with the core that sees it there, "" for everybody."""

    name: str
    size: int
    places: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class _Tag:
    """Registers without a model; `how` has what the monitor's command takes after the name."""

    name: str
    origin: int
    size: int
    how: str = ""


def renode_files(board: Board) -> Mapping[str, Entry]:
    """Return ``renode/``: platform and script; none if Renode has no model of the host."""
    soc = board.soc
    if not _type(soc.host_cpu):
        return {}
    names = _names(soc)
    cores = tuple(_cores(board, names))
    values = {
        "cores": cores,
        "harts": [each for each in cores if each.clint and any(core.hart for core in soc.cpus)],
        "lacking": [core.name for core in soc.cpus if not _type(core)],
        "memories": tuple(_memories(soc, cores, names)),
        "console": names["uart.console"],
        "tags": tuple(_tags(soc, cores)),
    }
    return {
        f"renode/{soc.name}.repl": generated_entry(render("chip.repl", board, **values)),
        f"renode/{soc.name}.resc": generated_entry(render("chip.resc", board, **values)),
    }


def _names(soc: ResolvedSoc) -> dict[str, str]:
    """Return names of Renode by ``kind.name``; neither keywords nor values, each once."""
    found: dict[str, str] = {}
    taken = _KEYWORDS.union(*(_parts(core.name) for core in soc.cpus))
    things = [("core", core.name) for core in soc.cpus]
    things += [("memory", memory.name) for memory in soc.memories]
    for kind, name in (*things, ("uart", "console")):
        wanted = "atoll_console" if kind == "uart" else name
        while wanted in taken or wanted.startswith(_VALUES):
            wanted = f"{kind}_{wanted}"
        found[f"{kind}.{name}"] = wanted
        taken |= {wanted, *_parts(wanted)}
    return found


def _parts(core: str) -> set[str]:
    """Return the names of what is beside a core."""
    return {f"{core}_nvic", f"{core}_clint"}


def _cores(board: Board, names: Mapping[str, str]) -> Iterator[_Core]:
    images = dict(zip((core.name for core in board.cores), elf_names(board.soc), strict=True))
    harts = any(each.hart for each in board.soc.cpus)
    for number, each in enumerate(board.soc.cpus):
        if kind := _type(each):
            core = as_seen_by(board.soc, each.name).device(each.name)
            assert isinstance(core, Cpu)
            yield _Core(
                name=names[f"core.{each.name}"],
                core=core,
                type=kind,
                model=_model(each),
                number=each.hart if harts and not is_cortex_m(each) else number,
                image=images.get(each.name, ""),
            )


def _type(core: Cpu) -> str:
    """Return the class of a core in Renode; "" if it has none, or one that needs more parts."""
    if is_cortex_m(core):
        return "CortexM"
    if core.instructions.family is not Family.RISCV:
        return ""
    return _RISCV.get(core.spec.name, f"RiscV{core.instructions.bits}")


def _model(core: Cpu) -> str:
    """Return what Renode calls the core's kind or instruction set."""
    if not is_cortex_m(core):
        return core.isa if core.spec.name == "picorv32" else f"{core.isa}_zicsr_zifencei"
    named = core.spec.name.replace("cortex_m", "cortex-m").replace("plus", "+")
    model = named if named in _KNOWN else _CORTEX[architecture(core)]
    return f"{model}f" if model == "cortex-m4" and has_floats(core) else model


def _memories(
    soc: ResolvedSoc, cores: tuple[_Core, ...], names: Mapping[str, str]
) -> Iterator[_Memory]:
    """Yield the memories where cores see them; who does not reach one, does not see it.

    One that no core reaches is where the bus has it, unless a core has something else there.
    """
    reached = {each.name: {m.name: m for m in memories_of(soc, each.core)} for each in cores}
    taken = [memory for seen in reached.values() for memory in seen.values()]
    for memory in soc.memories:
        aliases = (each for each in soc.aliases if each.memory == memory.name)
        shown = {memory.name: 0, **{each.name: each.byte - memory.origin for each in aliases}}
        at = {
            (core, name): seen[name].origin - first
            for core, seen in reached.items()
            for name, first in shown.items()
            if name in seen and seen[name].origin >= first
        }
        places = tuple((origin, core) for (core, _), origin in at.items())
        if not at and any(_overlap(memory, other) for other in taken):
            continue
        if not at or (len(at) == len(cores) and len({*at.values()}) == 1):
            places = ((next(iter(at.values()), memory.origin), ""),)
        yield _Memory(names[f"memory.{memory.name}"], memory.size, places)


def _overlap(one: Placed | Block, other: Placed | Block) -> bool:
    return one.origin < other.origin + other.size and other.origin < one.origin + one.size


def _tags(soc: ResolvedSoc, cores: tuple[_Core, ...]) -> Iterator[_Tag]:
    """Yield the registers that programs touch, where they see them, and no byte twice."""
    console, rest = soc.console.origin, ConsoleRegister.EXIT + REGISTER_BYTES
    yield _Tag("atoll_console_exit", console + ConsoleRegister.EXIT, REGISTER_BYTES, " 0 true")
    size = soc.console.size - soc.guard.size - rest
    yield _Tag("atoll_console", console + rest, size, " 0 false true")
    found: list[Block] = []
    for each in (core for core in cores if core.image):
        seen = as_seen_by(soc, each.core.name)
        touched = {block.origin for block in seen.registers_of(seen.device(each.core.name))}
        for block in blocks_on_bus(seen):
            mine = block.origin in touched or (block.kind == "guard" and each.core.name == soc.host)
            if mine and block.kind != "console" and not any(_overlap(block, b) for b in found):
                found.append(block)
                yield _Tag(_tag_name(block), block.origin, block.size)


def _tag_name(block: Block) -> str:
    return block.name if block.name.startswith("atoll_") else f"{block.kind}_{block.name}"
