# SPDX-License-Identifier: Apache-2.0
"""Number the buffers and operators of contracts, and make their rows of a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from zlib import crc32

from atoll.contract.areas import Area
from atoll.contract.contract import UNREAD, Contract, Lifetime, Phase, Span, Succession
from atoll.protocol import Trace, TraceEvent
from atoll.records import dataclass
from atoll.resolve.soc import Access, Pool, Region, ResolvedSoc
from atoll_sim.shadow.pieces import Pieces, cuts_of
from atoll_sim.shadow.records import (
    BUFFER,
    CONTENT,
    MODEL,
    NEVER,
    NONE,
    OPERATOR,
    POOL,
    SPAN,
    SUCCESSION,
    BufferKind,
    Port,
)

AREA_KINDS = {
    "code": BufferKind.CODE,
    "load": BufferKind.CODE,
    "data": BufferKind.DATA,
    "inbox": BufferKind.INBOX,
    "outbox": BufferKind.DATA,
    "stack": BufferKind.STACK,
}

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """What one number of a buffer stands for in findings.

    Attributes:
        place: the pool, or the region, that it is in.
        address: its first byte, that offsets count from.
    """

    name: str
    place: str
    address: int


class Packer:
    """Numbers buffers and operators of all contracts."""

    def __init__(self, soc: ResolvedSoc, masters: Sequence[str]) -> None:
        """Number the masters in their order."""
        self.soc = soc
        self.masters = {name: number for number, name in enumerate(masters)}
        self.buffers: list[Row] = []
        self.covered: list[Covered] = []
        self.models: list[Row] = []
        self.operators: list[Row] = []
        self.named: list[tuple[int, str]] = []
        self.lists: list[int] = []
        self.contents: list[Row] = []
        self.successions: list[Row] = []
        self.areas: dict[str, int] = {}

    def add(self, contract: Contract, contents: Mapping[str, bytes]) -> None:
        """Append the buffers and operators of one network."""
        base, model = len(self.operators), len(self.models)
        ports, cuts = _ports(contract), cuts_of(contract)
        number = Pieces(contract, cuts, len(self.buffers))
        for each in contract.lifetimes:
            for at in number.of(each.span):
                port = ports.get(each.span.buffer, 0)
                self._add_piece(each, number.spans[at], model, port, base)
        self.contents += [
            CONTENT.row(buffer=number.one(name), crc=crc32(data)) for name, data in contents.items()
        ]
        self.successions += [self._succession(each, model) for each in contract.successions]
        phases = [phase for _, phase in sorted(contract.phases.items())]
        parts = [part for phase in phases for part in (phase, *phase.parts)]
        heaps = dict.fromkeys(heap for part in parts for heap in part.heaps)
        for heap in heaps:
            number.heaps[heap] = len(self.buffers)
            span = SPAN.row(origin=heap.address, size=heap.size)
            self.buffers.append(_buffer(span, BufferKind.HEAP, model))
            self.covered.append(_cover(heap))
        count = max(contract.phases, default=-1) + 1
        copies = {
            copy.number: (
                self._whole(copy.source, number, model),
                self._whole(copy.destination, number, model),
            )
            for copy in contract.copies
        }
        part_row = base + count
        for index in range(count):
            phase = contract.phases.get(index)
            self.named.append((model, phase.operator if phase else ""))
            source, destination = copies.get(index, (NONE, NONE))
            row = part_row if phase and phase.parts else NONE
            part_row += len(phase.parts) if phase else 0
            self.operators.append(self._operator(phase, number, row, source, destination))
        for phase in phases:
            for left, piece in zip(reversed(range(len(phase.parts))), phase.parts, strict=True):
                self.named.append((model, phase.operator))
                row = len(self.operators) + 1 if left else NONE
                self.operators.append(self._operator(piece, number, row))
        self.models.append(MODEL.row(first=base, count=count))

    def _succession(self, each: Succession, model: int) -> Row:
        ordinal = self.soc.device(each.device).ordinal
        return SUCCESSION.row(
            master=self.masters[each.device],
            address=each.address,
            model=model,
            ended=Trace(TraceEvent.OPERATOR_END, each.before, ordinal).word(),
            begun=Trace(TraceEvent.OPERATOR_BEGIN, each.number, ordinal).word(),
        )

    def _add_piece(self, each: Lifetime, span: Span, model: int, port: int, base: int) -> None:
        last = {None: NONE, UNREAD: NEVER}.get(each.last, base + (each.last or 0))
        self.buffers.append(
            BUFFER.row(
                span=SPAN.row(origin=span.address, size=span.size),
                alignment=each.alignment if span.address == each.span.address else 1,
                kind=BufferKind.CONSTANT if each.constant else BufferKind.WORKSPACE,
                owner=model,
                ports=port,
                last=last,
            )
        )
        self.covered.append(_cover(each.span))

    def _whole(self, span: Span, number: Pieces, model: int) -> int:
        """Return the number of a span as a whole, which nobody is granted if it is several."""
        pieces = number.of(span)
        if len(pieces) == 1:
            return pieces[0]
        row = SPAN.row(origin=span.address, size=span.size)
        self.buffers.append(_buffer(row, BufferKind.WORKSPACE, model))
        self.covered.append(_cover(span))
        return len(self.buffers) - 1

    def add_areas(self, areas: Iterable[Area]) -> None:
        """Append what belongs to cores; what a stack must not reach is a buffer of its own."""
        for area in areas:
            beyond = area.size - area.limit
            kind, owner = AREA_KINDS[area.kind], self.masters[area.device]
            parts = [
                (area.address, beyond, BufferKind.BEYOND_STACK),
                (area.address + beyond, area.limit, kind),
            ]
            for address, size, part in parts:
                if size:
                    self.areas[area.name] = len(self.buffers)
                    span = SPAN.row(origin=address, size=size)
                    self.buffers.append(_buffer(span, part, owner))
                    covered = Covered(name="", place=area.name, address=area.address)
                    self.covered.append(covered)

    def _operator(
        self,
        phase: Phase | None,
        number: Pieces,
        part: int,
        source: int = NONE,
        destination: int = NONE,
    ) -> Row:
        reads = writes = overlaps = (0, 0)
        if phase is not None:
            heaps = [number.heaps[heap] for heap in phase.heaps]
            reads = self._list([*number.each(phase.reads), *heaps])
            writes = self._list([*number.each(phase.writes), *heaps])
            overlaps = self._list(each for pair in number.pairs(phase) for each in pair)
        return OPERATOR.row(
            master=NONE if phase is None else self.masters[phase.device],
            reads=reads[0],
            read_count=reads[1],
            writes=writes[0],
            write_count=writes[1],
            overlaps=overlaps[0],
            overlap_count=overlaps[1] // 2,
            source=source,
            destination=destination,
            part=part,
        )

    def _list(self, numbers: Iterable[int]) -> tuple[int, int]:
        first = len(self.lists)
        self.lists += numbers
        return first, len(self.lists) - first

    def pool(self, pool: Pool) -> Row:
        """Return the row of a pool: who may read it, and who may write it."""

        def bits(allowed: Callable[[Access], bool]) -> int:
            return sum(
                1 << number for name, number in self.masters.items() if allowed(pool.reach[name])
            )

        return POOL.row(
            span=span_row(pool.region),
            readers=bits(lambda access: access is not Access.NONE),
            writers=bits(lambda access: access is Access.WRITE),
        )


def span_row(place: Region) -> Row:
    """Return the row of a region."""
    return SPAN.row(origin=place.origin, size=place.size)


def _buffer(span: Row, kind: BufferKind, owner: int) -> Row:
    """Return the row of what is there all the time."""
    return BUFFER.row(span=span, alignment=1, kind=kind, owner=owner, ports=0, last=NONE)


def _cover(span: Span) -> Covered:
    return Covered(name=span.buffer, place=span.pool, address=span.address)


def _ports(contract: Contract) -> Mapping[str, int]:
    inputs = {span.buffer: int(Port.INPUT) for span in contract.inputs}
    outputs: Iterator[str] = (span.buffer for span in contract.outputs)
    states = {span.buffer: int(Port.STATE) for span in contract.states}
    return states | inputs | {name: inputs.get(name, 0) | Port.OUTPUT for name in outputs}
