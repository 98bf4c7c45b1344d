# SPDX-License-Identifier: Apache-2.0
"""Choose whose constants are streamed: what can be, and of that what is worth it by estimates."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

from atoll.cost.constants import reader_from
from atoll.cost.copies import moving_cycles
from atoll.cost.network import cycles_of
from atoll.cost.operators import compute_cycles
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.place.capabilities import obstacles
from atoll.reach.candidates import CONSTANT_ROLES, WORKSPACE_ROLES, homes_of, pools_for
from atoll.records import dataclass
from atoll.resolve.soc import Access, Device, Dma, Npu, Pool, ResolvedSoc
from atoll.stream.channel_parts import counts_of, first_part, mover_of_parts, relayout_of
from atoll.stream.streams import Stream, constants_of

AHEAD = 2
"""Operators whose constants are in faster memory at the same time: one computes, one is copied."""

ROUNDS = 3
"""Times that each possible stream is weighed again, since they share one DMA engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """What a stream costs and saves, in cycles of the host.

    Attributes:
        copying: copies of all its parts.
        cycles: the operator with constants that are there, in parts and joined if it is cut.
        direct: the operator that reads its constants where they lie; None if it cannot.
    """

    stream: Stream
    copying: int
    cycles: int
    direct: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaming:
    """What is streamed of a network.

    Attributes:
        possible: all operators whose constants could be, in the order of the graph.
        chosen: names of those whose are.
        homes: the pool of the constants of operators that read theirs directly, as far as known.
        direct: cycles of the network by estimate if nothing were streamed, None if it cannot run.
    """

    possible: tuple[Worth, ...] = ()
    chosen: tuple[str, ...] = ()
    homes: Mapping[str, str] = field(default_factory=dict)
    direct: int | None = None

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Those that are chosen."""
        return tuple(each.stream for each in self.possible if each.stream.operator in self.chosen)


NOTHING = Streaming()


@dataclass(frozen=True)
class Chooser:
    """Weighs the operators of one placed graph.

    Attributes:
        homes: the pool of each operator's constants in a plan without streams; empty without one.
        share: of the room of a pool that constants may take.
    """

    graph: Graph
    soc: ResolvedSoc
    homes: Mapping[str, str]
    share: float = 1.0

    @cached_property
    def possible(self) -> tuple[Worth, ...]:
        """All that can be streamed."""
        return tuple(each for op in self.graph.operators if (each := self._worth(op)))

    def streaming(self, *, every: bool) -> Streaming:
        """Return what had better be streamed, or all that can be if `every`."""
        names = {each.stream.operator for each in self.possible} if every else self._best()
        chosen = (each.stream.operator for each in self.possible if each.stream.operator in names)
        return Streaming(possible=self.possible, chosen=tuple(chosen), homes=self.homes)

    def _best(self) -> set[str]:
        """Return the operators whose constants had better be streamed, by estimate."""
        chosen = {
            each.stream.operator
            for each in self.possible
            if each.direct is None or each.cycles < each.direct
        }
        length = self.length(chosen)
        for _ in range(ROUNDS):
            before = length
            for each in self.possible:
                other = chosen ^ {each.stream.operator}
                if each.direct is not None and (shorter := self.length(other)) < length:
                    chosen, length = other, shorter
            if length == before:
                break
        return chosen

    def length(self, chosen: Collection[str]) -> int:
        """Predict when the last operator ends: one after the other, copies beside them.

        A copy begins when the buffer of the last but one before it is free.
        """
        streams = {each.stream.operator: each for each in self.possible}
        now, moved = 0, 0
        freed = [0] * AHEAD
        for op in self.graph.operators:
            if op.name not in chosen:
                now += self._cycles[op.name]
                continue
            each = streams[op.name]
            parts = each.stream.parts
            for _ in range(parts):
                moved = max(moved, freed.pop(0)) + each.copying // parts
                now = max(now, moved) + each.cycles // parts
                freed.append(now)
        return now

    @cached_property
    def _cycles(self) -> Mapping[str, int]:
        return cycles_of(self.graph, self.soc, constants=self.homes)

    def _worth(self, op: Operator) -> Worth | None:
        """Return how the constants of `op` could be streamed, None if they cannot."""
        npu = self.soc.device(op.device)
        if not isinstance(npu, Npu) or op.packed or npu.spec.fed:
            return None
        size = constants_of(op, self.graph, self.soc).size
        if not size:
            return None
        for dma in self.soc.dmas:
            if way := next(self._ways(op, npu, dma, size), None):
                return self._weigh(op, npu, way)
        return None

    def _ways(self, op: Operator, npu: Npu, dma: Dma, size: int) -> Iterator[Stream]:
        """Yield the pools from and to which a DMA engine can bring constants, in how many parts."""
        soc = self.soc
        if not pools_for(soc, {dma.name: Access.READ}, CONSTANT_ROLES, 1):
            return
        targets = pools_for(
            soc, {npu.name: Access.READ, dma.name: Access.WRITE}, WORKSPACE_ROLES, 1
        )
        for target in map(soc.pool, targets):
            into = {source for source, to in dma.moves if to == target.region.memory}
            parts = self._parts(op, size, target)
            source = self._source(op, dma, into, target, size)
            if parts and source:
                yield Stream(
                    operator=op.name,
                    size=size,
                    mover=dma.name,
                    source=source,
                    target=target.name,
                    parts=parts,
                )

    def _source(
        self, op: Operator, dma: Dma, into: Collection[str], target: Pool, size: int
    ) -> str:
        """Return the pool that the constants are copied from, "" if there is none."""
        home = self.homes.get(op.name)
        names = pools_for(self.soc, {dma.name: Access.READ}, CONSTANT_ROLES, size)
        pools = [
            pool
            for pool in map(self.soc.pool, names)
            if pool.region.memory in into
            and pool.region.memory != target.region.memory
            and home in (None, pool.name)
        ]
        return max(pools, key=lambda pool: pool.room).name if pools else ""

    def _parts(self, op: Operator, size: int, target: Pool) -> int:
        """Return how many parts are so small that two have room, or at least one; 0 if none are."""
        touched = {self.graph.storage(name) for name in (*op.inputs, *op.outputs) if name}
        tensors = [self.graph.tensor(name) for name in touched]
        held = sum(each.size for each in tensors if each.data is None)
        room = target.room * self.share - held
        counts = [
            count
            for count in counts_of(op, self.graph)
            if size <= count * room and (count == 1 or self._can_be_cut(op, count))
        ]
        return next(
            (count for count in counts if AHEAD * size <= count * room), max(counts or (0,))
        )

    def _can_be_cut(self, op: Operator, count: int) -> bool:
        """Tell whether the accelerator runs such parts and somebody can bring them together."""
        npu = self.soc.device(op.device)
        if any(obstacles(op, first_part(op, self.graph, count), npu, self.soc)):
            return False
        move, graph = relayout_of(op, self.graph, count)
        host, soc = self.soc.host, self.soc
        if mover_of_parts(move, graph, soc, op.device) != host:
            return True
        (result,) = graph.results(move)
        laid = graph.tensor(move.inputs[0])
        written = {op.device: Access.WRITE, host: Access.READ}
        return all((homes_of(soc, written, laid), homes_of(soc, {host: Access.WRITE}, result)))

    def _weigh(self, op: Operator, npu: Npu, stream: Stream) -> Worth:
        soc = self.soc
        near = reader_from(npu, stream.target, soc)
        cycles = compute_cycles(op, self.graph, near, soc)
        if stream.parts > 1:
            cycles = self._in_parts(op, near, stream.parts)
        home = self.homes.get(op.name, "")
        far = compute_cycles(op, self.graph, reader_from(npu, home, soc), soc) if home else None
        copying = stream.parts * self._copy_cycles(stream)
        return Worth(stream=stream, copying=copying, cycles=cycles, direct=far)

    def _copy_cycles(self, stream: Stream) -> int:
        """Predict the copy of a part."""
        size = stream.size // stream.parts
        source = Tensor(
            name="from", shape=(size,), dtype="int8", pools=(stream.source,), data=bytes(size)
        )
        target = replace(source, name="to", pools=(stream.target,), data=None)
        mover = reader_from(self.soc.device(stream.mover), stream.source, self.soc)
        return moving_cycles(source, target, mover, self.soc)

    def _in_parts(self, op: Operator, npu: Device, count: int) -> int:
        """Predict the parts of an operator, and bringing their channels together."""
        (result,) = self.graph.results(op)
        graph = first_part(op, self.graph, count)
        cycles = count * compute_cycles(op, graph, npu, self.soc)
        if result.elements == result.shape[-1]:
            return cycles
        move, graph = relayout_of(op, self.graph, count)
        mover = mover_of_parts(move, graph, self.soc, op.device)
        return cycles + compute_cycles(move, graph, self.soc.device(mover), self.soc)
