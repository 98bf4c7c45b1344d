# SPDX-License-Identifier: Apache-2.0
"""Memories of a file that are other addresses of one, and those that could be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.description.aliases import stem_of
from atoll.description.fields import ADDRESS_SPACE, MAX_ENTRIES
from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.units import format_size
from atoll_import.description_names import identifier
from atoll_import.facts import Facts, Memory, memory_left_out

_STEP = 4096
"""An alias is a multiple of so many bytes from its memory."""


def with_aliases(facts: Facts) -> Facts:
    """Return what files say with an entry for each address of a memory.

    Further addresses of one become aliases of the first. What the file calls an alias is one of the
    memory that it names, or a question if that is not there; so is the second of two that have one
    size and names as two addresses of one memory have.
    """
    cores = {core.name for core in facts.cores}
    memories = tuple(_one_each(facts.memories, cores))
    if len(memories) > MAX_ENTRIES:
        memories = facts.memories
    known = [_follow_alias(each, memories) for each in memories]
    first = {each.name: each for each in reversed(known)}
    whys = [_cannot_be(each, first.get(each.alias)) for each in known]
    left_out = [
        memory_left_out(each.name, each.origin, why, each.source)
        for each, why in zip(known, whys, strict=True)
        if why
    ]
    known = [each for each, why in zip(known, whys, strict=True) if not why]
    return replace(
        facts,
        memories=tuple(_undecided_memories(_with_views(known))),
        left_out=(*facts.left_out, *left_out),
    )


def _one_each(memories: Sequence[Memory], cores: set[str]) -> Iterator[Memory]:
    for memory in memories:
        if not cores <= {*memory.cores}:
            yield memory  # some cores may see it at one of the addresses, some at another
            continue
        yield replace(memory, others=())
        for number, origin in enumerate(memory.others, 2):
            if origin < ADDRESS_SPACE:
                name = f"{memory.name}_at_{number}"
                yield replace(memory, name=name, origin=origin, others=(), alias=memory.name)


def _follow_alias(memory: Memory, memories: Sequence[Memory]) -> Memory:
    """Return a memory with the one whose bytes it shows: that is no alias itself.

    Of those that call each other an alias the one with the lowest address is the memory.
    """
    if memory.alias in ("", UNDECIDED):
        return memory
    chain = [memory]
    while (target := _memory_named(chain[-1].alias, memories)) and target not in chain:
        chain.append(target)
    ring = chain[chain.index(target) :] if target is not None else []
    if len(ring) > 1:
        root = min(ring, key=lambda each: (each.origin, each.name)).name
    elif chain[-1].alias:
        why = (
            f"the file says of '{chain[-1].alias}', and does not have one other memory of that name"
        )
        return replace(memory, alias=UNDECIDED, why=why)
    else:
        root = chain[-1].name
    return replace(memory, alias="" if root == memory.name else root)


def _cannot_be(alias: Memory, real: Memory | None) -> str:
    """Say why a description has no such alias, or nothing."""
    if real is None:
        return ""
    if None not in (alias.writable, real.writable) and alias.writable != real.writable:
        does = "stored to" if alias.writable else "only read"
        return f"{format_size(alias.size)} of '{real.name}' that are {does} there, unlike it"
    apart = (alias.origin - real.origin) % _STEP
    if apart and alias.size == real.size and not (alias.space or real.space):
        return f"{format_size(alias.size)} of '{real.name}', no multiple of 4 KiB from it"
    return ""


def _memory_named(name: str, memories: Sequence[Memory]) -> Memory | None:
    """Return the only memory of a name."""
    found = [each for each in memories if each.name == name]
    return found[0] if len(found) == 1 else None


def _with_views(memories: Sequence[Memory]) -> Sequence[Memory]:
    """Return memories; what cores see of a whole one at an address of theirs is a view of it."""
    kept = {id(each): each for each in memories}
    for alias in memories:
        real = _memory_named(alias.alias, [*kept.values()]) if alias.space and alias.views else None
        if real and real.size == alias.size and not {*dict(real.views)} & {*alias.cores}:
            del kept[id(alias)]
            why = f"{real.why}; '{alias.name}' of {alias.source} is a view of it"
            place = next(key for key, each in kept.items() if each is real)
            kept[place] = replace(real, views=(*real.views, *alias.views), why=why)
    return tuple(kept.values())


def _undecided_memories(memories: Sequence[Memory]) -> Iterator[Memory]:
    """Yield memories; of those alike that are no aliases all but the first may be one of it."""
    first: dict[tuple[str, int, bool | None], str] = {}
    for memory in memories:
        alike = (stem_of(identifier(memory.name, (), "memory")), memory.size, memory.writable)
        other = memory.name if memory.alias else first.setdefault(alike, memory.name)
        if other == memory.name:
            yield memory
        else:
            yield replace(memory, alias=UNDECIDED, perhaps=other)
