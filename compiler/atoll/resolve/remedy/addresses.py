# SPDX-License-Identifier: Apache-2.0
"""Candidates for addresses, interrupt lines and alignment."""

from collections.abc import Callable, Iterator, Mapping

from atoll.description.edits import Candidate, Edit, hexadecimal, set_key
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.tree import Key
from atoll.diagnostics.units import format_size
from atoll.resolve.address_map import GRANULE, LARGEST_MEMORY, REGISTER_PAGE
from atoll.resolve.memory_views import STEP
from atoll.resolve.remedy.case import Case

_TRIED = 4
_UPPER = (0x8000_0000, 0xC000_0000)


def elsewhere(case: Case) -> Iterator[Candidate]:
    """Yield free places for one of two things that overlap, or for what is out of bounds."""
    for key in case.fault.keys or (case.key,):
        yield from _move(case, key)


def higher(case: Case) -> Iterator[Candidate]:
    """Yield free places for what may not lie in the lower half of the address space."""
    for near in _UPPER:
        for key in case.fault.keys:
            yield from _move(case, key, near)


def _move(case: Case, key: Key, near: object = None) -> Iterator[Candidate]:
    near = case.at(*key) if near is None else near
    near = near if isinstance(near, int) else 0
    if key[0] == "memories":
        origin = (*key[:2], "origin")
        free = case.free_spans(case.size(*key[:2], "size"), near, key[1])
        yield from ((Edit(origin, hexadecimal(address)),) for address in free[:_TRIED])
    elif key[0] == "pools":
        yield from _pool_elsewhere(case, key)
    else:
        yield from ((Edit(key, hexadecimal(page)),) for page in case.free_pages(near)[:_TRIED])


def _pool_elsewhere(case: Case, key: Key) -> Iterator[Candidate]:
    """Yield the ends of the other pools of the memory, then no offset at all."""
    memory = case.at("pools", key[1], "memory")
    for name, pool in case.table("pools").items():
        if isinstance(pool, dict) and pool.get("memory") == memory and name != key[1]:
            end = case.size("pools", name, "offset") + case.size("pools", name, "size")
            step = max(GRANULE, case.size("pools", key[1], "alignment"))
            if case.at("pools", name, "offset") is not None:
                yield (set_key(key, format_size(-(-end // step) * step)),)
    yield (Edit(key),)


def too_large(case: Case) -> Iterator[Candidate]:
    """Yield the most that can be simulated, then the size in the next smaller unit."""
    size, key = case.size(*case.key), case.key
    yield (set_key(key, format_size(LARGEST_MEMORY)),)
    for smaller in (size >> 10, size >> 20):
        if GRANULE <= smaller <= LARGEST_MEMORY and size % 1024 == 0:
            yield (set_key(key, format_size(smaller)),)


def out_of_space(case: Case) -> Iterator[Candidate]:
    """Yield free addresses for a memory that ends past the address space."""
    yield from _move(case, ("memories", case.key[1], "origin"))


def past_low_addresses(case: Case) -> Iterator[Candidate]:
    """Yield a view of a pool's memory, then other memories for a region.

    That a pool ends at 4 GiB the message says.
    """
    if case.key[-1] in ("memory", "mailbox"):
        yield from _seen_far(case, case.at(*case.key))
        yield from ((set_key(case.key, name),) for name in case.memories("ram", "rom"))


def _seen_far(case: Case, name: str) -> Iterator[Candidate]:
    """Yield a place on the bus for a memory past 4 GiB, where cores that reach the pool see it."""
    memory = ("memories", name)
    origin, reach = case.at(*memory, "origin"), case.table(*case.key[:-1], "reach")
    cores = [each for each in case.devices("cpu", "dsp") if reach.get(each, "none") != "none"]
    if isinstance(origin, int) and origin >= ADDRESS_SPACE and cores:
        views = ", ".join(f"{core}: {hexadecimal(origin)}" for core in cores)
        for place in case.free_spans(case.size(*memory, "size"), origin, name)[:_TRIED]:
            moved = Edit((*memory, "origin"), hexadecimal(place))
            yield (moved, Edit((*memory, "views"), f"{{{views}}}"))


def align(case: Case) -> Iterator[Candidate]:
    """Yield the next multiples below and above."""
    value, step = case.size(*case.key), GRANULE
    if case.key[0] == "pools" and case.key[-1] == "offset":
        step = max(GRANULE, case.size("pools", case.key[1], "alignment"))
    down = value // step * step
    both = (
        (down + step, down)
        if case.key[0] == "devices" or case.key[-1] == "heap"
        else (down, down + step)
    )
    for number in both:
        is_address = case.key[-1] == "origin"
        if number or is_address or case.key[-1] == "offset":
            yield (Edit(case.key, hexadecimal(number) if is_address else format_size(number)),)
    yield from elsewhere(case) if case.key[-1] in ("origin", "offset") else ()


def page(case: Case) -> Iterator[Candidate]:
    """Yield the next free pages for a block of registers."""
    near = case.at(*case.key)
    if isinstance(near, int):
        yield (Edit(case.key, hexadecimal(near // REGISTER_PAGE * REGISTER_PAGE)),)
        yield from ((Edit(case.key, hexadecimal(p)),) for p in case.free_pages(near)[:_TRIED])


def view(case: Case) -> Iterator[Candidate]:
    """Yield addresses at which a device may see a memory or registers, then only the bus's."""
    section, memory, *_ = case.key
    origin, near = case.at("memories", memory, "origin"), case.at(*case.key)
    if section == "devices":
        yield from page(case)
    elif isinstance(origin, int) and isinstance(near, int):
        free = case.free_spans(case.size("memories", memory, "size"), near, memory)
        places = [near - (near - origin) % STEP, *(each + origin % STEP for each in free[:_TRIED])]
        yield from ((Edit(case.key, hexadecimal(place)),) for place in places)
    yield (Edit(case.key),)


def line(case: Case) -> Iterator[Candidate]:
    """Yield the free interrupt lines, or that there is none for a device without an interrupt."""
    if "no interrupt" in case.fault.message:
        yield (Edit(case.key),)
        return
    yield from ((set_key(case.key, each),) for each in case.free_lines())


ADDRESSES: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E030": out_of_space,
    "E031": elsewhere,
    "E035": align,
    "E037": too_large,
    "E038": page,
    "E044": line,
    "E109": view,
    "E118": view,
    "E119": view,
    "E131": higher,
    "E176": elsewhere,
    "E261": past_low_addresses,
}
