"""Hold what a run touched against the plan: right device, right operator, written before read."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.bsp.linker import copied_pools
from atoll.memory.contract import Contract, Phase, Span
from atoll.pipeline import Compiled
from atoll.report.result import Violation
from atoll.resolve.soc import Cpu, Device, Engine, ResolvedSoc
from atoll_sim.platform import axi_bytes
from atoll_sim.simulation import AccessKind, BlockedAccess, SimResult, Touched
from atoll_sim.simulation import Phase as TracedPhase

Owners = NDArray[np.int32]

_NOTHING_YET = -1

BETWEEN = "none"
"""What reports call the operator of an access between two operators."""


class PlacementCheck:
    """Checks one run. Use `violations` once."""

    def __init__(self, compiled: Compiled) -> None:
        self._soc: ResolvedSoc = compiled.soc
        self._contract: Contract = compiled.contract
        entry = compiled.module.entry
        names = [
            item.buffer for item in entry.allocations if item.buffer in compiled.plan.placements
        ]
        self._spans = {
            name: Span(
                buffer=name,
                pool=compiled.plan.placements[name].pool,
                address=compiled.plan.address(name),
                size=entry.sizes[name],
            )
            for name in names
        }
        self._filled = tuple(
            (pool.region.origin, pool.region.end) for pool in copied_pools(compiled.soc)
        )
        self._starting = True
        self._consumed: dict[tuple[int, str], Owners] = {}
        self._number = {name: index for index, name in enumerate(names)}
        self._owner = {
            pool.name: np.full(pool.region.size, _NOTHING_YET, dtype=np.int32)
            for pool in compiled.soc.pools
        }

    def violations(self, result: SimResult) -> Iterator[Violation]:
        """Yield every fault: refused accesses first, then phase by phase."""
        for blocked in result.blocked:
            yield self._refused(blocked, result.phases[blocked.phase : blocked.phase + 1])
        sample = None
        for traced in result.phases:
            if traced.sample != sample:
                sample = traced.sample
                self._starting = False
                self._new_sample()
            yield from self._phase(traced, self._contracted(traced))

    def _contracted(self, traced: TracedPhase) -> tuple[Phase, ...]:
        return tuple(self._contract.phases[number] for number in traced.operators)

    def _new_sample(self) -> None:
        for owner in self._owner.values():
            owner.fill(_NOTHING_YET)
        for span in self._contract.inputs:
            self._claim(span, [range(span.address, span.end)])
        self._consumed.clear()

    def _phase(self, traced: TracedPhase, active: Sequence[Phase]) -> Iterator[Violation]:
        for phase in active:
            self._begin(phase)
        for touch in sorted(traced.touched, key=lambda touch: touch.kind != AccessKind.WRITE):
            yield from self._outside(touch, active)
            for phase in active:
                if touch.master == phase.device:
                    yield from self._contents(touch, phase)

    def _begin(self, phase: Phase) -> None:
        """Remember what the operands hold that the operator overwrites after it has read them.

        The order of accesses within an operator is not recorded; the distance that its kernel
        declares, and that the plan keeps, says that bytes are read in time.
        """
        consumed = {read for _, read in phase.overlaps}
        for span in phase.reads:
            if span.buffer in consumed and (phase.number, span.buffer) not in self._consumed:
                self._consumed[phase.number, span.buffer] = self._owners(span).copy()

    def _owners(self, span: Span) -> Owners:
        """Return whose value each byte of a span holds, as a view."""
        begin = span.address - self._soc.pool(span.pool).region.origin
        return self._owner[span.pool][begin : begin + span.size]

    def _outside(self, touch: Touched, active: Sequence[Phase]) -> Iterator[Violation]:
        """Yield the touched bytes that the contract does not give to this master now."""
        device = self._soc.device(touch.master)
        allowed = sorted(self._allowed(device, touch.kind, active))
        phase = _blamed(active, touch.master)
        for span in touch.spans:
            for bad in _minus(span, allowed):
                yield self._violation(
                    f"out-of-plan {touch.kind}",
                    touch.master,
                    phase,
                    bad,
                    f"{touch.master} may not {touch.kind} these bytes now",
                )

    def _allowed(
        self, device: Device, kind: AccessKind, active: Sequence[Phase]
    ) -> Iterator[tuple[int, int]]:
        if isinstance(device, Cpu):
            yield from _own(self._soc, device, kind)
        if kind is AccessKind.FETCH:
            return
        writes = kind is AccessKind.WRITE
        spans: list[Span] = []
        for phase in active:
            if device.name == phase.device:
                spans += phase.writes if writes else (*phase.reads, *phase.writes)
        if not active and device.name == self._soc.host:
            spans += (*self._contract.inputs, *self._contract.outputs)
            if writes and self._starting:
                yield from self._filled
        for phase in active:
            if device.name == phase.device:
                yield from ((heap.address, heap.end) for heap in phase.heaps)
        for span in spans:
            yield (span.address, span.end) if writes else _beats(span, device)

    def _contents(self, touch: Touched, phase: Phase) -> Iterator[Violation]:
        """Follow which buffer's value each byte holds: no clobber, no read before write."""
        if touch.kind is AccessKind.WRITE:
            for span in phase.writes:
                self._claim(span, touch.spans)
        elif touch.kind is AccessKind.READ:
            for span in phase.reads:
                if span.buffer in self._number:
                    yield from self._stale(span, touch, phase)

    def _claim(self, span: Span, ranges: Iterable[range]) -> None:
        owners = self._owners(span)
        for part in _within(span, ranges):
            owners[part.start - span.address : part.stop - span.address] = self._number[span.buffer]

    def _stale(self, span: Span, touch: Touched, phase: Phase) -> Iterator[Violation]:
        owners = self._consumed.get((phase.number, span.buffer), self._owners(span))
        for part in _within(span, touch.spans):
            held = owners[part.start - span.address : part.stop - span.address]
            wrong = np.flatnonzero(held != self._number[span.buffer])
            if not wrong.size:
                continue
            first = int(held[wrong[0]])
            other = list(self._number)[first] if first != _NOTHING_YET else ""
            yield Violation(
                rule="overwritten before read" if other else "read before write",
                device=touch.master,
                operator=phase.operator,
                buffer=span.buffer,
                pool=span.pool,
                address=part.start + int(wrong[0]),
                size=int(wrong.size),
                detail=f"the bytes hold '{other}'" if other else "no operator wrote these bytes",
            )
            return

    def _refused(self, blocked: BlockedAccess, traced: Iterable[TracedPhase]) -> Violation:
        """Describe a refused access; `traced` is its phase, if that phase was recorded."""
        return self._violation(
            "blocked by the firewall",
            blocked.master,
            _blamed(next(map(self._contracted, traced), ()), blocked.master),
            range(blocked.address, blocked.address + blocked.size),
            f"{blocked.master} has no window for this {blocked.kind}",
            blocked.cycle or None,
        )

    def _violation(
        self,
        rule: str,
        device: str,
        phase: Phase | None,
        span: range,
        detail: str,
        cycle: int | None = None,
    ) -> Violation:
        return Violation(
            rule=rule,
            device=device,
            operator=phase.operator if phase else BETWEEN,
            buffer=self._buffer_at(span.start, phase),
            pool=_region_at(self._soc, span.start),
            address=span.start,
            size=len(span),
            detail=detail,
            cycle=cycle,
        )

    def _buffer_at(self, address: int, phase: Phase | None) -> str:
        """Name the planned buffer at `address`, one that `phase` touches if there are more."""
        touched = [span.buffer for span in (*phase.reads, *phase.writes)] if phase else []
        spans = [*self._spans.values(), *self._contract.constants]
        found = [span.buffer for span in spans if span.address <= address < span.end]
        return next((name for name in found if name in touched), next(iter(found), ""))


def _blamed(active: Sequence[Phase], device: str) -> Phase | None:
    """Return what `device` is busy with, else what began last, else None."""
    mine = (phase for phase in active if phase.device == device)
    return next(mine, next(reversed(active), None))


def _own(soc: ResolvedSoc, cpu: Cpu, kind: AccessKind) -> Iterator[tuple[int, int]]:
    """Yield what a core may touch at any time: its own regions and the registers it reaches."""
    if kind is not AccessKind.WRITE:
        yield cpu.code.origin, cpu.code.end
    if kind is AccessKind.FETCH:
        return
    for region in (cpu.data, *cpu.stacks):
        yield region.origin, region.end
    for block in soc.registers_of(cpu):
        yield block.origin, block.origin + block.size


def _beats(span: Span, device: Device) -> tuple[int, int]:
    """Return what a read of all of `span` shows: engines read whole beats, cores bytes."""
    beat = axi_bytes(device) if isinstance(device, Engine) else 1
    return span.address // beat * beat, -(-span.end // beat) * beat


def _within(span: Span, ranges: Iterable[range]) -> Iterator[range]:
    for each in ranges:
        if part := range(max(each.start, span.address), min(each.stop, span.end)):
            yield part


def _minus(span: range, allowed: Iterable[tuple[int, int]]) -> Iterator[range]:
    """Yield the parts of `span` that no range of the ascending `allowed` covers."""
    begin, end = span.start, span.stop
    for first, last in allowed:
        if last <= begin:
            continue
        if first >= end:
            break
        if first > begin:
            yield range(begin, first)
        begin = max(begin, last)
    if begin < end:
        yield range(begin, end)


def _region_at(soc: ResolvedSoc, address: int) -> str:
    regions = (r.name for r in soc.regions() if r.origin <= address < r.end)
    memories = (m.name for m in soc.memories if m.origin <= address < m.end)
    return next(regions, next(memories, ""))


def check_placement(compiled: Compiled, result: SimResult) -> tuple[Violation, ...]:
    """Return every access of a run that the plan does not allow."""
    return tuple(PlacementCheck(compiled).violations(result))


def count_accesses(result: SimResult) -> int:
    """Return how many bus accesses were held against the plan."""
    return sum(touch.accesses for phase in result.phases for touch in phase.touched)
