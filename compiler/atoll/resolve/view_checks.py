# SPDX-License-Identifier: Apache-2.0
"""Views that cannot be built, and what a device would see at one address twice."""

from collections.abc import Iterator, Mapping
from itertools import combinations, islice, pairwise

from atoll.description.devices import Cpu
from atoll.description.faults import note
from atoll.description.fields import ADDRESS_SPACE, WIDE_SPACE
from atoll.description.tree import Key
from atoll.records import dataclass
from atoll.resolve.address_map import Block, is_placed, register_blocks
from atoll.resolve.claims import code_memory, load_memory
from atoll.resolve.core_instances import local_of
from atoll.resolve.draft import Draft
from atoll.resolve.memory_views import STEP
from atoll.resolve.reach import access_of
from atoll.resolve.references import views_of
from atoll.resolve.soc import Memory, Registers
from atoll.resolve.wide_addresses import sees_far


@dataclass(frozen=True, slots=True)
class _Seen:
    """A span of addresses at which a device sees a memory or registers.

    Attributes:
        view: key of the view that says so; None if it is where the bus has it.
    """

    what: str
    begin: int
    end: int
    view: Key | None

    def meets(self, other: "_Seen") -> bool:
        """Tell whether they overlap because of a view; other overlaps are E031."""
        viewed = self.view is not None or other.view is not None
        return viewed and self.begin < other.end and other.begin < self.end


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
    for name, views in draft.device_views():
        for viewer in views:
            if viewer in draft.soc.devices and draft.knows("devices", name, "views", viewer):
                _check_register_view(draft, name, viewer, blocks.get(name))
    for device, _ in draft.devices():
        _check_space(draft, device, memories)
    registers = tuple(register_blocks(draft, blocks, console))
    for device, _ in draft.cpus():
        _check_registers(draft, device, memories, registers)


def _check_view(draft: Draft, name: str, device: str) -> None:
    memory = draft.soc.memories[name]
    view = memory.views[device]
    what = f"the view of memory '{name}' at '{device}'"
    wrong = remedy = ""
    far = draft.real(name) == name and sees_far(draft, device)
    if (view - memory.origin) % STEP:
        wrong = f"{what} is {view:#x}: from its origin {memory.origin:#x} that is not a multiple"
        wrong += " of 4 KiB"
        remedy = f"use {view - (view - memory.origin) % STEP:#x}, for example"
    elif view + memory.size > ADDRESS_SPACE and not far:
        wrong, remedy = f"{what} ends past the 32-bit address space", "use a lower address"
    elif view + memory.size > WIDE_SPACE:
        wrong, remedy = f"{what} ends past the 48-bit address space", "use a lower address"
    elif view + memory.size > ADDRESS_SPACE and (unit := _narrow_unit(draft, device)):
        wrong, remedy = f"{what} ends past 4 GiB, and {unit}", "use a lower address"
    if wrong:
        at = draft.where.at("memories", name, "views", device)
        draft.faults.add("E119", wrong, at=at, remedy=remedy)


def _narrow_unit(draft: Draft, device: str) -> str:
    """Say what of a core of 64 bits has 32-bit addresses; "" if nothing does."""
    cpu = draft.soc.devices[device]
    assert isinstance(cpu, Cpu)
    if cpu.protection:
        return "its memory protection is tried with 32-bit addresses only"
    if cpu.cache and cpu.cache.maintenance:
        return "the steps that maintain its data cache write 32-bit addresses"
    return ""


def _check_register_view(draft: Draft, name: str, viewer: str, block: Registers | None) -> None:
    key = ("devices", name, "views", viewer)
    own = viewer == name and isinstance(draft.soc.devices[name], Cpu)
    if block is None or not (own or viewer == draft.host):
        wrong = f"'{viewer}' does not reach the registers of '{name}': it has no view of them"
        draft.faults.add("E119", wrong, at=draft.where.at(*key), remedy="delete the view")
    elif (view := block.views[viewer]) % STEP:
        draft.faults.add(
            "E119",
            f"the view of '{name}' at '{viewer}' is {view:#x}, which is not a multiple of 4 KiB",
            at=draft.where.at(*key),
            remedy=f"use {view - view % STEP:#x}, for example",
        )


def _check_space(draft: Draft, device: str, memories: tuple[Memory, ...]) -> None:
    """Note memories that a device sees at the same addresses."""
    spans = sorted(_visible_spans(draft, device, memories))
    for (_, end, low), (begin, _, high) in pairwise(spans):
        if end <= begin:
            continue
        first, second = (low, high) if device in draft.soc.memories[high].views else (high, low)
        own = device in draft.soc.memories[first].views
        if not own and device not in draft.soc.memories[second].views:
            continue
        if _byte_at(draft, low, device, begin) == _byte_at(draft, high, device, begin):
            continue
        key = ("memories", second, "views", device)
        other = ("memories", first, "views", device) if own else ("memories", first, "origin")
        draft.faults.add(
            "E118",
            f"'{device}' sees memory '{second}' at {begin:#x}, where it sees memory '{first}'",
            at=draft.where.at(*key),
            other=note(draft.where.at(*other), f"it sees '{first}' here"),
            remedy="move the view",
        )


def _byte_at(draft: Draft, name: str, device: str, address: int) -> tuple[str, int]:
    """Return the byte of which memory a device sees at an address of memory `name`."""
    memory, real = draft.soc.memories[name], draft.real(name)
    first = 0 if real == name else memory.offset or 0
    return real, address - memory.views.get(device, memory.origin) + first


def _check_registers(
    draft: Draft, device: str, memories: tuple[Memory, ...], blocks: tuple[Block, ...]
) -> None:
    """Note what a core sees over registers that it reaches, or over its own."""
    registers = tuple(_registers(draft, device, blocks))
    for begin, end, name in _visible_spans(draft, device, memories):
        key = ("memories", name, "views", device)
        viewed = device in draft.soc.memories[name].views
        memory = _Seen(f"memory '{name}'", begin, end, key if viewed else None)
        for block in islice(filter(memory.meets, registers), 1):
            draft.faults.add(
                "E109",
                f"'{device}' sees {memory.what} at {begin:#x}, over {block.what} at"
                f" {block.begin:#x}",
                at=draft.where.at(*(memory.view or block.view or ())),
                remedy="move the view",
            )
    for first, second in combinations(registers, 2):
        if first.meets(second):
            first, second = (first, second) if second.view else (second, first)
            draft.faults.add(
                "E118",
                f"'{device}' sees {second.what} at {second.begin:#x}, where it sees {first.what}",
                at=draft.where.at(*(second.view or ())),
                remedy="move the view",
            )


def _registers(draft: Draft, device: str, blocks: tuple[Block, ...]) -> Iterator[_Seen]:
    """Yield the registers that a core reaches, and its own."""
    for block in blocks:
        if device == draft.host or block.key[:2] == ("devices", device):
            view = views_of(draft).get(block.key[:2], {}).get(device)
            begin = block.origin if view is None else view
            key = None if view is None else (*block.key[:2], "views", device)
            yield _Seen(block.what, begin, begin + block.size, key)
    core = draft.description.cores.get(device)
    if own := local_of(core.model) if core else range(0):
        yield _Seen("its own registers", own.start, own.stop, None)


def _reached_memories(draft: Draft, device: str, memories: tuple[Memory, ...]) -> Iterator[str]:
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
        if cpu.loader == "copy" and (load := load_memory(cpu, memories)):
            yield load


def _visible_spans(
    draft: Draft, device: str, memories: tuple[Memory, ...]
) -> list[tuple[int, int, str]]:
    """Return begin, end and name of each memory that a device has a view of, or reaches."""
    if not any(device in views for views in views_of(draft).values()):
        return []  # everything is where the bus has it, whose overlaps are E031
    reached = set(_reached_memories(draft, device, memories))
    spans = []
    for name, memory in draft.soc.memories.items():
        view = memory.views.get(device)
        if is_placed(draft, name) and (view is not None or name in reached):
            begin = memory.origin if view is None else view
            spans.append((begin, begin + memory.size, name))
    return spans
