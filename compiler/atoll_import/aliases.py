# SPDX-License-Identifier: Apache-2.0
"""Memories of a file that are other addresses of one, and those that could be."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atoll.description.aliases import stem_of
from atoll.description.fields import ADDRESS_SPACE, MAX_ENTRIES
from atoll.description.undecided import UNDECIDED
from atoll_import.facts import Facts, Memory
from atoll_import.names import identifier


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
    return replace(
        facts,
        memories=tuple(_undecided_memories([_follow_alias(each, memories) for each in memories])),
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

    Of those that call each other an alias the first is the memory.
    """
    if not memory.alias:
        return memory
    names = {each.name: each for each in memories}
    chain = [memory]
    while (target := names.get(chain[-1].alias)) and target not in chain:
        chain.append(target)
    if target is not None:
        ring = chain[chain.index(target) :]
        root = min(ring, key=memories.index).name
    else:
        root = UNDECIDED if chain[-1].alias else chain[-1].name
    return replace(memory, alias="" if root == memory.name else root)


def _undecided_memories(memories: Sequence[Memory]) -> Iterator[Memory]:
    first: dict[tuple[str, int, bool | None], str] = {}
    for memory in memories:
        alike = (stem_of(identifier(memory.name, (), "memory")), memory.size, memory.writable)
        other = first.setdefault(alike, memory.name)
        if memory.alias or other == memory.name:
            yield memory
        else:
            why = f"perhaps '{other}' at another address, or 'none'"
            yield replace(memory, alias=UNDECIDED, why=why)
