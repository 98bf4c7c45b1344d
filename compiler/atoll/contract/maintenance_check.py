# SPDX-License-Identifier: Apache-2.0
"""Accept or refuse the cache maintenance of a program. Knows nothing of the pass that put it there.

Follows, for each byte of the cached pools, who wrote it last, and whose value memory holds and
each core with a cache would load, as far as that is sure: a cache takes in and writes back lines
whenever it likes. A device has to find the latest value in memory, a core in its own view.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import Fault, PlanError
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.tir import AcceleratorWait, CallStart, Entry, IRModule, Step
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import Access, Cache, Pool, ResolvedSoc

UNSURE = -1


def check_maintenance(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> None:
    """Accept `module` if every device finds in `plan` what was written last.

    Raises:
        PlanError: E108; a cache may hide it, or write over it.
    """
    if soc.cached_cpus and (faults := tuple(maintenance_faults(module, plan, soc))):
        raise PlanError.all(faults)


def maintenance_faults(module: IRModule, plan: MemoryPlan, soc: ResolvedSoc) -> Iterator[Fault]:
    """Yield a fault for every buffer that somebody may find out of date."""
    state, entry = _Run(module.entry, plan, soc), module.entry
    ends: dict[str, tuple[Maintenance, ...]] = {}
    for number, step in enumerate(entry.steps, 1):
        yield from state.maintain(step.before)
        loads = [name for name in step.reads if name not in step.writes]
        yield from state.read(step.device, loads, f"by '{step.operator}'")
        state.write(step, number)
        if isinstance(step.action, CallStart):
            ends[step.device] = step.after
        else:
            yield from state.maintain((*ends.pop(step.device, ()), *step.after))
    yield from state.maintain(entry.after)
    mapped = entry.inputs if soc.interface.map_inputs else ()
    yield from state.read(soc.host, (*entry.outputs, *mapped), "when the run has ended")
    yield from state.read("memory", entry.states, "by the next run")
    yield from state.late_write_backs()


class _View:
    """What one core would load, and what it may write back."""

    def __init__(self, cache: Cache, size: int, dirty: Iterable[slice]) -> None:
        self.line = cache.line
        self.holds_stores = cache.write_back
        self.values = np.full(size, UNSURE, np.int32)
        self.dirty = np.zeros(-(-size // cache.line), bool)
        for span in dirty if cache.write_back else ():
            self.dirty[self.lines(span)] = True

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
        cores = {cpu.name for cpu in soc.cached_cpus}
        pools = [
            pool
            for pool in soc.pools
            if soc.is_cached(pool)
            and cores & _devices_that_reach(pool)
            and len(_devices_that_reach(pool)) > 1
        ]
        most = max(cpu.cache.line for cpu in soc.cached_cpus if cpu.cache)
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
        left = [spans[pool.name] for pool in pools if soc.host in _devices_that_reach(pool)]
        self._host = soc.host
        self._latest = np.full(size, UNSURE - 1, np.int32)
        self._memory = np.full(size, UNSURE, np.int32)
        self._views = {
            cpu.name: _View(cpu.cache, size, left if cpu.name == soc.host else ())
            for cpu in soc.cached_cpus
            if cpu.cache
        }
        for name in (*entry.inputs, *(constant.name for constant in entry.constants)):
            self._store(soc.host, name, 0)
        for name in entry.states:
            self._keep(name)

    def read(self, device: str, names: Iterable[str], when: str) -> Iterator[Fault]:
        """Yield the buffers in which a device may not find what was written last."""
        seen = self._views[device].values if device in self._views else self._memory
        for name in names:
            span = self._spans.get(name)
            if span and not _equal(seen[span], self._latest[span]):
                yield _fault(f"'{name}' is read {when} on '{device}', which may find old bytes")

    def write(self, step: Step, number: int) -> None:
        """Let a step write; what is started may write until its wait."""
        for name in step.writes:
            self._store(step.device, name, number, again=isinstance(step.action, AcceleratorWait))

    def maintain(self, operations: Iterable[Maintenance]) -> Iterator[Fault]:
        """Let cores maintain their caches."""
        for each in operations:
            view, span = self._views[each.core], self._spans.get(each.buffer)
            if span is None:
                yield _fault(f"'{each}' is of a buffer that no cache holds")
                continue
            if each.operation is Operation.CLEAN:
                self._write_back(view, span)
            else:
                self._forget(view, span)

    def late_write_backs(self) -> Iterator[Fault]:
        """Yield the cores, other than the host, that may write back after the run."""
        for core, view in self._views.items():
            if core != self._host and view.dirty.any():
                yield _fault(f"'{core}' may write back lines when the run has ended")

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
        own = self._views.get(device)
        for view in self._views.values():
            if view is not own:
                view.values[span] = UNSURE
        if own:
            own.values[span] = value
        if own and own.holds_stores:
            whole = own.whole(span)
            own.dirty[own.lines(span)] = True
            _lose(self._memory, whole, own.values)
            return
        self._memory[span] = value
        for view in self._views.values():
            if view.dirty[view.lines(span)].any():
                self._memory[span] = UNSURE

    def _write_back(self, view: _View, span: slice) -> None:
        for line in np.flatnonzero(view.dirty[view.lines(span)]) + view.lines(span).start:
            whole = slice(line * view.line, (line + 1) * view.line)
            self._memory[whole] = view.values[whole]
            view.dirty[line] = False

    def _forget(self, view: _View, span: slice) -> None:
        lines, whole = view.lines(span), view.whole(span)
        if view.dirty[lines].any():
            _lose(self._memory, whole, view.values)
        view.dirty[lines] = False
        view.values[whole] = self._memory[whole]


def _used_bytes(plan: MemoryPlan, entry: Entry, pool: Pool) -> int:
    """Return the bytes of a pool up to the end of its highest buffer."""
    held = (name for name, place in plan.placements.items() if place.pool == pool.name)
    ends = (plan.address(name) + entry.sizes[name] for name in held)
    return max(ends, default=pool.region.origin) - pool.region.origin


def _devices_that_reach(pool: Pool) -> set[str]:
    return {name for name, access in pool.reach.items() if access is not Access.NONE}


def _lose(memory: NDArray[np.int32], whole: slice, values: NDArray[np.int32]) -> None:
    """Be unsure of the bytes that may be written back or not."""
    memory[whole] = np.where(memory[whole] == values[whole], memory[whole], UNSURE)


def _equal(one: NDArray[np.int32], other: NDArray[np.int32]) -> bool:
    return bool((one == other).all())


def _fault(message: str) -> Fault:
    return Fault(code="E108", message=message, remedy="report it: a pass did this")
