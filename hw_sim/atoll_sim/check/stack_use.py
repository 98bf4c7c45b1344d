# SPDX-License-Identifier: Apache-2.0
"""What a run used of every stack, beside what the linked image can use and what it may (K5)."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from atoll.report.result import StackUse, Violation
from atoll.resolve.soc import Cpu, Region, ResolvedSoc, StackLimit
from atoll.stack.bound import StackBound
from atoll_sim.trace.painted_stacks import stack_name
from atoll_sim.trace.simulation import SimResult

PAINT = 0xA5A5_A5A5
"""The word that the startup code fills stacks with."""


def stack_use(
    soc: ResolvedSoc, result: SimResult, bounds: Mapping[str, StackBound]
) -> Mapping[str, StackUse]:
    """Return the use of each core's main stack, and of other threads' that something runs on.

    Args:
        soc: the chip.
        result: what the run left on the stacks.
        bounds: of each core's image, none if no binary ran.
    """
    uses = {}
    for cpu in soc.cpus:
        for stack in cpu.stacks:
            name = stack_name(stack)
            left = result.unpainted.get(name, stack.size) if name in result.stacks else 0
            used = watermark(result.stacks[name]) if name in result.stacks and not left else None
            bytes_ = _bound_of(cpu, stack, bounds.get(cpu.name))
            if stack == cpu.stack or used or bytes_ is not None:
                limit = _limit(soc, cpu, stack)
                uses[name] = StackUse(
                    bound=bytes_,
                    watermark=used,
                    limit=limit.value,
                    layer=limit.layer,
                    unmeasured=_reason(cpu, stack, left) if left else "",
                )
    return uses


def _reason(cpu: Cpu, stack: Region, left: int) -> str:
    painted = f"{stack.size - left:,} B of the {stack.size:,} B"
    return f"when the run ended, '{cpu.name}' had painted {painted}"


def unmeasured_stacks(uses: Mapping[str, StackUse]) -> Iterator[str]:
    """Yield a sentence for each stack that a core used, or may have used, unseen."""
    for name, use in uses.items():
        if use.unmeasured:
            yield f"stack {name} was not measured: {use.unmeasured}"


def _bound_of(cpu: Cpu, stack: Region, bound: StackBound | None) -> int | None:
    if bound is None:
        return None
    own = bound.bytes if stack == cpu.stack else dict(bound.others).get(stack.name)
    return None if own is None else own + cpu.interrupt_reserve


def _limit(soc: ResolvedSoc, cpu: Cpu, stack: Region) -> StackLimit:
    """Return what bounds a stack: a run's limit; on a main stack that models leave, its size."""
    thread = ".".join(stack.name.split(".")[1:-1])
    if thread or not cpu.run_thread:
        return cpu.on_thread(thread).max_stack_size
    return StackLimit(value=stack.size, layer=soc.layers[f"devices.{cpu.name}.stack.size"])


def unused_stacks(
    soc: ResolvedSoc, uses: Mapping[str, StackUse], working: Collection[str]
) -> Iterator[Violation]:
    """Yield each thread's stack on which a model is planned, and of which a run used nothing.

    Args:
        soc: the chip as the model finds it.
        uses: of the stacks.
        working: cores that did something for the model.
    """
    for cpu in soc.cpus:
        use = uses.get(stack_name(cpu.run_stack))
        if cpu.run_thread and cpu.name in working and use and use.bound and use.watermark == 0:
            yield Violation(
                rule="on another stack",
                number="K1",
                device=cpu.name,
                operator="none",
                buffer="",
                offset=0,
                pool=cpu.run_stack.name,
                address=cpu.run_stack.end - 4,
                size=4,
                detail=f"the model is planned to run on thread '{cpu.run_thread}', whose stack "
                "nothing was written to",
            )


def overruns(soc: ResolvedSoc, uses: Mapping[str, StackUse]) -> Iterator[Violation]:
    """Yield each stack of which a run used more than its bound says."""
    for cpu in soc.cpus:
        for stack in cpu.stacks:
            use = uses.get(stack_name(stack))
            if use and use.watermark and use.bound is not None and use.watermark > use.bound:
                yield Violation(
                    rule="deeper than the bound",
                    number="K5",
                    device=cpu.name,
                    operator="none",
                    buffer="",
                    offset=0,
                    pool=stack.name,
                    address=stack.end - use.watermark,
                    size=use.watermark - use.bound,
                    detail=f"the run used {use.watermark} B of the stack, {use.bound} B at most "
                    "were expected",
                )


def watermark(stack: bytes) -> int:
    """Return how many bytes of a stack that was painted from its low end are painted over."""
    words = np.frombuffer(stack, dtype="<u4")
    used = np.flatnonzero(words != PAINT)
    return len(stack) - 4 * int(used[0]) if used.size else 0
