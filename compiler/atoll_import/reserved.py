# SPDX-License-Identifier: Apache-2.0
"""Memories without the bytes that nothing may map, whichever of their addresses says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count

from atoll.description.fields import MAX_ENTRIES
from atoll.description.undecided import UNDECIDED
from atoll.diagnostics.units import format_size
from atoll_import.facts import Facts, LeftOut, Memory, Reserved, memory_left_out
from atoll_import.merge import too_many_memories

_GRANULE = 16


def without_reserved(facts: Facts) -> Facts:
    """Return what files say; of a memory with reserved bytes each part beside them is a memory.

    Bytes that are reserved at one address of a memory are so at its others, and at those of which
    nobody has said yet whether they are its. Of an alias of another size no file says which bytes
    it shows: that some of them are reserved is listed.
    """
    if not facts.reserved:
        return facts
    first: dict[str, Memory] = {}
    for each in facts.memories:
        first.setdefault(each.name, each)
    groups: dict[int, list[Memory]] = {}
    parts: dict[int, list[Memory]] = {}
    left_out: list[LeftOut] = []
    for each in facts.memories:
        root = _root(each, first)
        groups.setdefault(id(root if root.size == each.size else each), []).append(each)
        if root.size != each.size and any(_reserved_ranges(each, facts.reserved)):
            why = f"some of it is reserved in '{each.name}', no file says which; keep pools off it"
            left_out.append(memory_left_out(root.name, root.origin, why, root.source))
    names = {*first}
    for group in groups.values():
        own = [[*_reserved_ranges(each, facts.reserved)] for each in group]
        kept = [*_free_ranges(chain.from_iterable(own), group[0].size)]
        for each, spans in zip(group, own, strict=True):
            parts[id(each)] = [*_parts(each, kept, names)]
            left_out += _losses_elsewhere(each, spans, kept, group)
    memories = [
        _alias_of_part(each, index, first, parts)
        for each in facts.memories
        for index in range(len(parts[id(each)]))
    ]
    return replace(
        facts,
        memories=tuple(memories[:MAX_ENTRIES]),
        left_out=(*facts.left_out, *left_out, *too_many_memories(memories)),
    )


def _root(memory: Memory, first: Mapping[str, Memory]) -> Memory:
    """Return the memory whose bytes one shows, or may show; itself if it has its own."""
    path = [memory]
    while (name := path[-1].perhaps or path[-1].alias) in first and first[name] not in path:
        path.append(first[name])
    return path[-1]


def _reserved_ranges(memory: Memory, reserved: Sequence[Reserved]) -> Iterator[range]:
    """Yield the reserved bytes of a memory, counted from its first, as whole granules."""
    for each in reserved:
        if memory.space and each.source.path != memory.source.path:
            continue  # its address is not one of the bus
        for origin in (memory.origin, *memory.others):
            begin = max(each.span.start - origin, 0) // _GRANULE * _GRANULE
            end = min(-(-(each.span.stop - origin) // _GRANULE) * _GRANULE, memory.size)
            if begin < end:
                yield range(begin, end)


def _free_ranges(taken: Iterator[range], size: int) -> Iterator[range]:
    """Yield what is left of so many bytes."""
    begin = 0
    for span in sorted(taken, key=lambda it: it.start):
        if begin < span.start:
            yield range(begin, span.start)
        begin = max(begin, span.stop)
    if begin < size or not size:
        yield range(begin, size)


def _parts(memory: Memory, kept: Sequence[range], names: set[str]) -> Iterator[Memory]:
    """Yield what is left of a memory; each part but the first has a name of its own."""
    for index, span in enumerate(kept):
        name = memory.name
        if index:
            tails = (f"{memory.name} {number}" for number in count(index + 1))
            name = next(tail for tail in tails if tail not in names)
            names.add(name)
        yield replace(
            memory,
            name=name,
            origin=memory.origin + span.start,
            others=tuple(at + span.start for at in memory.others),
            views=tuple((core, at + span.start) for core, at in memory.views),
            size=len(span),
        )


def _losses_elsewhere(
    memory: Memory, own: Sequence[range], kept: Sequence[range], group: Sequence[Memory]
) -> Iterator[LeftOut]:
    """Yield what a memory loses because bytes are reserved at another address of it."""
    lost = [*_free_ranges(iter([*own, *kept]), memory.size)] if memory.size else []
    if lost:
        at, many = memory.origin + lost[0].start, format_size(sum(map(len, lost)))
        others = ", ".join(f"'{each.name}'" for each in group if each is not memory)
        why = f"{many} from there are reserved in {others}, whose bytes it shows or may show"
        yield memory_left_out(memory.name, at, why, memory.source)


def _alias_of_part(
    whole: Memory, index: int, first: Mapping[str, Memory], parts: Mapping[int, Sequence[Memory]]
) -> Memory:
    """Return a part of a memory as an alias of the same part of another."""
    part = parts[id(whole)][index]
    named = {name: it for name in (whole.alias, whole.perhaps) if (it := first.get(name))}
    if all(each.size == whole.size for each in named.values()):
        names = {name: parts[id(each)][index].name for name, each in named.items()}
        alias, perhaps = (names.get(name, name) for name in (whole.alias, whole.perhaps))
        return replace(part, alias=alias, perhaps=perhaps)
    if all(len(parts[id(each)]) == 1 for each in named.values()):
        return part
    return replace(part, alias=UNDECIDED)
