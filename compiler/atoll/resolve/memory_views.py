"""Memories that an engine sees at another address than the bus has them at.

A byte has one address on the bus, which the plan, the firewalls and all cores use. An engine with a
view of a memory sees the memory's first byte at the view, and nothing at the address on the bus.
"""

from itertools import pairwise

from atoll.description.faults import note
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.schema import Cpu
from atoll.resolve.address_map import is_placed
from atoll.resolve.draft import Draft
from atoll.resolve.reach import access_of
from atoll.resolve.soc import ResolvedSoc

STEP = 4096
"""How far a view lies from the bus's address is a multiple of so many bytes.

A burst that may cross no such border crosses none on either side, and every alignment holds.
"""


def check_views(draft: Draft) -> None:
    """Note views that cannot be built, and what a device would see at one address twice."""
    for name, memory in draft.soc.memories.items():
        for device in memory.views:
            if is_placed(draft, name) and draft.knows("memories", name, "views", device):
                _check_view(draft, name, device)
    for device, _ in draft.devices():
        _check_space(draft, device)


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


def _check_view(draft: Draft, name: str, device: str) -> None:
    memory = draft.soc.memories[name]
    view = memory.views[device]
    what = f"the view of memory '{name}' at '{device}'"
    wrong = remedy = ""
    if isinstance(draft.soc.devices.get(device), Cpu):
        wrong, remedy = (
            f"{what} is a core's, which sees memories where the bus has them",
            "delete it",
        )
    elif (view - memory.origin) % STEP:
        wrong = (
            f"{what} is {view:#x}: from its origin {memory.origin:#x} that is no multiple of 4 KiB"
        )
        remedy = f"use {view - (view - memory.origin) % STEP:#x}, for example"
    elif view + memory.size > ADDRESS_SPACE:
        wrong, remedy = f"{what} ends past the 32-bit address space", "use a lower address"
    if wrong:
        at = draft.where.at("memories", name, "views", device)
        draft.faults.add("E119", wrong, at=at, remedy=remedy)


def _check_space(draft: Draft, device: str) -> None:
    """Note memories that a device sees at the same addresses."""
    spans = sorted(_seen(draft, device))
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


def _seen(draft: Draft, device: str) -> list[tuple[int, int, str]]:
    """Return begin, end and name of each memory that a device has a view of, or reaches."""
    reached = {
        pool.memory
        for name, pool in draft.pools()
        if access_of(draft, name, device, "none") != "none"
    }
    spans = []
    for name, memory in draft.soc.memories.items():
        view = memory.views.get(device)
        if is_placed(draft, name) and (view is not None or name in reached):
            begin = memory.origin if view is None else view
            spans.append((begin, begin + memory.size, name))
    # Without a view everything is where the bus has it, whose overlaps are E031.
    return spans if any(device in m.views for m in draft.soc.memories.values()) else []
