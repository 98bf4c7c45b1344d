# SPDX-License-Identifier: Apache-2.0
"""What several files say of one chip, put together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from atoll.description.fields import ADDRESS_SPACE, MAX_ENTRIES
from atoll_import.facts import (
    Core,
    Engine,
    Facts,
    LeftOut,
    Master,
    Memory,
    Source,
    memory_left_out,
)

_ALIGNMENT = 16
_MOST_LEFT_OUT = 200
_TOO_MANY = f"a description has at most {MAX_ENTRIES} devices and {MAX_ENTRIES} memories"


def merge(files: Sequence[Facts]) -> Facts:
    """Return what all files say together; where two of them differ on one thing, the first counts.

    What a file says and another does not, such as an interrupt, is there whatever their order.

    A core is the same in two files if both have it at the same place among those of its kind, an
    engine if its registers have the same address, a memory if it begins at the same address.
    """
    cores: list[Core] = []
    memories: list[Memory] = []
    engines: dict[int | None, Engine] = {}
    masters: dict[tuple[str, str], Master] = {}
    left_out: list[LeftOut] = []
    for facts in (_limit_file(_in_order(each)) for each in files):
        names = _merge_cores(cores, facts.cores)
        known = _other_names(memories, facts.memories)
        here = [_rename(memory, names, known) for memory in facts.memories]
        left_out += [*facts.left_out, *_merge_memories(memories, here)]
        for engine in facts.engines:
            _merge_engine(engines, engine)
        for master in facts.masters:
            same = (master.name.lower(), master.what.partition(",")[0])
            longer = max(masters.get(same, master), master, key=lambda it: len(it.what))
            clocks = master.clocks or longer.clocks
            masters[same] = replace(masters.get(same, master), what=longer.what, clocks=clocks)
    memories = [*_apart(memories)]
    configured = [facts for facts in files if facts.vela]
    left_out += [
        LeftOut(f"memory {area.name}", "an earlier file has a configuration of Vela", area.source)
        for facts in configured[1:]
        for area in facts.areas
    ]
    kept, too_many = _limit(cores, [*engines.values()], [*masters.values()], memories)
    return replace(
        kept,
        name=next((facts.name for facts in files if facts.name), ""),
        left_out=_distinct((*left_out, *too_many)),
        reserved=tuple(each for facts in files for each in facts.reserved),
        host=next((facts.host for facts in files if facts.host), ""),
        windows=tuple(each for facts in files for each in facts.windows),
        mpool=next((facts.mpool for facts in files if facts.mpool), None),
        areas=configured[0].areas if configured else (),
        vela=configured[0].vela if configured else None,
        console=next((facts.console for facts in files if facts.console is not None), None),
    )


def _in_order(facts: Facts) -> Facts:
    """Return what a file says in an order that is not the file's, but for cores."""
    return replace(
        facts,
        memories=tuple(sorted(facts.memories, key=_rank)),
        engines=tuple(sorted(facts.engines, key=lambda it: (it.registers or 0, it.name))),
        masters=tuple(sorted(facts.masters, key=lambda it: (it.name.lower(), it.what))),
    )


def _rank(memory: Memory) -> tuple[str, int, int, str, tuple[str, ...]]:
    """Return by what memories are sorted; of those that overlap the first is kept."""
    return memory.space, memory.origin, -memory.size, memory.name, memory.cores


def _limit_file(facts: Facts) -> Facts:
    """Return what a file says without what is too much for any description."""
    whole: dict[str, Sequence[Core | Engine | Master]] = {
        **{"cores": facts.cores, "engines": facts.engines, "masters": facts.masters},
    }
    more = [
        LeftOut(f"{len(each) - MAX_ENTRIES} more {name}", _TOO_MANY, source)
        for name, each in whole.items()
        if len(each) > MAX_ENTRIES and (source := each[MAX_ENTRIES].source)
    ]
    more += too_many_memories(facts.memories)
    rest = facts.left_out[_MOST_LEFT_OUT:]
    if rest:
        more.append(LeftOut(f"{len(rest)} more that are left out", _TOO_MANY, rest[0].source))
    return replace(
        facts,
        cores=facts.cores[:MAX_ENTRIES],
        memories=facts.memories[:MAX_ENTRIES],
        engines=facts.engines[:MAX_ENTRIES],
        masters=facts.masters[:MAX_ENTRIES],
        left_out=(*facts.left_out[:_MOST_LEFT_OUT], *more),
    )


def too_many_memories(memories: Sequence[Memory]) -> Iterator[LeftOut]:
    """Yield the memories that are too many for a description."""
    for each in memories[MAX_ENTRIES:_MOST_LEFT_OUT]:
        yield memory_left_out(each.name, each.origin, _TOO_MANY, each.source)
    if beyond := memories[_MOST_LEFT_OUT:]:
        yield LeftOut(f"{len(beyond)} more memories", _TOO_MANY, beyond[0].source)


def _distinct(left_out: Iterable[LeftOut]) -> tuple[LeftOut, ...]:
    """Return what is left out, each thing once: the files of two cores have much in common."""
    found: dict[tuple[str, str], LeftOut] = {}
    for each in left_out:
        found.setdefault((each.what, each.why), each)
    return tuple(found.values())


def _merge_cores(cores: list[Core], new: Iterable[Core]) -> dict[str, str]:
    """Add the cores of a file to those of the others; return the names that they have now."""
    names: dict[str, str] = {}
    free = list(range(len(cores)))
    for core in new:
        place = next((index for index in free if _same(cores[index], core)), None)
        if place is None:
            taken = {each.name for each in cores}
            tails = chain([""], (f" {number}" for number in count(2)))
            names[core.name] = next(it for tail in tails if (it := core.name + tail) not in taken)
            cores.append(replace(core, name=names[core.name]))
            continue
        free.remove(place)
        old = cores[place]
        names[core.name] = old.name
        both = set(old.isas) & set(core.isas)
        cores[place] = replace(
            old,
            kind=old.kind or core.kind,
            word=old.word or core.word,
            core=old.core or core.core,
            isas=tuple(isa for isa in old.isas if isa in both) or old.isas or core.isas,
            clock=old.clock or core.clock,
            mailbox=old.mailbox if old.mailbox is not None else core.mailbox,
            shared_mailbox=old.shared_mailbox or core.shared_mailbox,
            irq=old.irq if old.irq is not None else core.irq,
            loader=old.loader or core.loader,
            code=old.code or core.code,
            data=old.data or core.data,
            stack=old.stack or core.stack,
            limits=old.limits or core.limits,
            targets=old.targets or core.targets,
        )
    return names


def _same(one: Core, other: Core) -> bool:
    if one.has_mailbox or other.has_mailbox:
        return one.name == other.name
    return None in (one.core, other.core) or one.core == other.core


def _merge_engine(engines: dict[int | None, Engine], new: Engine) -> None:
    """Add an engine to those of other files; the NPU of Vela's configuration is any Ethos-U."""
    place = new.registers
    if place is None:
        place = next((at for at, each in engines.items() if each.is_ethos_u), None)
    elif new.is_ethos_u and None in engines:
        engines[place] = replace(engines.pop(None), name=new.name, source=new.source)
    old = engines.setdefault(place, new)
    engines[place] = replace(
        old,
        accelerator=old.accelerator or new.accelerator,
        registers=place,
        irq=new.irq if old.irq is None else old.irq,
        clock=old.clock or new.clock,
        macs=old.macs or new.macs,
        runs_vela=old.runs_vela or new.runs_vela,
        between=old.between or new.between,
    )


def _other_names(memories: Sequence[Memory], new: Sequence[Memory]) -> dict[str, str]:
    """Return the names that other files gave to memories of a file."""
    return {
        each.name: other.name
        for each in new
        for other in memories
        if other.size == each.size and other.origin == each.origin and not other.space
    }


def _rename(memory: Memory, names: dict[str, str], known: dict[str, str]) -> Memory:
    """Return a memory with the names that its cores, and what it is an alias of, have now."""
    return replace(
        memory,
        alias=known.get(memory.alias, memory.alias),
        perhaps=known.get(memory.perhaps, memory.perhaps),
        cores=tuple(dict.fromkeys(names.get(n, n) for n in memory.cores)),
        views=tuple((names.get(n, n), at) for n, at in memory.views),
    )


def _merge_memories(memories: list[Memory], new: Iterable[Memory]) -> list[LeftOut]:
    """Add the memories of a file to those of the others; return what cannot stay."""
    left_out: list[LeftOut] = []
    for memory in new:
        if why := _impossible(memory):
            places = (memory.origin, *memory.others)
            left_out += [_without(replace(memory, origin=at), why) for at in places]
            continue
        near = (each for each in memories if _overlap(each, memory))
        other = next((each for each in near if not _is_of_others(each, memory)), None)
        if other is None:
            memories.append(memory)
        elif other.size == memory.size and _places(other) & _places(memory) and not other.space:
            memories[memories.index(other)] = _both(other, memory)
            if other.source.path == memory.source.path and other.name != memory.name:
                why = f"it is '{other.name}' of {other.source} under another name"
                left_out.append(_without(memory, why))
        else:
            why = f"it overlaps '{other.name}' of {other.source}; one of them is enough, or wrong"
            places = (memory.origin, *memory.others)
            left_out += [_without(replace(memory, origin=at), why) for at in places]
    return left_out


def _both(one: Memory, other: Memory) -> Memory:
    """Return a memory of which two entries speak."""
    cores = tuple(dict.fromkeys((*one.cores, *other.cores)))
    known = one.writable if one.writable is not None else other.writable
    why = one.why if one.writable is not None else other.why
    origin, *others = sorted(_places(one) & _places(other))
    views = tuple(dict((*other.views, *one.views)).items())
    return replace(
        one,
        origin=origin,
        others=tuple(others),
        views=views,
        alias=one.alias or other.alias,
        perhaps=one.perhaps if one.alias else other.perhaps,
        writable=known,
        why=why,
        cores=cores,
    )


def _places(memory: Memory) -> set[int]:
    return {memory.origin, *memory.others}


def _impossible(memory: Memory) -> str:
    """Say why a description can hold no such memory, or nothing."""
    if not 0 <= memory.origin < ADDRESS_SPACE:
        return f"{memory.origin:#x} is beyond the address space of 32 bits"
    if memory.origin % _ALIGNMENT:
        return f"{memory.origin:#x} is not a multiple of {_ALIGNMENT}"
    return ""


def _apart(memories: Sequence[Memory]) -> Iterator[Memory]:
    """Yield memories; an address at which cores see different ones is none of the bus."""
    for one in memories:
        clash = any(_overlap(one, each) and _is_of_others(one, each) for each in memories)
        views = dict.fromkeys(one.cores, one.origin) | dict(one.views)
        space = f"what {', '.join(_cores_at_origin(one) or one.cores)} sees"
        yield replace(one, space=space, views=tuple(views.items())) if clash else one


def _is_of_others(one: Memory, other: Memory) -> bool:
    """Tell whether a file has two memories for different cores; one of both has one name.

    So it is too if cores see both, each at an address of its own.
    """
    same = one.name == other.name and one.origin == other.origin and one.size == other.size
    if same or one.source.path != other.source.path or not (one.cores and other.cores):
        return False
    both = {*one.cores} & {*other.cores}
    if not both:
        return True
    apart = all(
        at + one.size <= to or to + other.size <= at
        for core in both
        for at in _places_for(one, core)
        for to in _places_for(other, core)
    )
    return apart and bool(_cores_at_origin(one) and _cores_at_origin(other))


def _places_for(memory: Memory, core: str) -> set[int]:
    own = dict(memory.views).get(core)
    return _places(memory) if own is None else {own}


def _cores_at_origin(memory: Memory) -> list[str]:
    return [core for core in memory.cores if memory.origin in _places_for(memory, core)]


def _overlap(one: Memory, other: Memory) -> bool:
    if one.space != other.space:
        return False
    if _places(one) & _places(other):
        return True
    return one.origin < other.origin + other.size and other.origin < one.origin + one.size


def _without(memory: Memory, why: str) -> LeftOut:
    return memory_left_out(memory.name, memory.origin, why, memory.source)


def _limit(
    cores: list[Core], engines: list[Engine], masters: list[Master], memories: list[Memory]
) -> tuple[Facts, tuple[LeftOut, ...]]:
    """Return as much as a description may hold, and what is too much for it."""
    room = max(MAX_ENTRIES - 1 - len(cores), 0)
    room_for_masters = max(room - len(engines), 0)
    rest: list[tuple[str, Source | None]] = [
        *((core.name, core.source) for core in cores[MAX_ENTRIES - 1 :]),
        *((engine.name, engine.source) for engine in engines[room:]),
        *((master.name, master.source) for master in masters[room_for_masters:]),
    ]
    too_many = [*too_many_memories(memories)]
    kept = Facts(
        cores=tuple(cores[: MAX_ENTRIES - 1]),
        engines=tuple(engines[:room]),
        masters=tuple(masters[:room_for_masters]),
        memories=tuple(memories[:MAX_ENTRIES]),
    )
    too_many += [LeftOut(name, _TOO_MANY, source) for name, source in rest if source]
    return kept, tuple(too_many)
