# SPDX-License-Identifier: Apache-2.0
"""The rules of the entry: its buffers, and steps that touch them as they say."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from atoll.diagnostics.errors import Fault
from atoll.ir.faults import ill_formed
from atoll.ir.statements import bracket
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Allocate,
    CallSpread,
    CallStart,
    Constant,
    CoreCall,
    Entry,
    IRModule,
    KernelCall,
    Step,
)
from atoll.ir.verify_overlap import Overlap
from atoll.ir.written import Written
from atoll.records import dataclass
from atoll.resolve.storage_scope import GLOBAL, ON_STACK, narrows


def entry_faults(module: IRModule) -> Iterator[Fault]:
    """Yield a fault for every rule that the entry breaks."""
    entry = module.entry
    for message in _buffers(entry):
        yield ill_formed("entry", message)
    written = Written(entry)
    written.add((*entry.filled, *(constant.name for constant in entry.constants)))
    overlap = Overlap(entry)
    constants = frozenset(constant.name for constant in entry.constants)
    for step in entry.steps:
        for message in (*_step(step, module, written, constants), *overlap.objections(step)):
            yield ill_formed(f"step {step.number} '{step.operator}'", message)
        if not isinstance(step.action, (AcceleratorStart, CallStart)):
            written.add(step.writes)
    for name in overlap.pending:
        yield ill_formed("entry", f"never waits for '{name}'")
    for name in entry.outputs:
        if name not in written:
            yield ill_formed("entry", f"output '{name}' is never written")


def _buffers(entry: Entry) -> Iterator[str]:
    allocated = {allocate.buffer for allocate in entry.allocations}
    names = Counter(allocate.buffer for allocate in entry.allocations)
    names.update(constant.name for constant in entry.constants)
    names.update(part.name for part in entry.parts)
    yield from (f"declares '{name}' again" for name, count in names.items() if count > 1)
    for name in (*entry.inputs, *entry.outputs):
        if name not in allocated:
            yield f"port '{name}' is no allocation"
    for allocate in entry.allocations:
        yield from _place(allocate.buffer, allocate)
        if not narrows(allocate.scope, GLOBAL) or narrows(allocate.scope, ON_STACK):
            yield f"scope '{allocate.scope}' of '{allocate.buffer}' is none of an entry"
    sizes = {allocate.buffer: allocate.size for allocate in entry.allocations}
    for part in entry.parts:
        if part.offset < 0 or not 0 < part.size <= sizes.get(part.buffer, 0) - part.offset:
            yield f"declares '{part.name}', which is no part of '{part.buffer}'"
    for constant in entry.constants:
        yield from _place(constant.name, constant)
        if constant.data is not None and len(constant.data) != constant.size:
            yield f"'{constant.name}' has {len(constant.data)} of {constant.size} bytes"


def _place(name: str, buffer: Allocate | Constant) -> Iterator[str]:
    if not buffer.pools:
        yield f"'{name}' has no candidate pool"
    if len(set(buffer.pools)) != len(buffer.pools):
        yield f"'{name}' names a candidate pool twice"
    if buffer.size < 1:
        yield f"'{name}' has {buffer.size} bytes"
    if buffer.align < 1 or buffer.align & (buffer.align - 1):
        yield f"alignment {buffer.align} of '{name}' is not a power of two"


def _step(
    step: Step, module: IRModule, written: Written, constants: frozenset[str]
) -> Iterator[str]:
    entry = module.entry
    for name in (*step.reads, *step.writes):
        if name not in entry.sizes:
            yield f"touches '{name}', which is not declared"
    for name in step.reads:
        if name not in written and name not in step.writes:
            yield f"reads '{name}' before it is written"
    yield from (f"writes the constant '{name}'" for name in step.writes if name in constants)
    yield from _overlaps(step, constants)
    match step.action:
        case KernelCall() | CallStart() | CallSpread():
            yield from _calls(step, module)
        case AcceleratorWait(device):
            if device != step.device:
                yield f"is on '{step.device}' and waits for '{device}'"
        case AcceleratorRun(device, commands, count) | AcceleratorStart(device, commands, count):
            fed = step.driver == step.device and isinstance(step.action, AcceleratorRun)
            if device != step.device and not fed:
                yield f"is on '{step.device}' and runs '{device}'"
            if step.record not in ("", commands) or (step.record and not step.driver):
                yield f"has the record '{step.record}' and runs '{commands}'"
            if commands not in constants or commands not in step.reads or count < 1:
                yield f"runs {count} commands of '{commands}', which is no constant that it reads"


def _overlaps(step: Step, constants: frozenset[str]) -> Iterator[str]:
    for overlap in step.overlaps:
        if overlap.written not in step.writes or overlap.written in step.reads:
            yield f"lets '{overlap.written}' overlap, which it does not only write"
        if overlap.read not in step.reads or overlap.read in {*step.writes, *constants}:
            yield f"lets '{overlap.read}' be overlapped, which it does not only read"
        if overlap.distance < 0:
            yield f"lets '{overlap.written}' lie {-overlap.distance} bytes above its operand"
        if isinstance(step.action, (AcceleratorStart, CallStart, AcceleratorWait)):
            yield f"lets '{overlap.written}' overlap although other steps run meanwhile"


def _calls(step: Step, module: IRModule) -> Iterator[str]:
    touched = tuple(_Touched.of(call, module) for call in step.calls)
    for call in step.calls:
        yield from _call(call, module)
    reads = {name for each in touched for name in each.reads}
    writes = {name for each in touched for name in each.writes}
    if reads != set(step.reads) or writes != set(step.writes):
        yield "does not read and write what its kernel reads and writes"
    if isinstance(step.action, CallSpread):
        yield from _parts(step, touched)


def _parts(step: Step, touched: tuple["_Touched", ...]) -> Iterator[str]:
    """Yield what parts that run at once would do to each other."""
    if len(set(step.devices)) < max(2, len(step.devices)) or step.device != step.devices[0]:
        yield f"spreads over {bracket(step.devices)}, from '{step.device}' on"
    if step.overlaps:
        yield "lets results overlap operands that another part may still read"
    for one, other in permutations(touched, 2):
        for name in sorted(one.writes & other.reads):
            yield f"lets one part read '{name}', which another one writes"


@dataclass(frozen=True, slots=True)
class _Touched:
    """The buffers that a kernel reads, and those that it writes."""

    reads: frozenset[str]
    writes: frozenset[str]

    @classmethod
    def of(cls, call: CoreCall, module: IRModule) -> "_Touched":
        kernel = module.by_name.get(call.function)
        used = tuple(zip(call.arguments, kernel.buffers if kernel else (), strict=False))
        return cls(
            reads=frozenset(name for name, buffer in used if buffer.direction.reads),
            writes=frozenset(name for name, buffer in used if buffer.direction.writes),
        )


def _call(call: CoreCall, module: IRModule) -> Iterator[str]:
    kernel = module.by_name.get(call.function)
    if kernel is None or kernel.result is not None:
        yield f"calls '{call.function}', which is no kernel"
        return
    if len(call.arguments) != len(kernel.buffers):
        yield f"passes {len(call.arguments)} of {len(kernel.buffers)} buffers to '{kernel.name}'"
        return
    for name, buffer in zip(call.arguments, kernel.buffers, strict=True):
        size = module.entry.sizes.get(name, 0)
        if size != buffer.elements * buffer.type.bytes:
            yield f"passes '{name}' ({size} B) as {buffer}"
    for name in sorted(_Touched.of(call, module).writes):
        if call.arguments.count(name) > 1:
            yield f"passes '{name}' twice although it is written"
