# SPDX-License-Identifier: Apache-2.0
"""The chip's memories as one core sees them: through its data cache, if it has one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from atoll.resolve.memory_views import on_bus, shows_memory
from atoll.resolve.soc import Cache, Cpu, Memory, ResolvedSoc
from atoll_sim.engines.interface import BusFault
from atoll_sim.host.memory import PAGE, HostMemory
from atoll_sim.iss.native import CoreState, IssModel

WORD = 4
TURNED_ON = "scb"
"""A cache of this kind is off until the core turns it on."""


class CoreCache:
    """What a core does to its cache; see `cache_control`."""

    def __init__(self, cpu: Cpu, model: IssModel, state: CoreState) -> None:
        """Look at the cache of the core of `state`, if it has one."""
        self.line = cpu.cache.line if cpu.cache else 0
        self._name = cpu.name
        self._model = model
        self._state = state

    def maintain(self, address: int, *, cleans: bool) -> None:
        """See `CacheControl`."""
        byte = on_bus(self._model.soc, self._name, address)
        self._model.maintain(self._state, byte, cleans=cleans)

    def turn_on(self, *, forgotten: bool) -> None:
        """See `CacheControl`."""
        self._model.turn_cache_on(self._state, forgotten=forgotten)


class CoreMemory:
    """Where a core's loads and stores go."""

    def __init__(self, cpu: Cpu, model: IssModel, state: CoreState) -> None:
        """Look at the memories of `model`; the core of `state` gets its cache."""
        self._model = model
        self._name = cpu.name
        self.aliases = tuple(
            each
            for each in model.soc.aliases
            if cpu.name in each.devices and not shows_memory(model.soc, each, cpu.name)
        )
        self._uncached = tuple(_uncached_ranges(model.soc)) if cpu.cache else ()
        self._view = _view(cpu.cache, model, state, self._uncached) if cpu.cache else None
        if cpu.cache and cpu.maintained_by != TURNED_ON:
            model.turn_cache_on(state, forgotten=True)
        if cpu.cache and cpu.cache.is_countable:
            spans = _spans((m for m in model.soc.memories if m.cached), self._uncached)
            model.count_lines(state, cpu.cache, spans)

    def word(self, address: int) -> int:
        """Return the word that the core sees at an address of its own."""
        return int.from_bytes(self._read(self._on_bus(address)), "little")

    def put(self, address: int, value: int) -> None:
        """Set the word that the core sees at an address of its own."""
        self.write(self._on_bus(address), value.to_bytes(WORD, "little"))

    def _on_bus(self, address: int) -> int:
        return on_bus(self._model.soc, self._name, address)

    def _read(self, address: int) -> bytes:
        return self._at(address).read(address, WORD)

    def pointer(self, address: int) -> int:
        """Return where the host has the byte that the core sees at an address."""
        return self._at(address).pointer(address)

    def places(self, part: range) -> Iterator[tuple[range, int]]:
        """Yield where the core sees a part of a memory, and where the host has it for that."""
        for each in self._model.soc.memories:
            if each.origin <= part.start < each.end:
                seen = part.start - each.origin + each.device_range(self._name).start
                yield (
                    range(seen, seen + len(part)),
                    self._memory_of(part.start, cached=True).pointer(part.start),
                )
        for alias in self.aliases:
            end = -(-(alias.byte + alias.size) // PAGE) * PAGE
            shown = range(max(part.start, alias.byte & -PAGE), min(part.stop, end))
            if shown:
                seen = shown.start - alias.byte + alias.device_range(self._name).start
                yield (
                    range(seen, seen + len(shown)),
                    self._memory_of(shown.start, cached=alias.cached).pointer(shown.start),
                )

    def write(self, address: int, data: bytes) -> None:
        """Set what the core sees."""
        self._at(address).write(address, data)

    def _at(self, address: int) -> HostMemory:
        uncached = any(address in span for span in self._uncached)
        return self._memory_of(address, cached=not uncached)

    def _memory_of(self, address: int, *, cached: bool) -> HostMemory:
        """Return what has a byte for the core: what its cache would show it, or memory itself."""
        if self._view is None or not cached:
            return self._model.memory
        try:
            self._view.pointer(address)
        except BusFault:
            return self._model.memory
        return self._view


def _uncached_ranges(soc: ResolvedSoc) -> Iterator[range]:
    """Yield what cores touch at an alias that no cache works on, by address."""
    for region in sorted(soc.regions(), key=lambda region: region.origin):
        if (alias := soc.alias_for(region)) is not None and not alias.cached:
            yield range(region.origin, region.end)


def _view(cache: Cache, model: IssModel, state: CoreState, uncached: Sequence[range]) -> HostMemory:
    """Return what a core sees through its cache, which it gets, or has with others."""
    soc = model.soc
    if cache.shared in model.shared:
        other, view = model.shared[cache.shared]
        model.share_cache(state, other)
        return view
    cached = tuple(m for m in soc.memories if m.cached and m.kind == "ram" and m.low)
    view = HostMemory(replace(soc, memories=cached))
    model.give_cache(state, cache)
    for span in _spans(cached, uncached):
        model.cover(state, span, view.pointer(span.start))
    if cache.shared:
        model.shared[cache.shared] = state, view
    return view


def _spans(memories: Iterable[Memory], uncached: Sequence[range]) -> Iterator[range]:
    """Yield what is in memories and not in `uncached`."""
    for each in memories:
        begin, end = each.low.start, each.low.stop
        for hole in (
            *(span for span in uncached if begin <= span.start < end),
            range(end, end),
        ):
            if begin < hole.start:
                yield range(begin, hole.start)
            begin = hole.stop
