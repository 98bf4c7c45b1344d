"""Hold what a run touched against the plan: right device, right operator, written before read."""

from collections.abc import Iterable, Iterator

import numpy as np

from atoll.memory.contract import Contract, Phase, Span
from atoll.pipeline import Compiled
from atoll.report.result import Violation
from atoll.resolve.soc import Cpu, Device, ResolvedSoc
from atoll_sim.execution import Blocked, Execution, PhaseTrace, SampleRun, Touch

WORD = 16
"""Bus words are at most this wide; a read of one byte shows its whole word."""

_NOTHING_YET = -1

Range = tuple[int, int]


class PlacementCheck:
    """Checks one execution. Use `violations` once."""

    def __init__(self, compiled: Compiled) -> None:
        self._soc: ResolvedSoc = compiled.soc
        self._contract: Contract = compiled.contract
        entry = compiled.module.entry
        names = [item.buffer for item in entry.allocations if item.buffer in compiled.plan.placements]
        self._spans = {
            name: Span(
                buffer=name,
                pool=compiled.plan.placements[name].pool,
                address=compiled.plan.address(name),
                size=entry.sizes[name],
            )
            for name in names
        }
        self._number = {name: index for index, name in enumerate(names)}
        self._owner = {
            pool.name: np.full(pool.region.size, _NOTHING_YET, dtype=np.int32)
            for pool in compiled.soc.pools
        }

    def violations(self, execution: Execution) -> Iterator[Violation]:
        """Yield every fault, in the order in which the run met them."""
        for blocked in execution.blocked:
            yield self._refused(blocked)
        for trace in execution.start:
            yield from self._phase(trace, None)
        for sample in execution.samples:
            yield from self._sample(sample)

    def _sample(self, sample: SampleRun) -> Iterator[Violation]:
        for owner in self._owner.values():
            owner.fill(_NOTHING_YET)
        for span in self._contract.inputs:
            self._claim(span, [(span.address, span.end)])
        for trace in sample.phases:
            phase = self._contract.phases.get(trace.operator)
            yield from self._phase(trace, phase)

    def _phase(self, trace: PhaseTrace, phase: Phase | None) -> Iterator[Violation]:
        for touch in sorted(trace.touches, key=lambda touch: touch.kind != "write"):
            yield from self._outside(touch, phase)
            if phase and touch.master == phase.device:
                yield from self._contents(touch, phase)

    def _outside(self, touch: Touch, phase: Phase | None) -> Iterator[Violation]:
        """Yield the touched bytes that the contract does not give to this master now."""
        device = self._soc.device(touch.master)
        allowed = sorted(self._allowed(device, touch.kind, phase))
        for begin, end in touch.spans:
            for bad_begin, bad_end in _minus((begin, end), allowed):
                yield self._violation(
                    f"out-of-plan {touch.kind}",
                    touch.master,
                    phase.operator if phase else "start",
                    bad_begin,
                    bad_end - bad_begin,
                    f"{touch.master} may not {touch.kind} these bytes now",
                )

    def _allowed(self, device: Device, kind: str, phase: Phase | None) -> Iterator[Range]:
        if isinstance(device, Cpu):
            yield from _own(self._soc, device, kind)
        if kind == "fetch":
            return
        if phase and device.name == phase.device:
            spans: Iterable[Span] = phase.writes if kind == "write" else (*phase.reads, *phase.writes)
        elif phase is None and device.name == self._soc.host:
            spans = (*self._contract.inputs, *self._contract.outputs)
        else:
            spans = ()
        for span in spans:
            yield (span.address, span.end) if kind == "write" else _words(span)

    def _contents(self, touch: Touch, phase: Phase) -> Iterator[Violation]:
        """Follow which buffer's value each byte holds: no clobber, no read before write."""
        if touch.kind == "write":
            for span in phase.writes:
                self._claim(span, touch.spans)
        elif touch.kind == "read":
            for span in phase.reads:
                if span.buffer in self._number:
                    yield from self._stale(span, touch, phase)

    def _claim(self, span: Span, ranges: Iterable[Range]) -> None:
        owner, base = self._owner[span.pool], self._soc.pool(span.pool).region.origin
        for begin, end in _within(span, ranges):
            owner[begin - base : end - base] = self._number[span.buffer]

    def _stale(self, span: Span, touch: Touch, phase: Phase) -> Iterator[Violation]:
        owner, base = self._owner[span.pool], self._soc.pool(span.pool).region.origin
        for begin, end in _within(span, touch.spans):
            held = owner[begin - base : end - base]
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
                address=begin + int(wrong[0]),
                size=int(wrong.size),
                detail=f"the bytes hold '{other}'" if other else "no operator wrote these bytes",
            )
            return

    def _refused(self, blocked: Blocked) -> Violation:
        phase = self._contract.phases.get(blocked.operator)
        return self._violation(
            "blocked by the firewall",
            blocked.master,
            phase.operator if phase else "start",
            blocked.address,
            1,
            f"{blocked.master} has no window for this {'write' if blocked.write else 'read'}",
            blocked.cycle or None,
        )

    def _violation(
        self,
        rule: str,
        device: str,
        operator: str,
        address: int,
        size: int,
        detail: str,
        cycle: int | None = None,
    ) -> Violation:
        return Violation(
            rule=rule,
            device=device,
            operator=operator,
            buffer=self._buffer_at(address, operator),
            pool=_region_at(self._soc, address),
            address=address,
            size=size,
            detail=detail,
            cycle=cycle,
        )

    def _buffer_at(self, address: int, operator: str) -> str:
        """Name the planned buffer at `address`, one that `operator` touches if there are more."""
        touched = [
            span.buffer
            for phase in self._contract.phases.values()
            if phase.operator == operator
            for span in (*phase.reads, *phase.writes)
        ]
        spans = [*self._spans.values(), *self._contract.constants]
        found = [span.buffer for span in spans if span.address <= address < span.end]
        return next((name for name in found if name in touched), next(iter(found), ""))


def _own(soc: ResolvedSoc, cpu: Cpu, kind: str) -> Iterator[Range]:
    """Yield what a core may touch at any time: its own regions, and registers at the host."""
    if kind != "write":
        yield cpu.code.origin, cpu.code.end
    if kind == "fetch":
        return
    for region in (cpu.data, cpu.stack):
        yield region.origin, region.end
    if cpu.name == soc.host:
        for block in (*(npu.registers for npu in soc.npus), soc.console):
            yield block.origin, block.origin + block.size


def _words(span: Span) -> Range:
    return span.address // WORD * WORD, -(-span.end // WORD) * WORD


def _within(span: Span, ranges: Iterable[Range]) -> Iterator[Range]:
    for begin, end in ranges:
        if max(begin, span.address) < min(end, span.end):
            yield max(begin, span.address), min(end, span.end)


def _minus(span: Range, allowed: Iterable[Range]) -> Iterator[Range]:
    """Yield the parts of `span` that no range of the ascending `allowed` covers."""
    begin, end = span
    for first, last in allowed:
        if last <= begin:
            continue
        if first >= end:
            break
        if first > begin:
            yield begin, first
        begin = max(begin, last)
    if begin < end:
        yield begin, end


def _region_at(soc: ResolvedSoc, address: int) -> str:
    regions = (r.name for r in soc.regions() if r.origin <= address < r.end)
    memories = (m.name for m in soc.memories if m.origin <= address < m.end)
    return next(regions, next(memories, ""))


def check_placement(compiled: Compiled, execution: Execution) -> tuple[Violation, ...]:
    """Return every access of `execution` that the plan does not allow."""
    return tuple(PlacementCheck(compiled).violations(execution))


def count_accesses(execution: Execution) -> int:
    """Return how many bus accesses were held against the plan."""
    phases = [*execution.start, *(phase for run in execution.samples for phase in run.phases)]
    return sum(touch.accesses for phase in phases for touch in phase.touches)

