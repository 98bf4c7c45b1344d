"""Estimate what an operator costs on a device, in cycles of the host."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.formulas import formulas, values_of
from atoll.ops.parallel_loops import parallel_loop
from atoll.ops.registry import COPY, RELAYOUT, kind_of
from atoll.place.candidates import homes_of
from atoll.place.copy_engines import covers
from atoll.program.effort import effort_of
from atoll.resolve.engine_parts import emitter_of, whole
from atoll.resolve.soc import Access, Cpu, Device, Dma, Engine, PoolSpeed, ResolvedSoc

START_CYCLES = 430
"""From an operator's begin event until the host's driver has had an engine start."""

FINISH_CYCLES = 590
"""From the engine's last access until the host's driver knows and the end event is there."""

LEAST_CYCLES = 1250
"""What the driver takes by itself: an engine that is done earlier waits for it.

All three are measured in RTL for instructions from a memory of `MEASURED_LATENCY`, as the rates of
operators are; tests/e2e/test_estimates.py holds them against RTL again.
"""

CROSSING_CYCLES, CROSSING_ENGINE_CYCLES = 38, 30
"""What the driver's accesses to registers, and an engine's first ones to memory, take longer where
the engine has a clock of its own: cycles of the host, and of the engine. Measured as these."""

ACCESS_CYCLES, MOVE_CYCLES, WORD_CYCLES, BYTE_CYCLES, TURN_CYCLES = 45, 160, 16, 60, 70
"""What the driver of a program takes for each register, for each push or pop, for each of their
words, for bytes that it moves one by one, and for each turn of a repetition. Measured as these."""

PART_CYCLES = 900
"""What the host takes for each further core that an operator is spread over: start, wait, answer.

Measured as these."""

FEWEST: Mapping[str, int] = MappingProxyType({})

MEASURED_LATENCY = 2
OTHER_CYCLES = 7
"""Cycles of a typical instruction besides the latency of its fetch."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What choosing a device costs.

    Attributes:
        cycles: computing.
        copying: moving tensors from and to neighbours with which it shares no pool.
    """

    cycles: int
    copying: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.cycles + self.copying

    def __str__(self) -> str:
        copies = f" and {self.copying} for copies" if self.copying else ""
        return f"about {self.cycles} cycles{copies}"


def compute_cycles(
    op: Operator, graph: Graph, device: Device, soc: ResolvedSoc, commands: int = 0
) -> int:
    """Predict the cycles of the host from begin to end of `op` on `device`, waited for at once.

    `commands` is how many commands an engine takes for it, 0 for as few as possible.
    """
    if not isinstance(device, Engine):
        assert isinstance(device, Cpu)
        return _of_host(_fetched(kind_of(op).cycles(op, graph), device, soc), device, soc)
    busy = max(busy_cycles(op, graph, device, soc, commands), _driving(op, graph, device, soc))
    start, finish, least = (
        _fetched(cycles, soc.host_cpu, soc)
        for cycles in (START_CYCLES, FINISH_CYCLES, LEAST_CYCLES)
    )
    return max(least, start + busy + finish) + _crossing(device, soc)


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
    return _fetched(cycles, soc.host_cpu, soc)


def _crossing(engine: Engine, soc: ResolvedSoc) -> int:
    """Return the cycles of the host for crossings between its clock and that of an engine."""
    if engine.clock == soc.host_cpu.clock:
        return 0
    return CROSSING_CYCLES + _of_host(CROSSING_ENGINE_CYCLES, engine, soc)


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
    kernel = kind_of(op).lower_for(op, graph, core.vectors).function
    alone = compute_cycles(op, graph, core, soc)
    asking = _fetched(PART_CYCLES, soc.host_cpu, soc)
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
    return _of_host(engine_cycles(op, graph, engine, commands), engine, soc)


def _fetched(cycles: int, core: Cpu, soc: ResolvedSoc) -> int:
    """Return what `cycles` become with the latency of the memory of the core's instructions."""
    latency = soc.memory(core.code.memory).read_latency
    return -(-cycles * (OTHER_CYCLES + latency) // (OTHER_CYCLES + MEASURED_LATENCY))


def _of_host(cycles: int, device: Device, soc: ResolvedSoc) -> int:
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


def cycles_of(
    graph: Graph, soc: ResolvedSoc, commands: Mapping[str, int] = FEWEST
) -> Mapping[str, int]:
    """Predict the cycles of every operator of a placed graph on its device, by name.

    `commands` has the number of commands of operators that take more than the fewest.
    """
    return {op.name: _placed_cycles(op, graph, soc, commands) for op in graph.operators}


def _placed_cycles(
    op: Operator, graph: Graph, soc: ResolvedSoc, commands: Mapping[str, int]
) -> int:
    device = soc.device(op.device)
    if isinstance(device, Cpu) and op.helpers:
        cycles = spread_cycles(op, graph, device, soc, len(op.devices))
        assert cycles is not None, f"{op.name} has no {len(op.devices)} parts"
        return cycles
    return compute_cycles(op, graph, device, soc, commands.get(op.name, 0))


def copy_cycles(tensor: Tensor, writer: str, reader: str, soc: ResolvedSoc) -> int:
    """Predict the time to move `tensor` between two devices: none over a pool that they share.

    Otherwise it is what the DMA engine takes that reaches both sides, else the host; and at least
    what the pools' speeds say.
    """
    if homes_of(soc, {reader: Access.READ} | {writer: Access.WRITE}, tensor):
        return 0
    copied = replace(tensor, name=f"{tensor.name}_copy")
    op = Operator(
        name=COPY, kind=COPY, inputs=(tensor.name,), outputs=(copied.name,), attributes={}
    )
    graph = Graph(
        name=COPY,
        inputs=(tensor.name,),
        outputs=(copied.name,),
        tensors=(tensor, copied),
        operators=(op,),
    )
    mover = _mover(tensor, writer, reader, soc)
    moving = compute_cycles(op, graph, mover, soc)
    return max(moving, transfer_cycles(tensor, writer, reader, soc))


def layout_cycles(source: Tensor, layout: Layout, soc: ResolvedSoc) -> int:
    """Predict the time to give a tensor another layout, or to take it back."""
    changed = replace(source, name=f"{source.name}_laid", layout=layout, data=None)
    tensors = (replace(source, layout=None), changed)
    names = tuple(tensor.name for tensor in tensors)
    op = Operator(name=RELAYOUT, kind=RELAYOUT, inputs=names[:1], outputs=names[1:], attributes={})
    graph = Graph(
        name=RELAYOUT, inputs=names[:1], outputs=names[1:], tensors=tensors, operators=(op,)
    )
    return compute_cycles(op, graph, next(filter(changes_layouts, soc.dmas), soc.host_cpu), soc)


def changes_layouts(engine: Engine) -> bool:
    """Tell whether an engine runs RELAYOUT."""
    return any(each.kind == RELAYOUT for each in engine.spec.operators) and (
        isinstance(engine, Dma) or RELAYOUT in engine.runs
    )


def _mover(tensor: Tensor, writer: str, reader: str, soc: ResolvedSoc) -> Device:
    for dma in soc.dmas:
        sources = homes_of(soc, {writer: Access.WRITE, dma.name: Access.READ}, tensor)
        targets = homes_of(soc, {dma.name: Access.WRITE, reader: Access.READ}, tensor)
        if covers(dma, soc, sources, targets):
            return dma
    return soc.host_cpu


def transfer_cycles(tensor: Tensor, writer: str, reader: str, soc: ResolvedSoc) -> int:
    """Predict what the memories take to move `tensor`, whoever moves it, in cycles of the host.

    It is read from the first pool of the one device and written to the first of the other, at the
    speed that the description gives them (M1).
    """
    source = homes_of(soc, {writer: Access.WRITE}, tensor)[:1]
    target = homes_of(soc, {reader: Access.READ}, tensor)[:1]
    moves = [(speed, speed.read_cycles(tensor.size)) for speed in _speeds(source, soc)]
    moves += [(speed, speed.write_cycles(tensor.size)) for speed in _speeds(target, soc)]
    return sum(-(-cycles * soc.host_cpu.clock // speed.clock) for speed, cycles in moves)


def _speeds(pools: Iterable[str], soc: ResolvedSoc) -> Iterator[PoolSpeed]:
    for name in pools:
        pool = soc.pool(name)
        width, clock = soc.memory(pool.region.memory).width, soc.host_cpu.clock
        yield pool.speed or PoolSpeed(
            read_bandwidth=width, write_bandwidth=width, latency=0, burst=0, clock=clock
        )
