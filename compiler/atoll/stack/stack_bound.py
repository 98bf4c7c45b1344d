"""Bound the stack of every core before code generation: interprocedural, from the loop program.

The bound counts what the program asks for plus fixed allowances for what the compiler and the
runtime add; the linked binary is checked against the same limits later.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from atoll.errors import Fault, PlanError
from atoll.ir.tir import IRModule, Step
from atoll.memory.explain import enlarging
from atoll.resolve.soc import Cpu, Region, ResolvedSoc, StackLimit
from atoll.stack.stack_frames import FrameDepths

RUNTIME_ALLOWANCE = 512
"""Bytes for startup, main, the run function and the accelerators' drivers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackBound:
    """The most stack that one inference uses on a core.

    Attributes:
        device: the core.
        bound: bytes, interrupt reserve and allowances included.
        limit: the core's `max_stack_size`.
        operator: the operator at which the bound is reached, "" if the core runs none.
        calls: functions on the deepest path, the kernel first.
        largest: the largest stack buffer of that kernel, such as ``powers (48 B)``, or "".
        region: where the stack is.
    """

    device: str
    bound: int
    limit: StackLimit
    operator: str
    calls: tuple[str, ...]
    largest: str
    region: Region


def check_stack(module: IRModule, soc: ResolvedSoc) -> tuple[StackBound, ...]:
    """Return the bound of every core, in canonical order.

    Raises:
        PlanError: E065; a bound is over its core's limit.
    """
    depths = FrameDepths(module.functions)
    bounds = tuple(_bound(cpu, module.entry.steps, depths) for cpu in soc.cpus)
    faults = [_exceeded(bound) for bound in bounds if bound.bound > bound.limit.value]
    if faults:
        raise PlanError.all(faults)
    return bounds


def _bound(cpu: Cpu, steps: Sequence[Step], depths: FrameDepths) -> StackBound:
    kernels = [
        (depths.of(call.function), step.operator, call.function)
        for step in steps
        for call in step.calls
        if call.device == cpu.name
    ]
    depth, operator, function = max(kernels, key=lambda each: each[0], default=(0, "", ""))
    calls = depths.path(function) if function else ()
    largest = depths.largest(function) if function else None
    return StackBound(
        device=cpu.name,
        bound=RUNTIME_ALLOWANCE + cpu.interrupt_reserve + depth,
        limit=cpu.max_stack_size,
        operator=operator,
        calls=calls,
        largest=f"{largest.buffer} ({largest.size} B)" if largest else "",
        region=cpu.run_stack,
    )


def _wanted(bound: StackBound) -> tuple[tuple[str, int], ...]:
    """Return the sizes with which a bound is within its limit: the stack's, and a lower limit's."""
    device, *thread, _ = bound.region.name.split(".")
    stack = f"devices.{device}.stack"
    size = (
        f"{stack}.threads.{thread[0]}" if thread else f"{stack}.size",
        -(-bound.bound // 16) * 16,
    )
    wants = (size,) if bound.bound > bound.region.size else ()
    if bound.limit.value < bound.region.size or not wants:
        wants = (*wants, (f"devices.{device}.limits.max_stack_size", bound.bound))
    return wants


def _exceeded(bound: StackBound) -> Fault:
    limit = bound.limit
    where = f" in operator '{bound.operator}' ({' > '.join(bound.calls)})" if bound.calls else ""
    where += f", largest buffer {bound.largest}" if bound.largest else ""
    region = bound.region
    wants = _wanted(bound)
    return Fault(
        code="E065",
        message=f"the stack '{region.name}' of '{bound.device}' ({region.origin:#010x} to "
        f"{region.end - 1:#010x}) may grow to {bound.bound} bytes{where}, "
        f"{bound.bound - limit.value} over its limit of {limit.value} bytes, set by {limit.layer}",
        remedy=f"{enlarging(wants)}, or lower 'max_stack_alloca_size' so that buffers leave the "
        "stack",
        wants=wants,
    )
