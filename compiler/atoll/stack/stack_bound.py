# SPDX-License-Identifier: Apache-2.0
"""Bound the stack of every core before code generation: interprocedural, from the loop program.

The bound counts what the program asks for plus fixed allowances for what the compiler and the
runtime add; the linked binary is checked against the same limits later.
"""

from collections.abc import Iterable, Iterator, Sequence

from atoll.ir.tir import IRModule, Step
from atoll.records import dataclass
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


def stack_bounds(module: IRModule, soc: ResolvedSoc) -> tuple[StackBound, ...]:
    """Return the bound of every core, in canonical order.

    It may lie far above what the linked image takes, which alone is held against limits.
    """
    depths = FrameDepths(module.functions)
    return tuple(_bound_of(cpu, module.entry.steps, depths) for cpu in soc.cpus)


def doubts(bounds: Iterable[StackBound]) -> Iterator[str]:
    """Yield a sentence for each bound from which it does not follow that a limit is kept."""
    for each in bounds:
        if each.bound > each.limit.value:
            where = f", in '{each.operator}' ({' > '.join(each.calls)})" if each.calls else ""
            where += f", largest buffer {each.largest}" if each.largest else ""
            yield (
                f"before linking it is only known that a run takes at most {each.bound} B of "
                f"'{each.region.name}'{where}; its limit of {each.limit.value} B, set by "
                f"{each.limit.layer}, is held against the linked image"
            )


def _bound_of(cpu: Cpu, steps: Sequence[Step], depths: FrameDepths) -> StackBound:
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
