# SPDX-License-Identifier: Apache-2.0
"""Lines of data caches that a planned program moves, operator by operator, and what they take.

What comes first is found by going through the lines of all buffers once, operator by operator, with
what those before left in the cache; what comes again within an operator, by the reuse in its loops.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from atoll.cost.basis import COUNTED, SIMULATED
from atoll.cost.counted import core_to_count, counted_accesses, latency_in_core_cycles
from atoll.cost.executed import UncountableError
from atoll.cost.kernel_runs import runs_of
from atoll.cost.reuse import Lines, Space, count_lines
from atoll.ir.graph import Graph, Operator
from atoll.ir.maintenance import Maintenance, Operation
from atoll.ir.statements import PrimFunc
from atoll.ir.tir import CoreCall, Step
from atoll.records import dataclass
from atoll.resolve.data_cache import Cache
from atoll.resolve.soc import Cpu, ResolvedSoc
from atoll.utils.remember import Alike, remember

KERNELS_AT_HAND = 1024
"""Kernels of which a process keeps what lines they move."""


class Moved(NamedTuple):
    """Lines of a memory that an operator moves."""

    loaded: float
    written: float

    def plus(self, other: "Moved") -> "Moved":
        """Return the sum."""
        return Moved(self.loaded + other.loaded, self.written + other.written)


@dataclass(frozen=True, slots=True)
class OperatorLines:
    """What an operator moves between a core's data cache and memories.

    Attributes:
        by_memory: of these, each that is touched.
        ran: the lines are those of a run on the instruction-set simulator.
    """

    by_memory: Mapping[str, Moved]
    ran: bool

    @property
    def basis(self) -> str:
        """What the lines rest on."""
        return SIMULATED if self.ran else COUNTED


class Program(Protocol):
    """A planned network, as a `ProgramCost` describes it."""

    @property
    def soc(self) -> ResolvedSoc: ...  # noqa: D102
    @property
    def graph(self) -> Graph: ...  # noqa: D102
    @property
    def lists(self) -> Sequence[Sequence[Step]]: ...  # noqa: D102
    @property
    def sizes(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def pools(self) -> Mapping[str, str]: ...  # noqa: D102
    @property
    def addresses(self) -> Mapping[str, int]: ...  # noqa: D102
    @property
    def functions(self) -> Mapping[str, PrimFunc]: ...  # noqa: D102


def lines_by_operator(cost: Program) -> Mapping[str, OperatorLines]:
    """Return what operators move on cores that alone have a data cache, of a known size.

    Those are left out of which nobody can count it.
    """
    cores = [core for core in cost.soc.cached_cpus if core.cache and core.cache.is_countable]
    found: dict[str, OperatorLines] = {}
    for core in cores:
        found |= _Walk(cost, core).operators()
    return found


def line_cycles(lines: OperatorLines, core: Cpu, soc: ResolvedSoc) -> int:
    """Return what a core waits for lines, in its own cycles.

    It waits until a whole line has come, and while one that makes room leaves: the latency of the
    memory, and a cycle for as many bytes as that gives at once.
    """
    assert core.cache
    times = core.clock / soc.host_cpu.clock
    waits = 0.0
    for name, moved in lines.by_memory.items():
        beats = -(-core.cache.line // soc.memory(name).width)
        first = latency_in_core_cycles(core, name, soc) - 1
        waits += moved.loaded * (first + (beats - 1) * times) + moved.written * beats * times
    return round(waits)


def stores_through(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> float:
    """Return what a core waits for memory to which its cache lets stores through, in its cycles."""
    counted, timing = core_to_count(op, graph, core), core.spec.timing
    each = timing.data_waits.get("store", 0.0) if timing else 0.0
    if counted is None or not each or core.cache is None or core.cache.write_back:
        return 0.0
    waits = 0.0
    for (access, name), number in (counted_accesses(op, graph, counted) or {}).items():
        pool = graph.tensor(name).pool if name in graph.by_name else ""
        if access == "store" and pool and soc.is_kept(region := soc.pool(pool).region):
            waits += number * each * (latency_in_core_cycles(core, region.memory, soc) - 1)
    return waits


class _Use(NamedTuple):
    """What a kernel does with a line of a buffer."""

    buffer: str
    reads: bool
    writes: bool


class _Contents:
    """Lines that a cache holds, by set, the one used longest ago first, and which are dirty."""

    def __init__(self, cache: Cache) -> None:
        assert cache.ways
        self._ways, self._write_back = cache.ways, cache.write_back
        self._sets: list[dict[int, bool]] = [{} for _ in range(cache.sets)]

    def touch(self, line: int, *, reads: bool, writes: bool) -> Moved:
        """Return whether a line comes in for an access, and whether it becomes dirty."""
        held = self._sets[line % len(self._sets)]
        dirty = held.pop(line, None)
        if dirty is None and not (reads or self._write_back):
            return Moved(0, 0)
        if dirty is None and len(held) == self._ways:
            held.pop(next(iter(held)))
        stays = writes and self._write_back
        held[line] = bool(dirty) or stays
        return Moved(dirty is None, stays and not dirty)

    def maintain(self, line: int, *, forgets: bool) -> None:
        """Clean a line, or forget it."""
        held = self._sets[line % len(self._sets)]
        if line in held:
            held[line] = False
            if forgets:
                held.pop(line)


class _Walk:
    """Goes through a program, and knows what a core's cache holds when each operator begins.

    An operator goes through its activations once, and has what it keeps at hand (constants and
    memory of its own) before and after.
    """

    def __init__(self, cost: Program, core: Cpu) -> None:
        assert core.cache
        self._cost, self._core, self._cache, self._soc = cost, core, core.cache, cost.soc
        self._contents = _Contents(core.cache)
        self._kept = {pool.name for pool in cost.soc.pools if cost.soc.is_kept(pool.region)}

    def operators(self) -> Mapping[str, OperatorLines]:
        """Return what each operator moves that the core runs."""
        ops = {op.name: op for op in self._cost.graph.operators}
        found: dict[str, OperatorLines] = {}
        for step in (each for together in self._cost.lists for each in together):
            self._maintain(step.before)
            calls = [call for call in step.calls if call.device == self._core.name]
            for call in calls:
                if (lines := self._run(call, ops[step.operator])) is not None:
                    found[step.operator] = lines
            self._maintain(step.after)
        return found

    def _lines_of(self, name: str) -> range:
        """Return the lines of a buffer, none if the cache may not keep it."""
        if self._cost.pools.get(name) not in self._kept:
            return range(0)
        begin, line = self._cost.addresses[name], self._cache.line
        return range(begin // line, -(-(begin + self._cost.sizes[name]) // line))

    def _maintain(self, operations: Iterable[Maintenance]) -> None:
        for each in operations:
            if each.device == self._core.name:
                forgets = each.operation is Operation.INVALIDATE
                for line in self._lines_of(each.buffer):
                    self._contents.maintain(line, forgets=forgets)

    def _run(self, call: CoreCall, op: Operator) -> OperatorLines | None:
        function = self._cost.functions[call.function]
        named = dict(zip((each.name for each in function.buffers), call.arguments, strict=True))
        kept = {local: name for local, name in named.items() if self._lines_of(name)}
        groups = [*_groups(kept, self._cost, self._cache.line)]
        first = self._go_through(function, kept)
        if (found := self._by_run(op, kept.values())) is not None:
            return found
        own = self._soc.is_kept(self._core.stack)
        library = tuple(each for each in self._cost.functions.values() if each.result)
        lines = _count(function, library, self._cache, tuple(groups), own)
        return None if lines is None else self._after_others(lines, groups, kept, first)

    def _go_through(self, function: PrimFunc, kept: Mapping[str, str]) -> Mapping[str, Moved]:
        """Return lines that move while an operator goes through its buffers once, by buffer."""
        at_hand: dict[int, _Use] = {}
        streams: list[dict[int, _Use]] = []
        for each in function.buffers:
            if (name := kept.get(each.name)) is None:
                continue
            use = _Use(each.name, each.direction.reads, each.direction.writes)
            lines = dict.fromkeys(self._lines_of(name), use)
            if self._stays(name):
                at_hand |= lines
            else:
                streams.append(lines)
        found = dict.fromkeys(kept, Moved(0, 0))
        for line, use in (*at_hand.items(), *_interleave(streams)):
            moved = self._contents.touch(line, reads=use.reads, writes=use.writes)
            if any(moved):
                found[use.buffer] = found[use.buffer].plus(moved)
        for line, use in at_hand.items():
            self._contents.touch(line, reads=use.reads, writes=use.writes)
        return found

    def _stays(self, name: str) -> bool:
        """Tell whether a buffer is a constant, or memory of the kernel's own."""
        known = self._cost.graph.by_name.get(name)
        return known is None or known.data is not None

    def _by_run(self, op: Operator, kept: Iterable[str]) -> OperatorLines | None:
        """Return what the operator moved on the simulator, with the same cache and addresses."""
        runs = runs_of(op, self._cost.graph, self._core)
        data = runs[0].data if len(runs) == 1 else None
        places = {name: self._cost.addresses[name] for name in kept}
        if data is None or data.cache != self._cache or data.places != places:
            return None
        found: defaultdict[str, Moved] = defaultdict(lambda: Moved(0, 0))
        for (way, name), number in data.moved.items():
            more = Moved(number, 0) if way == "in" else Moved(0, number)
            found[self._memory(name)] = found[self._memory(name)].plus(more)
        return OperatorLines(dict(found), ran=True)

    def _memory(self, name: str) -> str:
        """Return where a buffer is; of "", the stack, or what the core reads beside its code."""
        if name:
            return self._soc.pool(self._cost.pools[name]).region.memory
        kept = self._soc.is_kept(self._core.stack)
        return (self._core.stack if kept else self._core.code).memory

    def _after_others(
        self,
        lines: Lines,
        groups: Sequence[Space],
        kept: Mapping[str, str],
        first: Mapping[str, Moved],
    ) -> OperatorLines:
        """Add what comes again to what comes first; memory of the core's own is always there."""
        found: defaultdict[str, Moved] = defaultdict(lambda: Moved(0, 0))
        for number, group in enumerate((*groups, Space(0, 0, ()))):
            key = str(number) if group.size else ""
            touched = lines.touched.get(key, 0.0)
            loaded = max(0.0, lines.loaded.get(key, 0.0) - touched)
            written = max(0.0, lines.dirty.get(key, 0.0) - lines.stored.get(key, 0.0))
            moved = Moved(loaded, written)
            part = min(1.0, touched * self._cache.line / max(1, group.size))
            for local, _ in group.begins:
                each = first[local]
                moved = moved.plus(Moved(part * each.loaded, part * each.written))
            memory = self._memory(kept[group.begins[0][0]] if group.begins else "")
            found[memory] = found[memory].plus(moved)
        return OperatorLines({name: each for name, each in found.items() if any(each)}, ran=False)


def _interleave(streams: Iterable[Mapping[int, _Use]]) -> Iterator[tuple[int, _Use]]:
    """Yield lines of buffers that a kernel goes through at the same time."""
    places = [
        ((number + 0.5) / len(each), line, use)
        for each in streams
        for number, (line, use) in enumerate(each.items())
    ]
    places.sort(key=lambda place: place[0])
    yield from ((line, use) for _, line, use in places)


def _groups(kept: Mapping[str, str], cost: Program, line: int) -> Iterator[Space]:
    """Yield the buffers of a kernel that lie over each other, together."""
    spans = sorted((cost.addresses[name], cost.sizes[name], local) for local, name in kept.items())
    group: list[tuple[str, int]] = []
    begin = end = 0
    for address, size, local in spans:
        if group and address >= end:
            yield Space(begin // line, end - begin, tuple(group))
            group = []
        if not group:
            begin, end = address // line * line, address
        group.append((local, address - begin))
        end = max(end, address + size)
    if group:
        yield Space(begin // line, end - begin, tuple(group))


def _kernel(
    function: PrimFunc,
    library: tuple[PrimFunc, ...],
    cache: Cache,
    groups: tuple[Space, ...],
    own: bool,
) -> Alike:
    return Alike((function.name, cache, groups, own), function, library)


@remember(_kernel, most=KERNELS_AT_HAND)
def _count(
    function: PrimFunc,
    library: tuple[PrimFunc, ...],
    cache: Cache,
    groups: tuple[Space, ...],
    own: bool,
) -> Lines | None:
    try:
        return count_lines(function, library, cache, groups, locals_too=own)
    except (UncountableError, RecursionError):
        return None
