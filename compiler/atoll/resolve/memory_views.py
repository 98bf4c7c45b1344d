"""Memories that a device sees at another address than the bus has them at.

A byte has one address on the bus, which the plan, the firewalls and all reports use. A device with
a view of a memory sees the memory's first byte at the view, and nothing at the address on the bus.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, pairwise

from atoll.description.faults import note
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.schema import Cpu
from atoll.resolve.address_map import Block, is_placed, register_blocks
from atoll.resolve.claims import code_memory
from atoll.resolve.cores import local_of
from atoll.resolve.draft import Draft
from atoll.resolve.reach import access_of
from atoll.resolve.soc import Cpu as ResolvedCpu
from atoll.resolve.soc import Memory, Region, Registers, ResolvedSoc

STEP = 4096
"""How far a view lies from the bus's address is a multiple of so many bytes.

A burst that may cross no such border crosses none on either side, and every alignment holds.
"""


def check_views(
    draft: Draft,
    memories: tuple[Memory, ...],
    blocks: Mapping[str, Registers],
    console: Registers,
) -> None:
    """Note views that cannot be built, and what a device would see at one address twice.

    Args:
        draft: the description.
        memories: what is known of them.
        blocks: the register blocks of devices.
        console: that of the test bench.
    """
    for name, memory in draft.soc.memories.items():
        for device in memory.views:
            if is_placed(draft, name) and draft.knows("memories", name, "views", device):
                _check_view(draft, name, device)
    for device, _ in draft.devices():
        _check_space(draft, device, memories)
    registers = tuple(register_blocks(draft, blocks, console))
    for device, _ in draft.cpus():
        _check_registers(draft, device, registers)


def seen_by(soc: ResolvedSoc, device: str, address: int) -> int:
    """Return where `device` sees a byte of the bus; one in no memory, where the bus has it."""
    for memory in soc.memories:
        if memory.origin <= address < memory.end:
            return address - memory.origin + memory.seen_at(device).start
    return address


def on_bus(soc: ResolvedSoc, device: str, address: int) -> int:
    """Return which byte of the bus `device` sees at an address; where it sees none, the address."""
    for memory in soc.memories:
        if device in memory.views and address in memory.seen_at(device):
            return address - memory.views[device] + memory.origin
    return address


def as_seen_by(soc: ResolvedSoc, device: str) -> ResolvedSoc:
    """Return a chip with all memories and regions where `device` sees them.

    All other devices see each memory where they did. It is the same chip if `device` has no view.
    """
    if not any(device in memory.views for memory in soc.memories):
        return soc
    shifts = {memory.name: memory.seen_at(device).start - memory.origin for memory in soc.memories}

    def moved(region: Region) -> Region:
        return replace(region, origin=region.origin + shifts[region.memory])

    return replace(
        soc,
        memories=tuple(_moved(soc, memory, device) for memory in soc.memories),
        pools=tuple(replace(pool, region=moved(pool.region)) for pool in soc.pools),
        devices=tuple(
            replace(
                each,
                code=moved(each.code),
                data=moved(each.data),
                stack=moved(each.stack),
                threads=tuple(map(moved, each.threads)),
            )
            if isinstance(each, ResolvedCpu)
            else each
            for each in soc.devices
        ),
    )


def core_as_it_sees(soc: ResolvedSoc, core: ResolvedCpu) -> ResolvedCpu:
    """Return a core with its regions where it sees them itself."""
    found = as_seen_by(soc, core.name).device(core.name)
    assert isinstance(found, ResolvedCpu)
    return found


def _moved(soc: ResolvedSoc, memory: Memory, device: str) -> Memory:
    origin = memory.seen_at(device).start
    others = {each.name: memory.seen_at(each.name).start for each in soc.devices}
    views = {name: seen for name, seen in sorted(others.items()) if seen != origin}
    return replace(memory, origin=origin, views=views)


def _check_view(draft: Draft, name: str, device: str) -> None:
    memory = draft.soc.memories[name]
    view = memory.views[device]
    what = f"the view of memory '{name}' at '{device}'"
    wrong = remedy = ""
    if (view - memory.origin) % STEP:
        wrong = (
            f"{what} is {view:#x}: from its origin {memory.origin:#x} that is no multiple of 4 KiB"
        )
        remedy = f"use {view - (view - memory.origin) % STEP:#x}, for example"
    elif view + memory.size > ADDRESS_SPACE:
        wrong, remedy = f"{what} ends past the 32-bit address space", "use a lower address"
    if wrong:
        at = draft.where.at("memories", name, "views", device)
        draft.faults.add("E119", wrong, at=at, remedy=remedy)


def _check_space(draft: Draft, device: str, memories: tuple[Memory, ...]) -> None:
    """Note memories that a device sees at the same addresses."""
    spans = sorted(_seen(draft, device, memories))
    for (_, end, low), (begin, _, high) in pairwise(spans):
        if end <= begin:
            continue
        first, second = (low, high) if device in draft.soc.memories[high].views else (high, low)
        key = ("memories", second, "views", device)
        own = device in draft.soc.memories[first].views
        other = ("memories", first, "views", device) if own else ("memories", first, "origin")
        draft.faults.add(
            "E118",
            f"'{device}' sees memory '{second}' at {begin:#x}, where it sees memory '{first}'",
            at=draft.where.at(*key),
            other=note(draft.where.at(*other), f"it sees '{first}' here"),
            remedy="move the view",
        )


def _check_registers(draft: Draft, device: str, blocks: tuple[Block, ...]) -> None:
    """Note views of a core that lie over registers: those it reaches, and its own."""
    core = draft.description.cores.get(device)
    own = local_of(core.model) if core else range(0)
    hidden = [
        (block.what, block.origin, block.end)
        for block in blocks
        if device == draft.host or block.key[:2] == ("devices", device)
    ]
    if own:
        hidden.append(("its own registers", own.start, own.stop))
    for name, memory in draft.soc.memories.items():
        view = memory.views.get(device)
        if view is None or not is_placed(draft, name):
            continue
        over = (each for each in hidden if view < each[2] and each[1] < view + memory.size)
        for what, begin, _ in islice(over, 1):
            draft.faults.add(
                "E109",
                f"'{device}' sees memory '{name}' at {view:#x}, over {what} at {begin:#x}",
                at=draft.where.at("memories", name, "views", device),
                remedy="move the view",
            )


def _reached(draft: Draft, device: str, memories: tuple[Memory, ...]) -> Iterator[str]:
    """Yield the memories that a device reaches; the host's image has something for all of them."""
    if device == draft.host:
        yield from draft.soc.memories
    for name, pool in draft.pools():
        if access_of(draft, name, device, "none") != "none":
            yield pool.memory
    cpu = draft.soc.devices.get(device)
    if isinstance(cpu, Cpu) and draft.knows("devices", device):
        yield cpu.stack.memory
        yield cpu.data.memory or cpu.stack.memory
        yield cpu.code.memory or code_memory(cpu, memories)[0]


def _seen(draft: Draft, device: str, memories: tuple[Memory, ...]) -> list[tuple[int, int, str]]:
    """Return begin, end and name of each memory that a device has a view of, or reaches."""
    if not any(device in memory.views for memory in draft.soc.memories.values()):
        return []  # everything is where the bus has it, whose overlaps are E031
    reached = set(_reached(draft, device, memories))
    spans = []
    for name, memory in draft.soc.memories.items():
        view = memory.views.get(device)
        if is_placed(draft, name) and (view is not None or name in reached):
            begin = memory.origin if view is None else view
            spans.append((begin, begin + memory.size, name))
    return spans
