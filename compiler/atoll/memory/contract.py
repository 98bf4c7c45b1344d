"""The contract: what each device may touch while each operator runs, derived from the plan."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Entry,
    IRModule,
    KernelCall,
    Step,
)
from atoll.ir.walk import runtime_allocations
from atoll.memory.problem import MemoryPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The bytes of a planned buffer."""

    buffer: str
    pool: str
    address: int
    size: int

    @property
    def end(self) -> int:
        """First address past the buffer."""
        return self.address + self.size


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
    """

    number: int
    operator: str
    device: str
    reads: tuple[Span, ...]
    writes: tuple[Span, ...]
    heaps: tuple[Span, ...] = ()
    overlaps: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a correct run touches.

    Attributes:
        inputs: spans that the caller fills before a run; the host may write them.
        outputs: spans that the caller reads after a run; the host may read them.
        constants: spans that never change.
        phases: by operator number.
    """

    inputs: tuple[Span, ...]
    outputs: tuple[Span, ...]
    constants: tuple[Span, ...]
    phases: Mapping[int, Phase]

    def as_json(self) -> dict[str, object]:
        """Return the contract for machines, addresses in hexadecimal."""
        return {
            "inputs": _spans_json(self.inputs),
            "outputs": _spans_json(self.outputs),
            "constants": _spans_json(self.constants),
            "phases": [
                {
                    "number": phase.number,
                    "operator": phase.operator,
                    "device": phase.device,
                    "reads": _spans_json(phase.reads),
                    "writes": _spans_json(phase.writes),
                    "heaps": _spans_json(phase.heaps),
                    "overlaps": [list(pair) for pair in phase.overlaps],
                }
                for phase in self.phases.values()
            ],
        }


def contract_of(module: IRModule, plan: MemoryPlan) -> Contract:
    """Derive the contract of a planned module."""
    entry = module.entry
    spans = {buffer: _span(entry, plan, buffer) for buffer in plan.placements}

    def pick(names: Iterable[str]) -> tuple[Span, ...]:
        return tuple(spans[name] for name in names)

    phases = {}
    for step in entry.steps:
        if isinstance(step.action, AcceleratorWait):
            continue
        commands = (
            (step.action.commands,)
            if isinstance(step.action, (AcceleratorRun, AcceleratorStart))
            else ()
        )
        phases[step.number] = Phase(
            number=step.number,
            operator=step.operator,
            device=step.device,
            reads=pick(dict.fromkeys((*step.reads, *commands))),
            writes=pick(step.writes),
            heaps=tuple(_heaps(step, module, plan)),
            overlaps=tuple(_overlaps(step, spans)),
        )
    return Contract(
        inputs=pick(entry.inputs),
        outputs=pick(entry.outputs),
        constants=pick(constant.name for constant in entry.constants),
        phases=phases,
    )


def _heaps(step: Step, module: IRModule, plan: MemoryPlan) -> Iterator[Span]:
    if not isinstance(step.action, KernelCall):
        return
    kernel = module.by_name[step.action.function]
    taken = {allocate.pools[0] for allocate in runtime_allocations(kernel)}
    for pool in plan.problem.pools:
        if pool.name in taken:
            origin = pool.origin + pool.size
            yield Span(buffer="heap", pool=pool.name, address=origin, size=pool.heap)


def _overlaps(step: Step, spans: Mapping[str, Span]) -> Iterator[tuple[str, str]]:
    """Yield the results that the plan has laid over an operand, far enough below its start."""
    for each in step.overlaps:
        written, read = spans[each.written], spans[each.read]
        if written.address + each.distance <= read.address < written.end:
            yield each.written, each.read


def _span(entry: Entry, plan: MemoryPlan, buffer: str) -> Span:
    return Span(
        buffer=buffer,
        pool=plan.placements[buffer].pool,
        address=plan.address(buffer),
        size=entry.sizes[buffer],
    )


def _spans_json(spans: Iterable[Span]) -> list[dict[str, object]]:
    return [
        {"buffer": s.buffer, "pool": s.pool, "address": f"{s.address:#010x}", "size": s.size}
        for s in spans
    ]
