# SPDX-License-Identifier: Apache-2.0
"""What of an alias cannot be, and memories that could be one and do not say so."""

from collections.abc import Iterator
from itertools import combinations

from atoll.description.aliases import NO_ALIAS, stem_of
from atoll.description.chip import Memory
from atoll.description.edits import hexadecimal
from atoll.description.faults import note
from atoll.description.fields import ADDRESS_SPACE
from atoll.description.remedies import put, remove, value_fix
from atoll.diagnostics.edit import Remedy
from atoll.diagnostics.units import format_size
from atoll.resolve.address_map import GRANULE, is_placed
from atoll.resolve.draft import Draft
from atoll.resolve.memory_views import STEP

OF_THE_MEMORY = ("width", "banks", "read_latency", "sector", "isolation", "energy", "area")
"""Keys that no alias has a value of its own for."""


def check_aliases(draft: Draft) -> None:
    """Note aliases that cannot be, and pairs of memories of which nobody says whether they are one.

    A statement that there is no alias (`alias_of: none`) at either of a pair is enough.
    """
    for name, memory in draft.soc.memories.items():
        if draft.knows("memories", name):
            _check_name(draft, name, memory)
    for name, alias, real in draft.aliases():
        if is_placed(draft, name):
            _check_bytes(draft, name, alias, real)
        for key in OF_THE_MEMORY:
            same = getattr(alias, key) == getattr(draft.soc.memories[real], key)
            known = draft.knows("memories", name, key) and draft.knows("memories", real, key)
            if draft.where.is_set("memories", name, key) and known and not same:
                _refuse_key(draft, name, real, key)
    if draft.knows_names("memories"):
        _ask(draft)


def _check_name(draft: Draft, name: str, memory: Memory) -> None:
    target = draft.soc.memories.get(memory.real or "")
    key = "alias_of"
    if memory.real == name:
        wrong = f"memory '{name}' is an alias of itself"
        remedy = _own_bytes(draft, name)
    elif target and target.real is not None:
        wrong = f"'{memory.real}', which '{name}' is an alias of, is an alias itself"
        ring = _ring(draft, name)
        if ring:
            wrong += f": {' -> '.join((*ring, ring[0]))} has no memory with bytes of its own"
        if ring[:1] == [name]:
            remedy = _own_bytes(draft, name)
        else:
            remedy = put(("memories", name, "alias_of"), ring[0] if ring else _end(draft, name))
    elif memory.offset is not None and memory.real is None:
        key, wrong = "offset", f"memory '{name}' has an 'offset', and is no alias of another one"
        remedy = remove("memories", name, "offset") | "name that one with 'alias_of'"
    else:
        return
    at = draft.where.at("memories", name, key)
    draft.faults.add("E173", wrong, at=at, remedy=remedy)


def _own_bytes(draft: Draft, name: str) -> Remedy:
    """Say how a memory is no alias any more: it then has all that an alias leaves out."""
    lacks = [key for key in ("size", "kind") if not draft.where.is_set("memories", name, key)]
    also = f", and write its {' and '.join(lacks)}" if lacks else ""
    return remove("memories", name, "alias_of") + also


def _end(draft: Draft, name: str) -> str:
    """Return the memory in which the aliases that begin with one end; of a ring, one of it."""
    seen = {name}
    while (target := draft.soc.memories.get(name)) and target.real and target.real not in seen:
        name = target.real
        seen.add(name)
    return name


def _ring(draft: Draft, name: str) -> list[str]:
    """Return the aliases of each other in which those that begin with one end, the lowest first."""
    real = {each: memory.real for each, memory in draft.soc.memories.items()}
    last = _end(draft, name)
    if real.get(last) is None or real[last] not in real:
        return []
    ring = [last]
    while (following := real[ring[-1]]) not in (last, None):
        assert following is not None
        ring.append(following)
    first = min(range(len(ring)), key=lambda index: draft.soc.memories[ring[index]].origin)
    return ring[first:] + ring[:first]


def _check_bytes(draft: Draft, name: str, alias: Memory, real: str) -> None:
    """Note what of an alias the memory does not have."""
    memory = draft.soc.memories[real]
    begin = alias.offset or 0
    room = memory.size - begin
    key, right, why = "", "", ""
    if begin % GRANULE or room <= 0:
        key, right = "offset", format_size(begin // GRANULE * GRANULE if room > 0 else 0)
        wrong = f"begins at its byte {begin}, "
        wrong += f"no multiple of {GRANULE}" if room > 0 else "which it does not have"
    elif alias.size > room:
        key, right = "size", format_size(room)
        wrong = f"ends {format_size(alias.size - room)} past the end of it"
        why = "; a bit-band region has a word for each bit, and is no alias: leave it out"
    elif alias.kind != memory.kind:
        key, right, wrong = "kind", memory.kind, f"is {alias.kind}, and '{real}' is {memory.kind}"
    elif alias.cached and not memory.cached:
        key, right, wrong = "cached", "false", f"is cached, and '{real}' is not"
        why = f", or describe '{real}' where it is cached, and its other addresses as the alias"
    elif alias.origin + alias.size > ADDRESS_SPACE:
        key, right = "origin", hexadecimal(max(0, ADDRESS_SPACE - alias.size) & -STEP)
        wrong = "ends past the 32-bit address space, where devices see no alias"
        if alias.size > ADDRESS_SPACE:
            key, right = "size", format_size(min(room, ADDRESS_SPACE - alias.origin))
    elif shift := (alias.origin - memory.origin - begin) % STEP:
        key, right = "origin", hexadecimal(alias.origin - shift)
        wrong = f"is at {alias.origin:#x}: from its bytes that is not a multiple of 4 KiB"
    if key:
        draft.faults.add(
            "E174",
            f"memory '{name}', an alias of '{real}', {wrong}",
            at=draft.where.at("memories", name, key),
            other=note(draft.where.key_at("memories", real), f"'{real}' is here"),
            remedy=put(("memories", name, key), right) + why,
        )


def _refuse_key(draft: Draft, name: str, real: str, key: str) -> None:
    """Note what an alias says of the memory itself, which nothing would read there."""
    draft.faults.add(
        "E174",
        f"memory '{name}', an alias of '{real}', has no '{key}' of its own",
        at=draft.where.key_at("memories", name, key),
        other=note(draft.where.key_at("memories", real), f"'{real}' is here"),
        remedy=remove("memories", name, key),
    )


def _ask(draft: Draft) -> None:
    for one, two in _alike(draft):
        draft.faults.add(
            "E175",
            f"memories '{one}' and '{two}' have the same size, and names like two addresses of one"
            " memory: nothing says whether they share bytes",
            at=draft.where.key_at("memories", two),
            other=note(draft.where.key_at("memories", one), f"'{one}' is here"),
            remedy=put(("memories", two, "alias_of"), one)
            | Remedy(
                f"to '{NO_ALIAS}' if its bytes are its own",
                (value_fix(("memories", two, "alias_of"), NO_ALIAS),),
            ),
        )


def _alike(draft: Draft) -> Iterator[tuple[str, str]]:
    memories = draft.soc.memories
    open_ones = [name for name in memories if memories[name].alias_of is None]
    for one, two in combinations(sorted(open_ones, key=lambda name: memories[name].origin), 2):
        placed = is_placed(draft, one) and is_placed(draft, two)
        alike = stem_of(one) == stem_of(two) and memories[one].kind == memories[two].kind
        if placed and alike and memories[one].size == memories[two].size:
            yield one, two
