# SPDX-License-Identifier: Apache-2.0
"""The system bus: memories and register blocks that do not overlap."""

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from atoll.description.chip import Isolation as IsolationModel
from atoll.description.chip import Memory as MemoryModel
from atoll.description.devices import Cpu, Master
from atoll.description.faults import note
from atoll.description.fields import ADDRESS_SPACE, WIDE_SPACE
from atoll.description.remedies import remove, write_pair
from atoll.description.tree import Key
from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.resolve import mailbox
from atoll.resolve.core_instances import local_of
from atoll.resolve.draft import Draft
from atoll.resolve.energies import of_memory
from atoll.resolve.places import Isolation
from atoll.resolve.soc import Alias, Memory, Registers
from atoll.resolve.wide_addresses import narrow_core
from atoll.utils.natural import natural

LARGEST_MEMORY = 2**31
GRANULE = 16
REGISTER_PAGE = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A span of the bus with the key that says where it begins."""

    what: str
    origin: int
    size: int
    key: Key

    @property
    def end(self) -> int:
        """First address past the block."""
        return self.origin + self.size


def resolve_memories(draft: Draft) -> tuple[Memory, ...]:
    """Return the memories by origin; note those that cannot be built or simulated."""
    described = draft.soc.memories
    real = [name for name in described if described[name].real is None]
    names = sorted(real, key=lambda name: (described[name].origin, natural(name)))
    for name in names:
        _check_memory(draft, name, described[name])
    energies = {name: of_memory(described[name]) for name in names}
    return tuple(
        Memory(
            name=name,
            origin=described[name].origin,
            size=described[name].size,
            kind=described[name].kind,
            width=described[name].width,
            banks=described[name].banks,
            read_latency=described[name].read_latency,
            cached=described[name].cached,
            sector=described[name].sector or 0,
            isolation=_isolation(described[name].isolation),
            energy=energies[name][0],
            area=energies[name][1],
            views=dict(sorted(described[name].views.items())),
            at=draft.where.key_at("memories", name),
        )
        for name in names
    )


def _isolation(described: IsolationModel | None) -> Isolation | None:
    if described is None:
        return None
    masters = dict(sorted(described.masters.items()))
    return Isolation(granule=described.granule, masters=masters, areas=described.areas or 0)


def resolve_aliases(draft: Draft) -> tuple[Alias, ...]:
    """Return the aliases by origin, without what is touched there."""
    memories = draft.soc.memories
    found = (
        Alias(
            name=name,
            memory=real,
            origin=alias.origin,
            byte=memories[real].origin + (alias.offset or 0),
            size=alias.size,
            cached=alias.cached,
            views=dict(sorted(alias.views.items())),
            at=draft.where.key_at("memories", name),
        )
        for name, alias, real in draft.aliases()
    )
    return tuple(sorted(found, key=lambda alias: (alias.origin, natural(alias.name))))


def resolve_registers(draft: Draft) -> dict[str, Registers]:
    """Return the register block of each device that has one: its own, or its mailbox."""
    blocks = {
        name: Registers(
            origin=cpu.mailbox, size=mailbox.SIZE, views=dict(sorted(cpu.views.items()))
        )
        for name, cpu in draft.cpus()
        if isinstance(cpu.mailbox, int)
    }
    sizes = {name: spec.model.registers.size for name, _, spec in draft.engines()}
    for name, engine in draft.devices():
        if not isinstance(engine, Cpu | Master) and draft.knows("devices", name, "registers"):
            size = sizes.get(name, REGISTER_PAGE)
            views = dict(sorted(engine.views.items()))
            blocks[name] = Registers(origin=engine.registers, size=size, views=views)
    return blocks


def check_bus(draft: Draft, blocks: dict[str, Registers], console: Registers) -> None:
    """Note misaligned register blocks, and everything on the bus that overlaps."""
    highest: Block | None = None
    bus = sorted(_blocks(draft, blocks, console), key=lambda block: (block.origin, block.key))
    for block in bus:
        if block.key[0] != "memories" and block.origin % REGISTER_PAGE:
            draft.faults.add(
                "E038",
                f"{block.what} is at {block.origin:#x}, which is not a multiple of 4 KiB",
                at=draft.where.at(*block.key),
                remedy=f"use {block.origin // REGISTER_PAGE * REGISTER_PAGE:#x}, for example",
            )
        if highest and block.origin < highest.end:
            _overlap(draft, highest, block)
        if highest is None or block.end > highest.end:
            highest = block
    for name, _ in draft.cpus():
        _check_local(draft, name, bus)
        _check_uncached(draft, name, bus)


def _blocks(draft: Draft, blocks: dict[str, Registers], console: Registers) -> Iterator[Block]:
    for name, memory in draft.soc.memories.items():
        key = ("memories", name, "origin")
        if (memory.size > LARGEST_MEMORY and narrow_core(draft)) or not is_placed(draft, name):
            continue
        real, first = draft.real(name), memory.offset or 0
        if real != name and memory.origin == draft.soc.memories[real].origin + first:
            continue  # where the bus has it: of use to a device with a view of the memory
        yield Block(what=f"memory '{name}'", origin=memory.origin, size=memory.size, key=key)
    yield from register_blocks(draft, blocks, console)


def register_blocks(
    draft: Draft, blocks: Mapping[str, Registers], console: Registers
) -> Iterator[Block]:
    """Yield the register blocks on the bus.

    Args:
        draft: the description.
        blocks: those of devices.
        console: that of the test bench.
    """
    for name, block in blocks.items():
        own = isinstance(draft.soc.devices[name], Cpu)
        key = ("devices", name, "mailbox" if own else "registers")
        what = f"the {'mailbox' if own else 'register block'} of '{name}'"
        yield Block(what=what, origin=block.origin, size=block.size, key=key)
    if not draft.knows("console"):
        return
    yield Block(
        what="the register block of the console",
        origin=console.origin,
        size=console.size,
        key=("console",),
    )


def _check_local(draft: Draft, name: str, bus: Sequence[Block]) -> None:
    """Note what lies where a core has its own registers, which hide it from the core."""
    core = draft.description.cores.get(name)
    if core is None:
        return
    local = local_of(core.model)
    for block in bus:
        if block.origin < local.stop and local.start < block.end:
            draft.faults.add(
                "E031",
                f"{block.what} at {block.origin:#x} overlaps the own registers of '{name}',"
                f" which reach from {local.start:#x} to {local.stop - 1:#x}",
                at=draft.where.at(*block.key),
                other=note(core.where.at("local"), "the core has them here"),
                remedy="move it",
                keys=(block.key,),
            )


def _check_uncached(draft: Draft, name: str, bus: Sequence[Block]) -> None:
    """Note what lies where the data cache of a core would keep it: nobody else sees its lines."""
    core = draft.description.cores.get(name)
    if core is None or (first := core.model.uncached) is None:
        return
    for block in bus:
        if block.origin < first:
            draft.faults.add(
                "E131",
                f"{block.what} at {block.origin:#x} lies where core '{core.model.core}' of '{name}'"
                f" caches what it loads: below {first:#x}",
                at=draft.where.at(*block.key),
                other=note(core.where.at("uncached"), "the core says so here"),
                remedy=f"move it to {first:#x} or above",
                keys=(block.key,),
            )


def is_placed(draft: Draft, memory: str) -> bool:
    """Tell whether origin and size of a memory are known, and of what it is an alias of."""
    names = {memory, draft.real(memory)}
    fields = ("origin", "size", "alias_of", "offset")
    return all(draft.knows("memories", name, field) for name in names for field in fields)


def _overlap(draft: Draft, low: Block, high: Block) -> None:
    where = draft.where
    at, other = where.at(*high.key), where.at(*low.key)
    if high.key == ("console",) and not where.is_set("console"):
        low, high, at, other = high, low, other, None
    draft.faults.add(
        "E031",
        f"{high.what} at {high.origin:#x} overlaps {low.what},"
        f" which reaches from {low.origin:#x} to {low.end - 1:#x}",
        at=at,
        other=note(other, f"{low.what} begins here"),
        remedy="move one of them",
        keys=(high.key, low.key),
    )


def _check_memory(draft: Draft, name: str, memory: MemoryModel) -> None:
    where, faults = draft.where, draft.faults
    for field, value in (("origin", memory.origin), ("size", memory.size)):
        if value % GRANULE and draft.knows("memories", name, field):
            faults.add(
                "E035",
                f"the {field} of memory '{name}' is {value:#x}, not a multiple of {GRANULE} bytes",
                at=where.at("memories", name, field),
                remedy=f"use {value // GRANULE * GRANULE or GRANULE:#x}, for example",
            )
    if memory.kind == "rom" and memory.reach == "rw" and draft.knows("memories", name, "kind"):
        faults.add(
            "E034",
            f"memory '{name}' is rom, and its 'reach' lets devices write it",
            at=where.at("memories", name, "reach"),
            remedy="write 'reach: ro'",
        )
    _check_sector(draft, name, memory)
    narrow = narrow_core(draft)
    if narrow and memory.size > LARGEST_MEMORY:
        faults.add(
            "E037",
            f"memory '{name}' has {format_size(memory.size)}, and a description at most"
            f" {format_size(LARGEST_MEMORY)} of one where {narrow}",
            at=where.at("memories", name, "size"),
            remedy=f"write 'size: {format_size(LARGEST_MEMORY)}'; 'origin' says which part, and"
            " Atoll touches nothing else",
        )
    elif narrow and memory.origin + memory.size > ADDRESS_SPACE and is_placed(draft, name):
        faults.add(
            "E030",
            f"memory '{name}' ends past the 32-bit address space, and {narrow}",
            at=where.at("memories", name, "origin"),
            remedy=f"move it to {ADDRESS_SPACE - memory.size & -GRANULE:#x} or below",
        )
    elif memory.origin + memory.size > WIDE_SPACE and is_placed(draft, name):
        faults.add(
            "E030",
            f"memory '{name}' ends past the 48-bit address space",
            at=where.at("memories", name, "size"),
            remedy=write_pair(("memories", name, "size"), format_size(WIDE_SPACE - memory.origin)),
            keys=(("memories", name, "size"),),
        )


def _check_sector(draft: Draft, name: str, memory: MemoryModel) -> None:
    """Note sectors of what is no flash, and those that its first or last byte lies inside of."""
    sector = memory.sector
    if sector is None or not draft.knows("memories", name, "kind"):
        return
    key = ("memories", name, "sector")
    fault, remedy = "", remove(*key)
    if memory.kind == "ram":
        fault = f"memory '{name}' is ram; only flash has sectors"
    elif is_placed(draft, name) and (memory.origin % sector or memory.size % sector):
        fault = (
            f"memory '{name}' with {format_size(memory.size)} from {memory.origin:#x} on"
            f" is not made of whole sectors of {format_size(sector)}"
        )
        remedy = write_pair(key, format_size(gcd(memory.origin, memory.size, sector)))
    if fault:
        draft.faults.add("E123", fault, at=draft.where.at(*key), remedy=remedy)
