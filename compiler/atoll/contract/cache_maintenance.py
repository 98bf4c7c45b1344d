# SPDX-License-Identifier: Apache-2.0
"""Have data caches cleaned and invalidated where the plan's data flow needs it.

A device with a cache may at any time take in a line, and write back one that it stored to. So what
it stored is cleaned before another device reads it, and before another device writes where a line
might still be written back; what another device wrote is invalidated before the first one loads it.

Nobody knows what ran on the host before, so at the begin each line of the pools may be dirty in
its cache, and out of date in every one. Another core than the host cleans what it wrote as each of
its steps ends: nobody could have it do so later. A state is in memory as a run begins, and is
brought there before the run ends.

The host maintains the cache of an accelerator. As a run begins that holds nothing which is yet to
be written back, and maybe old bytes anywhere; as it ends it is so again.

Cores that share a cache need nothing between each other. If the host is one of them, it does all,
before a step begins; otherwise each core does it around its own steps, and others may rely on that
once such a step has ended.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import AcceleratorWait, CallStart, Entry, IRModule, Step
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import Access, Cpu, Npu, ResolvedSoc


def maintain_caches(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> IRModule:
    """Return the module with maintenance in its steps, as little as `plan` needs."""
    devices: list[Sequence[Cpu | Npu]] = [*soc.data_caches, *((npu,) for npu in soc.cached_npus)]
    caches = [_Cache(each, module.entry, plan, soc) for each in devices]
    steps = tuple(_with(step, caches) for step in module.entry.steps)
    mapped = module.entry.inputs if soc.interface.map_inputs else ()
    read = (*module.entry.outputs, *mapped)
    states = module.entry.states
    after = (
        *(each for cache in caches for each in cache.leave()),
        *(
            each
            for cache in caches
            if cache.of_host
            for each in (*cache.load(read, caches), *cache.give(states))
        ),
    )
    reset = tuple(each for cache in caches if cache.of_host for each in cache.settle(states))
    return replace(module, entry=replace(module.entry, steps=steps, after=after, reset=reset))


def _with(step: Step, caches: Sequence["_Cache"]) -> Step:
    before: list[Maintenance] = []
    after: list[Maintenance] = []
    loads = [name for name in step.reads if name not in step.writes]
    if isinstance(step.action, AcceleratorWait):
        for cache in caches:
            cache.end(step)
        return step
    for cache in caches:
        if step.device not in cache.devices:
            before += cache.give((*loads, *step.writes))
            cache.outdate(step)
    for cache in caches:
        if step.device in cache.devices:
            before += cache.load(loads, caches, step.device)
            after += cache.store(step.writes, step.device)
            if not isinstance(step.action, CallStart):
                cache.end(step)
    return replace(step, before=tuple(before), after=tuple(after))


class _Cache:
    """What one cache may hold: the lines of the pools that its devices share with others.

    Attributes:
        devices: those that have it: cores, or an accelerator.
        of_host: the host is one of them, and maintains it.
    """

    def __init__(
        self, devices: Sequence[Cpu | Npu], entry: Entry, plan: MemoryPlan, soc: ResolvedSoc
    ) -> None:
        first = devices[0]
        cache = first.cache
        assert cache
        self.devices = frozenset(each.name for each in devices)
        self.of_host = soc.host in self.devices
        self._by_host = self.of_host or isinstance(first, Npu)
        self._keeper_of_all = soc.host if self.of_host else first.name
        self._line = cache.line
        self._holds_stores = cache.write_back
        shared = {
            pool.name: pool.region.origin
            for pool in soc.pools
            if any(soc.keeps(each, pool) for each in devices)
            and _is_shared(pool.reach, self.devices)
        }
        starts, lines = {}, 0
        for name, origin in shared.items():
            inside = origin % self._line
            starts[name] = lines * self._line + inside - origin
            held = (each for each, place in plan.placements.items() if place.pool == name)
            ends = (plan.address(each) + entry.sizes[each] for each in held)
            lines += -(-(inside + max(ends, default=origin) - origin) // self._line)
        self._starts = starts
        self._pools = {name: placement.pool for name, placement in plan.placements.items()}
        self._begins = {
            name: plan.address(name) + starts[placement.pool]
            for name, placement in plan.placements.items()
            if placement.pool in shared
        }
        self._sizes = entry.sizes
        self._stored: dict[str, None] = {}
        self._dirty = bytearray([self.of_host and self._holds_stores]) * lines
        keepers = (self._keeper_of_all,) if self._by_host else self.devices
        self._stale = {core: bytearray([1]) * (lines * self._line) for core in keepers}
        self._forgotten: dict[str, list[slice]] = {core: [] for core in keepers}
        if self.of_host:
            for name in (*entry.inputs, *(constant.name for constant in entry.constants)):
                self._set(self._stale[soc.host], self._bytes(name), 0)
        for name in entry.states:
            self._set(self._dirty, self._lines(name), 0)

    def load(
        self, names: Iterable[str], caches: Iterable["_Cache"], core: str = ""
    ) -> Iterator[Maintenance]:
        """Let a device load buffers, by default the host; yield what has to be done before.

        Constants share lines, of which other caches may have to write back the rest yet.
        """
        keeper = self._keeper(core)
        others = [each for each in caches if each is not self]
        for name in names:
            if any(self._stale[keeper][self._bytes(name)]):
                lines, own = self._lines(name), self._bytes(name)
                whole = slice(lines.start * self._line, lines.stop * self._line)
                pool = self._pools[name]
                for part in (slice(whole.start, own.start), slice(own.stop, whole.stop)):
                    if not any(each.is_dirty(pool, part, self._starts[pool]) for each in others):
                        own = slice(min(own.start, part.start), max(own.stop, part.stop))
                self._set(self._stale[keeper], own, 0)
                self._forgotten[keeper].append(whole)
                yield Maintenance(keeper, Operation.INVALIDATE, name)

    def is_dirty(self, pool: str, span: slice, start: int) -> bool:
        """Tell whether bytes of a pool may be written back yet, of a cache where it has a start."""
        if pool not in self._starts or span.start == span.stop:
            return False
        begin, end = (at - start + self._starts[pool] for at in (span.start, span.stop))
        return any(self._dirty[max(0, begin // self._line) : -(-end // self._line)])

    def store(self, names: Iterable[str], core: str) -> Iterator[Maintenance]:
        """Let a core store to buffers; yield what has to be done when it has."""
        for name in names:
            self._stored[name] = None
            for stale in self._stale.values():
                self._set(stale, self._bytes(name), 0)
            if not self._by_host and self._holds_stores and name in self._begins:
                yield Maintenance(core, Operation.CLEAN, name)
            elif self._holds_stores:
                self._set(self._dirty, self._lines(name), 1)

    def give(self, names: Iterable[str]) -> Iterator[Maintenance]:
        """Let another device touch buffers; yield what has to be done before."""
        for name in names:
            if any(self._dirty[self._lines(name)]):
                self._set(self._dirty, self._lines(name), 0)
                yield Maintenance(self._keeper_of_all, Operation.CLEAN, name)

    def leave(self) -> Iterator[Maintenance]:
        """Yield what brings all to memory that an accelerator has stored in a run.

        Buffers share lines in turn: it is the latest that hold what is dirty.
        """
        if self.of_host or not self._by_host:
            return
        dirty, names = self._dirty[:], []
        for name in reversed(self._stored):
            if any(dirty[self._lines(name)]):
                self._set(dirty, self._lines(name), 0)
                names.append(name)
        for name in tuple(reversed(names)):
            rest = self._dirty[:]
            for other in names:
                if other != name:
                    self._set(rest, self._lines(other), 0)
            if not any(rest):
                names.remove(name)
        yield from self.give(names)

    def settle(self, names: Iterable[str]) -> Iterator[Maintenance]:
        """Yield what brings buffers to memory that the host has stored outside of a run."""
        held = (name for name in names if self._holds_stores and name in self._begins)
        yield from (Maintenance(self._keeper_of_all, Operation.CLEAN, name) for name in held)

    def end(self, step: Step) -> None:
        """Let a step end: what its core forgot, no core of the cache finds any more."""
        if step.device not in self.devices:
            self.outdate(step)
            return
        keeper = self._keeper(step.device)
        for whole in self._forgotten[keeper]:
            own = self._stale[keeper][whole]
            for stale in (each for core, each in self._stale.items() if core != keeper):
                stale[whole] = bytes(map(min, stale[whole], own))
        self._forgotten[keeper].clear()

    def outdate(self, step: Step) -> None:
        """Let a step of a device write that has another view."""
        for stale in self._stale.values():
            for name in step.writes:
                self._set(stale, self._bytes(name), 1)

    def _keeper(self, core: str) -> str:
        return self._keeper_of_all if self._by_host else core

    def _bytes(self, name: str) -> slice:
        if name not in self._begins:
            return slice(0)
        begin = self._begins[name]
        return slice(begin, begin + self._sizes[name])

    def _lines(self, name: str) -> slice:
        span = self._bytes(name)
        return slice((span.start or 0) // self._line, -(-span.stop // self._line))

    @staticmethod
    def _set(flags: bytearray, where: slice, value: int) -> None:
        flags[where] = bytes([value]) * len(flags[where])


def _is_shared(reach: Mapping[str, Access], devices: frozenset[str]) -> bool:
    """Return whether some devices and another one reach a pool."""
    reaching = {name for name, access in reach.items() if access is not Access.NONE}
    return bool(reaching & devices and reaching - devices)
