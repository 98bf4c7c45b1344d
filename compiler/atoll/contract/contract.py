# SPDX-License-Identifier: Apache-2.0
"""The contract: what each device may touch while each operator runs, derived from the plan."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from atoll.contract.areas import Area, areas_of
from atoll.contract.chains import chained_steps
from atoll.ir.graph import Graph
from atoll.ir.tir import AcceleratorWait, EngineAction, Entry, IRModule, Step
from atoll.ir.walk import runtime_allocations
from atoll.memory.problem import MemoryPlan
from atoll.ops.registry import COPY
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc

UNREAD = -1
"""Stands for the last operator of what the caller fills and no operator touches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The bytes of a planned buffer, or of a part of it."""

    buffer: str
    pool: str
    address: int
    size: int

    @property
    def end(self) -> int:
        """First address past the buffer."""
        return self.address + self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """When a planned buffer holds bytes that matter.

    Attributes:
        alignment: bytes, of the buffer and of its pool together.
        constant: it lives always, and nobody writes it.
        first: number of the operator that touches it first; None if the caller fills it.
        last: number of the operator after which it is dead; None if it outlives the run, `UNREAD`
            if it is dead as the run begins.
    """

    span: Span
    alignment: int
    constant: bool
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One operator: nothing but `device` may touch planned buffers, and only these.

    Attributes:
        number: the operator's number in trace events.
        reads: spans whose bytes the device may read, commands and constants included.
        writes: spans whose bytes the device may write.
        heaps: spans of which the device may take blocks.
        overlaps: pairs of buffers (written, read): bytes of the first may take the place of
            bytes of the second once those are read.
        parts: of an operator that is spread, what each further core does meanwhile; of one whose
            device the host drives by a record, that it reads it. Nobody writes a byte that another
            part has written.
    """

    number: int
    operator: str
    device: str
    reads: tuple[Span, ...]
    writes: tuple[Span, ...]
    heaps: tuple[Span, ...] = ()
    overlaps: tuple[tuple[str, str], ...] = ()
    parts: tuple["Phase", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """An operator that only moves bytes: afterwards `destination` equals `source`."""

    number: int
    operator: str
    device: str
    source: Span
    destination: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Succession:
    """An operator that an engine begins by itself: it reads the first of its commands.

    Attributes:
        address: of that command.
        before: number of the operator that thereby ends.
        number: of the one that begins.
    """

    device: str
    address: int
    before: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a correct run touches.

    Attributes:
        inputs: spans that the caller fills before a run; the host may write them.
        outputs: spans that the caller reads after a run, inputs that stay mapped included; the
            host may read them.
        constants: spans that never change.
        phases: by operator number.
        lifetimes: of every planned buffer, constants last.
        copies: operators that only move bytes, in order.
        areas: code, data and stacks of the cores, and register blocks.
        successions: operators that the host does not start.
        states: spans that keep their bytes from run to run; the host may write them between runs.
    """

    inputs: tuple[Span, ...]
    outputs: tuple[Span, ...]
    constants: tuple[Span, ...]
    phases: Mapping[int, Phase]
    lifetimes: tuple[Lifetime, ...]
    copies: tuple[Copy, ...]
    areas: tuple[Area, ...]
    successions: tuple[Succession, ...] = ()
    states: tuple[Span, ...] = ()


def contract_of(module: IRModule, plan: MemoryPlan, graph: Graph, soc: ResolvedSoc) -> Contract:
    """Derive the contract of a planned module.

    Args:
        module: the program; lifetimes follow from its steps, whatever the plan believes.
        plan: where its buffers are.
        graph: the placed graph; says which operators are copies.
        soc: the chip.
    """
    entry = module.entry
    spans = {buffer: _span(entry, plan, buffer) for buffer in plan.placements}
    lives = _Lives(entry, soc)

    def pick(names: Iterable[str]) -> tuple[Span, ...]:
        return tuple(spans[name] for name in names)

    begun = [step for step in entry.steps if not isinstance(step.action, AcceleratorWait)]
    phases = {
        step.number: _phase(step, step.masters, module, plan, (spans, lives)) for step in begun
    }
    copies = {op.name for op in graph.operators if op.kind == COPY}
    return Contract(
        inputs=pick(entry.inputs),
        outputs=pick(lives.kept),
        states=pick(entry.states),
        constants=pick(constant.name for constant in entry.constants),
        phases=phases,
        lifetimes=tuple(_lifetimes(entry, spans, soc, lives)),
        copies=tuple(
            Copy(
                number=step.number,
                operator=step.operator,
                device=step.device,
                source=spans[step.reads[0]],
                destination=spans[step.writes[0]],
            )
            for step in begun
            if step.operator in copies
        ),
        successions=tuple(_successions(entry, spans, soc)),
        areas=areas_of(soc),
    )


def _successions(entry: Entry, spans: Mapping[str, Span], soc: ResolvedSoc) -> Iterator[Succession]:
    for before, step in chained_steps(entry, soc):
        assert isinstance(step.action, EngineAction)
        yield Succession(
            device=step.action.device,
            address=spans[step.action.commands].address,
            before=before.number,
            number=step.number,
        )


def _phase(
    step: Step,
    devices: Sequence[str],
    module: IRModule,
    plan: MemoryPlan,
    known: tuple[Mapping[str, Span], "_Lives"],
) -> Phase:
    """Return what the first of some devices does in a step, with what the others do as parts."""
    device, *others = devices
    reads, writes = step.accesses_of(device)
    spans, lives = known
    return Phase(
        number=step.number,
        operator=step.operator,
        device=device,
        reads=tuple(spans[name] for name in dict.fromkeys(reads)),
        writes=tuple(spans[name] for name in writes),
        heaps=tuple(_heaps(step, device, module, plan)),
        overlaps=tuple(_overlaps(step, module.entry, spans, lives)),
        parts=tuple(_phase(step, (other,), module, plan, known) for other in others),
    )


def _heaps(step: Step, device: str, module: IRModule, plan: MemoryPlan) -> Iterator[Span]:
    kernels = (module.by_name[call.function] for call in step.calls if call.device == device)
    taken = {allocate.pools[0] for kernel in kernels for allocate in runtime_allocations(kernel)}
    for pool in plan.problem.pools:
        if pool.name in taken:
            origin = pool.origin + pool.size
            yield Span(buffer="heap", pool=pool.name, address=origin, size=pool.heap)


def _overlaps(
    step: Step, entry: Entry, spans: Mapping[str, Span], lives: "_Lives"
) -> Iterator[tuple[str, str]]:
    """Yield the results that the plan has laid over an operand, far enough below its start.

    The operand is needed no more: neither by a later operator nor by the caller.
    """
    for each in step.overlaps:
        below = spans[each.written].address + each.distance <= spans[each.read].address
        later, earlier = entry.storage(each.written), entry.storage(each.read)
        written, read = spans[later], spans[earlier]
        over = written.address < read.end and read.address < written.end
        if below and over and lives.last(earlier) == step.number:
            yield later, earlier


def _span(entry: Entry, plan: MemoryPlan, buffer: str) -> Span:
    return Span(
        buffer=entry.storage(buffer),
        pool=plan.placements[buffer].pool,
        address=plan.address(buffer),
        size=entry.sizes[buffer],
    )


def _lifetimes(
    entry: Entry, spans: Mapping[str, Span], soc: ResolvedSoc, lives: "_Lives"
) -> Iterator[Lifetime]:
    for name, align in ((item.buffer, item.align) for item in entry.allocations):
        if name in spans:
            yield Lifetime(
                span=spans[name],
                alignment=max(align, soc.pool(spans[name].pool).alignment),
                constant=False,
                first=lives.first(name),
                last=lives.last(name),
            )
    for constant in entry.constants:
        span = spans[constant.name]
        yield Lifetime(
            span=span,
            alignment=max(constant.align, soc.pool(span.pool).alignment),
            constant=True,
            first=None,
            last=None,
        )


class _Lives:
    """Numbers of the first and of the last operator that touches each buffer.

    Attributes:
        kept: buffers that the caller reads when the run has ended.
    """

    def __init__(self, entry: Entry, soc: ResolvedSoc) -> None:
        self._filled = frozenset(entry.filled)
        mapped = entry.inputs if soc.interface.map_inputs else ()
        self.kept = tuple(dict.fromkeys((*entry.outputs, *mapped)))
        self._stay = frozenset((*self.kept, *entry.states))
        self._first: dict[str, int] = {}
        self._last: dict[str, int] = dict.fromkeys(entry.inputs, UNREAD)
        for step in entry.steps:
            for buffer in map(entry.storage, (*step.reads, *step.writes)):
                self._first.setdefault(buffer, step.number)
                self._last[buffer] = step.number

    def first(self, buffer: str) -> int | None:
        """Return the operator that touches it first; None if the caller fills it."""
        return None if buffer in self._filled else self._first.get(buffer)

    def last(self, buffer: str) -> int | None:
        """Return the operator after which it is dead; None if it outlives the run."""
        return None if buffer in self._stay else self._last.get(buffer)
