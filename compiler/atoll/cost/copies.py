# SPDX-License-Identifier: Apache-2.0
"""Estimate what it takes to move a tensor, and to give it another layout, in cycles of the host."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from atoll.cost.operators import compute_cycles
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout
from atoll.ops.registry import COPY, RELAYOUT
from atoll.reach.candidates import homes_of
from atoll.reach.movers import covers
from atoll.resolve.soc import Access, Device, Dma, Engine, Pool, PoolSpeed, ResolvedSoc

_WORD = 4  # bytes

Computing = Callable[[Operator, Graph, Device, ResolvedSoc], int]
"""What predicts the cycles of an operator on a device, as `compute_cycles` does."""


def copy_cycles(
    tensor: Tensor,
    writer: str,
    reader: str,
    soc: ResolvedSoc,
    computing: Computing = compute_cycles,
) -> int:
    """Predict the time to move `tensor` between two devices: none over a pool that they share.

    Otherwise it is what the DMA engine takes that reaches both sides, else the host; and at least
    what the pools' speeds say.
    """
    if homes_of(soc, {reader: Access.READ} | {writer: Access.WRITE}, tensor):
        return 0
    copied = replace(tensor, name=f"{tensor.name}_copy", initial=None)
    mover = _mover(tensor, writer, reader, soc)
    moving = moving_cycles(tensor, copied, mover, soc, computing)
    return max(moving, transfer_cycles(tensor, writer, reader, soc))


def moving_cycles(
    source: Tensor,
    target: Tensor,
    mover: Device,
    soc: ResolvedSoc,
    computing: Computing = compute_cycles,
) -> int:
    """Predict the cycles of a copy on `mover` between the pools of both, if they have any."""
    names = (source.name,), (target.name,)
    op = Operator(name=COPY, kind=COPY, inputs=names[0], outputs=names[1], attributes={})
    return computing(op, Graph(COPY, (source, target), (op,), *names), mover, soc)


def layout_cycles(
    source: Tensor, layout: Layout, soc: ResolvedSoc, computing: Computing = compute_cycles
) -> int:
    """Predict the time to give a tensor another layout, or to take it back."""
    changed = replace(source, name=f"{source.name}_laid", layout=layout, data=None, initial=None)
    tensors = (replace(source, layout=None), changed)
    names = tuple(tensor.name for tensor in tensors)
    op = Operator(name=RELAYOUT, kind=RELAYOUT, inputs=names[:1], outputs=names[1:], attributes={})
    graph = Graph(
        name=RELAYOUT, inputs=names[:1], outputs=names[1:], tensors=tensors, operators=(op,)
    )
    return computing(op, graph, next(filter(changes_layouts, soc.dmas), soc.host_cpu), soc)


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


def touch_cycles(pool: Pool, size: int, soc: ResolvedSoc) -> int:
    """Predict what it takes a core to write and read a buffer in a pool, in cycles of the host.

    That is what the pool's speed says, at a word a cycle at most, and what its memory lets each
    read wait.
    """
    speed = speed_of(pool, soc)
    speed = replace(
        speed,
        read_bandwidth=min(speed.read_bandwidth, _WORD),
        write_bandwidth=min(speed.write_bandwidth, _WORD),
    )
    moved = speed.write_cycles(size) + speed.read_cycles(size)
    waits = -(-size // _WORD) * (soc.memory(pool.region.memory).read_latency - 1)
    return -(-moved * soc.host_cpu.clock // speed.clock) + waits


def _speeds(pools: Iterable[str], soc: ResolvedSoc) -> Iterator[PoolSpeed]:
    return (speed_of(soc.pool(name), soc) for name in pools)


def speed_of(pool: Pool, soc: ResolvedSoc) -> PoolSpeed:
    """Return how fast a pool is: as its description says, else its memory's width each cycle."""
    width, clock = soc.memory(pool.region.memory).width, soc.host_cpu.clock
    return pool.speed or PoolSpeed(
        read_bandwidth=width, write_bandwidth=width, latency=0, burst=0, clock=clock
    )
