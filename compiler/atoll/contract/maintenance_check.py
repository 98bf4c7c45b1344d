# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse the cache maintenance of a program. Knows nothing of the pass that put it there.

Follows, for each byte of the cached pools, who wrote it last, and whose value memory holds and
each device with a cache would load, as far as that is sure: a cache takes in and writes back lines
whenever it likes. A device has to find the latest value in its own view, without a cache in memory.

Cores that share a cache write back the same lines, and load what the others stored. What one of
them forgets, the others have not forgotten before its step ends. Where the host is one of them, it
alone maintains the cache, before it has any step begin. It maintains the cache of an accelerator,
too, but not the lines of what that is writing.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import AcceleratorStart, AcceleratorWait, CallStart, Entry, IRModule, Step
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import Access, Cache, Pool, ResolvedSoc

UNSURE = -1


def check_maintenance(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> None:
    """Accept `module` if every device finds in `plan` what was written last.

    Raises:
        PlanError: E108; a cache may hide it, or write over it.
    """
    if soc.cached_devices and (faults := tuple(maintenance_faults(module, plan, soc))):
        raise PlanError.all(faults)


def maintenance_faults(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for every buffer that somebody may find out of date."""
    state, entry = _Run(module.entry, plan, soc), module.entry
    ends: dict[str, tuple[Maintenance, ...]] = {}
    for number, step in enumerate(entry.steps, 1):
        yield from state.maintain(step.before)
        state.run(step)
        loads = [name for name in step.reads if name not in step.writes]
        yield from state.read(step.device, loads, f"by '{step.operator}'")
        state.write(step, number)
        if isinstance(step.action, CallStart):
            ends[step.device] = step.after
        else:
            yield from state.maintain((*ends.pop(step.device, ()), *step.after))
            state.end(step.device)
    yield from state.maintain(entry.after)
    mapped = entry.inputs if soc.interface.map_inputs else ()
    yield from state.read(soc.host, (*entry.outputs, *mapped), "when the run has ended")
    yield from state.read("memory", entry.states, "by the next run")
    yield from state.late_write_backs()


class _View:
    """What one device would load, and what it may write back.

    Attributes:
        names: the buffers that its cache keeps bytes of.
        sharers: the views of all cores that have its cache, itself included.
        dirty: lines that may be written back; the same for all sharers.
        forgotten: bytes that it forgot in the step under way.
    """

    def __init__(
        self, cache: Cache, names: frozenset[str], size: int, dirty: Iterable[slice]
    ) -> None:
        self.line = cache.line
        self.names = names
        self.holds_stores = cache.write_back
        self.values = np.full(size, UNSURE, np.int32)
        self.dirty = np.zeros(-(-size // cache.line), bool)
        self.sharers: tuple[_View, ...] = (self,)
        self.forgotten: list[slice] = []
        for span in dirty if cache.write_back else ():
            self.dirty[self.lines(span)] = True

    def share(self, views: Iterable["_View"]) -> None:
        """Have the lines of the first of some views, itself among them."""
        self.sharers = tuple(views)
        self.dirty = self.sharers[0].dirty

    def lines(self, span: slice) -> slice:
        """Return the lines that a span of bytes touches."""
        return slice(span.start // self.line, -(-span.stop // self.line))

    def whole(self, span: slice) -> slice:
        """Return the bytes of these lines."""
        lines = self.lines(span)
        return slice(lines.start * self.line, lines.stop * self.line)


class _Run:
    """The state of memory and views while the program runs."""

    def __init__(self, entry: Entry, plan: MemoryPlan, soc: ResolvedSoc) -> None:
        keepers = {
            pool.name: {each.name for each in soc.cached_devices if soc.keeps(each, pool)}
            for pool in soc.pools
        }
        pools = [
            pool
            for pool in soc.pools
            if keepers[pool.name]
            and len({soc.sharing(name) or name for name in _devices_that_reach(pool)}) > 1
        ]
        most = max(each.cache.line for each in soc.cached_devices if each.cache)
        size, spans = 0, {}
        for pool in pools:
            inside, used = pool.region.origin % most, _used_bytes(plan, entry, pool)
            spans[pool.name] = slice(size + inside, size + inside + used)
            size += -(-(inside + used) // most) * most
        self._spans = {
            name: slice(begin, begin + entry.sizes[name])
            for name, place in plan.placements.items()
            if place.pool in spans
            for origin in [soc.pool(place.pool).region.origin]
            for begin in [plan.address(name) - origin + spans[place.pool].start]
        }
        left = [spans[pool.name] for pool in pools if soc.host in keepers[pool.name]]
        self._host = soc.host
        self._npus = frozenset(npu.name for npu in soc.cached_npus)
        self._running: dict[str, frozenset[str]] = {}
        self._latest = np.full(size, UNSURE - 1, np.int32)
        self._memory = np.full(size, UNSURE, np.int32)
        self._views = {
            each.name: _View(
                each.cache,
                frozenset(
                    name
                    for name, place in plan.placements.items()
                    if each.name in keepers[place.pool]
                ),
                size,
                left if each.name == soc.host else (),
            )
            for each in soc.cached_devices
            if each.cache
        }
        for sharing in soc.data_caches:
            for cpu in sharing:
                self._views[cpu.name].share(self._views[each.name] for each in sharing)
        for name in (*entry.inputs, *(constant.name for constant in entry.constants)):
            self._store(soc.host, name, 0)
        for name in entry.states:
            self._keep(name)

    def read(self, device: str, names: Iterable[str], when: str) -> Iterator[Fault]:
        """Yield the buffers in which a device may not find what was written last."""
        for name in names:
            span, own = self._spans.get(name), self._own(device, name)
            seen = own.values if own else self._memory
            if span and not _equal(seen[span], self._latest[span]):
                yield _fault(f"'{name}' is read {when} on '{device}', which may find old bytes")

    def write(self, step: Step, number: int) -> None:
        """Let a step write; what is started may write until its wait."""
        for name in step.writes:
            self._store(step.device, name, number, again=isinstance(step.action, AcceleratorWait))

    def run(self, step: Step) -> None:
        """Remember what an accelerator writes until its wait."""
        if isinstance(step.action, AcceleratorStart):
            self._running[step.device] = frozenset(step.writes)
        elif isinstance(step.action, AcceleratorWait):
            self._running.pop(step.device, None)

    def maintain(self, operations: Iterable[Maintenance]) -> Iterator[Fault]:
        """Let caches be maintained."""
        for each in operations:
            view, span = self._views[each.device], self._spans.get(each.buffer)
            if each.buffer in self._running.get(each.device, ()):
                yield _fault(f"'{each}' is of a buffer that '{each.device}' is writing")
            if span is None or each.buffer not in view.names:
                yield _fault(f"'{each}' is of a buffer that no cache holds")
                continue
            if each.device != self._host and self._views.get(self._host) in view.sharers:
                yield _fault(f"'{each}' is what the host does, which has the same cache")
            if each.operation is Operation.CLEAN:
                self._write_back(view, span)
            else:
                self._forget(view, span)
            if each.device == self._host or each.device in self._npus:
                self.end(each.device)

    def end(self, device: str) -> None:
        """End a step: what its core forgot, all that share its cache have forgotten."""
        if view := self._views.get(device):
            for whole in view.forgotten:
                for other in view.sharers:
                    other.values[whole] = view.values[whole]
            view.forgotten.clear()

    def late_write_backs(self) -> Iterator[Fault]:
        """Yield the devices, other than the host, that may write back after the run."""
        for device, view in self._views.items():
            if self._views.get(self._host) not in view.sharers and view.dirty.any():
                yield _fault(f"'{device}' may write back lines when the run has ended")

    def _own(self, device: str, name: str) -> _View | None:
        """Return the view that a device has of a buffer; None if it has no other than memory."""
        view = self._views.get(device)
        return view if view and name in view.names else None

    def _keep(self, name: str) -> None:
        """Take a state, which memory holds as a run begins."""
        if span := self._spans.get(name):
            self._latest[span] = self._memory[span] = 0
            for view in self._views.values():
                view.dirty[view.lines(span)] = False

    def _store(self, device: str, name: str, value: int, *, again: bool = False) -> None:
        span = self._spans.get(name)
        if span is None:
            return
        if again:
            value = int(self._latest[span.start])
        self._latest[span] = value
        own = self._own(device, name)
        for view in self._views.values():
            view.values[span] = value if own in view.sharers else UNSURE
        if own and own.holds_stores:
            whole = own.whole(span)
            own.dirty[own.lines(span)] = True
            _lose(self._memory, whole, own.values)
            self._evict(own, span)
            return
        self._memory[span] = value
        self._overwrite(span)
        for sharer in own.sharers if own else ():
            _lose(sharer.values, span, self._memory)

    def _evict(self, own: _View, span: slice) -> None:
        """Be unsure of stored lines that leave a cache, over which another one writes its own."""
        for other in self._views.values():
            first = other.lines(span).start
            dirty = () if other in own.sharers else np.flatnonzero(other.dirty[other.lines(span)])
            for line in (each + first for each in dirty):
                whole = slice(line * other.line, (line + 1) * other.line)
                self._memory[whole] = UNSURE
                for sharer in own.sharers:
                    sharer.values[whole] = UNSURE

    def _overwrite(self, span: slice) -> None:
        """Be unsure of bytes over which a cache may yet write back its own."""
        for view in self._views.values():
            begin = view.lines(span).start
            for line in np.flatnonzero(view.dirty[view.lines(span)]) + begin:
                self._memory[line * view.line : (line + 1) * view.line] = UNSURE

    def _write_back(self, view: _View, span: slice) -> None:
        for line in np.flatnonzero(view.dirty[view.lines(span)]) + view.lines(span).start:
            whole = slice(line * view.line, (line + 1) * view.line)
            self._memory[whole] = view.values[whole]
            view.dirty[line] = False
            self._overwrite(whole)
            for sharer in view.sharers:
                _lose(sharer.values, whole, self._memory)

    def _forget(self, view: _View, span: slice) -> None:
        lines, whole = view.lines(span), view.whole(span)
        if view.dirty[lines].any():
            _lose(self._memory, whole, view.values)
        view.dirty[lines] = False
        for other in view.sharers:
            _lose(other.values, whole, self._memory)
        view.values[whole] = self._memory[whole]
        view.forgotten.append(whole)


def _used_bytes(plan: MemoryPlan, entry: Entry, pool: Pool) -> int:
    """Return the bytes of a pool up to the end of its highest buffer."""
    held = (name for name, place in plan.placements.items() if place.pool == pool.name)
    ends = (plan.address(name) + entry.sizes[name] for name in held)
    return max(ends, default=pool.region.origin) - pool.region.origin


def _devices_that_reach(pool: Pool) -> set[str]:
    return {name for name, access in pool.reach.items() if access is not Access.NONE}


def _lose(memory: NDArray[np.int32], whole: slice, values: NDArray[np.int32]) -> None:
    """Be unsure of bytes of `memory` that may be as they are there, or in `values`."""
    memory[whole] = np.where(memory[whole] == values[whole], memory[whole], UNSURE)


def _equal(one: NDArray[np.int32], other: NDArray[np.int32]) -> bool:
    return bool((one == other).all())


def _fault(message: str) -> Fault:
    return Fault(code="E108", message=message, remedy="report it: a pass did this")
