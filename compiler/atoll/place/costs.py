# SPDX-License-Identifier: Apache-2.0
"""Estimate what an operator takes on a device, in cycles of the host."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from atoll.ir.busy import Bound, Busy
from atoll.ir.graph import Graph, Operator
from atoll.ops.formulas import formulas, values_of
from atoll.ops.loops.parallel_loops import parallel_loop
from atoll.ops.registry import kind_of
from atoll.place.basis import MEASURED, marked
from atoll.place.candidates import homes_of
from atoll.place.constant_costs import copied_pools, reading
from atoll.place.core_costs import fetched, waiting_cycles
from atoll.place.measured import (
    ACCESS_CYCLES,
    BYTE_CYCLES,
    CROSSING_CYCLES,
    CROSSING_ENGINE_CYCLES,
    FINISH_CYCLES,
    FURTHER_CYCLES,
    KERNEL_CYCLES,
    LEAST_CYCLES,
    MOVE_CYCLES,
    PART_CYCLES,
    START_CYCLES,
    TURN_CYCLES,
    WORD_CYCLES,
)
from atoll.program.effort import effort_of
from atoll.resolve.engine_parts import emitter_of, whole
from atoll.resolve.soc import Access, Cpu, Device, Engine, ResolvedSoc

FEWEST: Mapping[str, int] = MappingProxyType({})
USUAL_POOLS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Cost:
    """What choosing a device costs.

    Attributes:
        cycles: computing.
        copying: moving tensors from and to neighbours with which it shares no pool.
        basis: what both rest on.
    """

    cycles: int
    copying: int
    basis: str = MEASURED

    @property
    def total(self) -> int:
        """Both together."""
        return self.cycles + self.copying

    def __str__(self) -> str:
        copies = f" and {self.copying} for copies" if self.copying else ""
        return marked(f"about {self.cycles} cycles{copies}", self.basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What an operator takes on its device, waited for at once, and why so much.

    Attributes:
        cycles: of the host, from its begin event to its end event.
        bound: what decides.
        busy: what its engine does, in cycles of that; None on a core.
    """

    cycles: int
    bound: Bound
    busy: Busy | None = None


def spent(op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, commands: int = 0) -> Spent:
    """Predict as `compute_cycles`, and say what decides."""
    cycles = compute_cycles(op, graph, device, soc, commands)
    if not isinstance(device, Engine):
        return Spent(cycles=cycles, bound=Bound.CORE)
    busy, driving = engine_busy(op, graph, device, commands), _driving(op, graph, device, soc)
    working = of_host(busy.cycles, device, soc)
    bound = Bound.DRIVER if driving > working else busy.bound
    if cycles >= 2 * max(working, driving):
        bound = Bound.START
    return Spent(cycles=cycles, bound=bound, busy=busy)


def compute_cycles(
    op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, commands: int = 0
) -> int:
    """Predict the cycles of the host from begin to end of `op` on `device`, waited for at once.

    Placement, schedules and estimates all ask this. `commands` is how many commands an engine takes
    for it, 0 for as few as possible.
    """
    if not isinstance(device, Engine):
        assert isinstance(device, Cpu)
        cycles = fetched(kind_of(op).cycles(op, graph), device, soc, KERNEL_CYCLES)
        return of_host(cycles, device, soc) + waiting_cycles(op, graph, device, soc)
    busy = max(busy_cycles(op, graph, device, soc, commands), _driving(op, graph, device, soc))
    start, finish, least = driver_cycles(soc)
    return max(least, start + busy + finish) + crossing_cycles(device, soc)


def driver_cycles(soc: ResolvedSoc) -> tuple[int, int, int]:
    """Return what the host takes to start an engine, to know that it is done, and at least."""
    further = FURTHER_CYCLES * max(0, len(soc.engines) + len(soc.remote_cpus) - 1)
    half, host = further // 2, soc.host_cpu
    start, finish = (fetched(each + half, host, soc) for each in (START_CYCLES, FINISH_CYCLES))
    return start, finish, fetched(LEAST_CYCLES + further, host, soc)


def _driving(op: Operator, graph: Graph, engine: Engine, soc: ResolvedSoc) -> int:
    """Return the cycles of the host for the steps of a program, 0 if there is none."""
    if engine.spec.program is None:
        return 0
    with formulas(op, engine):
        values = values_of(op, graph, engine, lambda name: 0)
        effort = effort_of(engine.spec.program.runs[op.kind], values)
    counts = (effort.accesses, effort.moves, effort.words, effort.bytes, effort.turns)
    each = (ACCESS_CYCLES, MOVE_CYCLES, WORD_CYCLES, BYTE_CYCLES, TURN_CYCLES)
    cycles = sum(count * cost for count, cost in zip(counts, each, strict=True))
    return fetched(cycles, soc.host_cpu, soc)


def crossing_cycles(engine: Engine, soc: ResolvedSoc) -> int:
    """Return the cycles of the host for crossings between its clock and that of an engine."""
    if engine.clock == soc.host_cpu.clock:
        return 0
    return CROSSING_CYCLES + of_host(CROSSING_ENGINE_CYCLES, engine, soc)


def spread_cycles(
    op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc, parts: int
) -> int | None:
    """Predict the same of `op` on `core` and others of its kind, None if it has no such parts."""
    return dict(_by_parts(op, graph, core, soc, (parts,))).get(parts)


def helpers_for(op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc) -> tuple[str, ...]:
    """Return the cores that had better make parts of `op` beside `core`, none if it had not.

    Each is of the same kind and shares a pool with `core` for each tensor.
    """
    kind = (each for each in soc.cpus if each != core and alike(each, core, soc))
    others = tuple(each.name for each in kind if _shares(each, core, op, graph, soc))
    cycles = {1: compute_cycles(op, graph, core, soc)}
    cycles |= _by_parts(op, graph, core, soc, range(2, len(others) + 2))
    return others[: min(cycles, key=lambda parts: cycles[parts]) - 1]


def _by_parts(
    op: Operator, graph: Graph, core: Cpu, soc: ResolvedSoc, counts: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield counts of parts that `op` can have, and the cycles that it takes with them."""
    names = kind_of(op).parallel
    if not (names and counts):
        return
    kernel = kind_of(op).lower_for(op, graph, core.arithmetic).function
    alone = compute_cycles(op, graph, core, soc)
    asking = fetched(PART_CYCLES, soc.host_cpu, soc)
    for parts in counts:
        if loop := parallel_loop(kernel, names, parts):
            yield parts, int(alone * loop.share(parts)) + asking * (parts - 1)


def _shares(other: Cpu, core: Cpu, op: Operator, graph: Graph, soc: ResolvedSoc) -> bool:
    needs = [(name, Access.READ) for name in filter(None, op.inputs)]
    needs += [(name, Access.WRITE) for name in op.outputs]
    both = (core.name, other.name)
    return all(homes_of(soc, dict.fromkeys(both, n), graph.tensor(name)) for name, n in needs)


def alike(other: Cpu, core: Cpu, soc: ResolvedSoc) -> bool:
    """Tell whether two cores that the host can ask run the same code at the same pace.

    A core with a data cache is like no other: parts of one buffer would share lines.
    """
    one, two = (
        (
            each.kind,
            each.spec.name,
            each.instructions,
            each.toolchain,
            each.commands,
            each.clock,
            soc.memory(each.code.memory).read_latency,
        )
        for each in (other, core)
    )
    asked = other.name == soc.host or other.mailbox is not None
    return one == two and asked and not (other.cache or core.cache)


def busy_cycles(
    op: Operator, graph: Graph, engine: Engine, soc: ResolvedSoc, commands: int = 0
) -> int:
    """Predict how long an engine itself is busy with `op`, in cycles of the host."""
    return of_host(engine_cycles(op, graph, engine, commands), engine, soc)


def of_host(cycles: int, device: Device, soc: ResolvedSoc) -> int:
    """Return cycles of a device in cycles of the host."""
    return -(-cycles * soc.host_cpu.clock // device.clock)


def engine_cycles(op: Operator, graph: Graph, engine: Engine, commands: int) -> int:
    """Return what the emitter of `engine` estimates for `op`, in cycles of the engine.

    Raises:
        AtollError: E041, E110 to E112; it cannot say.
    """
    emitter, about = emitter_of(engine), f"operator '{op.name}' ({op.kind.upper()})"
    found = emitter.call("estimate_cycles", op, graph, engine, commands, about=about)
    if whole(found) < 0:
        raise emitter.wrong("estimate_cycles", f"{found!r:.80}, no number of cycles", about)
    return whole(found)


def engine_busy(op: Operator, graph: Graph, engine: Engine, commands: int) -> Busy:
    """Return what `engine` does in these cycles; it computes where its emitter has no `busy`.

    Raises:
        AtollError: as `engine_cycles`.
    """
    emitter, about = emitter_of(engine), f"operator '{op.name}' ({op.kind.upper()})"
    cycles = engine_cycles(op, graph, engine, commands)
    if not callable(getattr(emitter.value, "busy", None)):
        return Busy(cycles=cycles, parts={Bound.COMPUTE: cycles})
    busy = emitter.call("busy", op, graph, engine, commands, about=about)
    if not isinstance(busy, Busy):
        raise emitter.wrong("busy", f"{busy!r:.80}, no Busy", about)
    return replace(busy, cycles=cycles)


def cycles_of(
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int] = FEWEST,
    constants: Mapping[str, str] = USUAL_POOLS,
) -> Mapping[str, int]:
    """Predict the cycles of every operator of a placed graph on its device, by name.

    Args:
        graph: placed.
        soc: the chip.
        commands: of operators that take more than the fewest, how many.
        constants: the pool of the constants of operators, where that is not the first one; what is
            copied ahead is read from the copy.
    """
    pools = {**constants, **copied_pools(graph, soc)}
    return {op.name: _placed_cycles(op, graph, soc, commands, pools) for op in graph.operators}


def spent_by(
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int] = FEWEST,
    constants: Mapping[str, str] = USUAL_POOLS,
) -> Mapping[str, Spent]:
    """Predict as `cycles_of`, and say what decides."""
    found: dict[str, Spent] = {}
    pools = {**constants, **copied_pools(graph, soc)}
    for op in graph.operators:
        device = reading(soc.device(op.device), pools.get(op.name, ""), soc)
        if op.helpers:
            cycles = _placed_cycles(op, graph, soc, commands, pools)
            found[op.name] = Spent(cycles=cycles, bound=Bound.CORE)
        else:
            found[op.name] = spent(op, graph, device, soc, commands.get(op.name, 0))
    return found


def _placed_cycles(
    op: Operator,
    graph: Graph,
    soc: ResolvedSoc,
    commands: Mapping[str, int],
    pools: Mapping[str, str],
) -> int:
    device = reading(soc.device(op.device), pools.get(op.name, ""), soc)
    if isinstance(device, Cpu) and op.helpers:
        cycles = spread_cycles(op, graph, device, soc, len(op.devices))
        assert cycles is not None, f"{op.name} has no {len(op.devices)} parts"
        return cycles
    return compute_cycles(op, graph, device, soc, commands.get(op.name, 0))
