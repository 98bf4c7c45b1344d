"""Hold the stack bound of a linked image against the limits of the chip (K1, K2, K4)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from atoll.bsp.elf_stack import ENTRY, INTERRUPT, ON_THREAD, StackBound, has_function, stack_bound
from atoll.errors import Fault, PlanError
from atoll.resolve.soc import Cpu, Region


def check_stack(cpu: Cpu, elf: Path, work: str) -> StackBound:
    """Return the bound of the whole image of a core, once every limit of the core holds.

    Args:
        cpu: the core.
        elf: its linked image.
        work: a function that with all below it, interrupts included, obeys `max_stack_size`.

    Raises:
        PlanError: E066 for each limit that is exceeded; E076 as `stack_bound`.
    """
    whole = stack_bound(elf, ENTRY)
    run = stack_bound(elf, work)
    interrupt = stack_bound(elf, INTERRUPT) if has_function(elf, INTERRUPT) else None
    if faults := tuple(_faults(cpu, whole, run, interrupt)):
        raise PlanError.all(faults)
    if not cpu.run_thread:
        return whole
    return replace(whole, others=(thread_bound(cpu, elf),))


def thread_bound(cpu: Cpu, elf: Path) -> tuple[str, int]:
    """Return name and most bytes of the stack of the thread that models run on, interrupts apart.

    Raises:
        PlanError: E066; they do not fit.
    """
    stack, bound = cpu.run_stack, stack_bound(elf, ON_THREAD)
    if (need := bound.bytes + cpu.interrupt_reserve) > stack.size:
        raise PlanError(
            "E066",
            f"models may use {need} B of {_place(stack)}, {cpu.interrupt_reserve} B for interrupts "
            f"included, but the stack has {stack.size} B; deepest: {bound}",
            at=cpu.at,
            remedy=f"set devices.{cpu.name}.stack.threads.{cpu.run_thread} to at least "
            f"{_aligned(need)}",
        )
    return stack.name, bound.bytes


def _faults(
    cpu: Cpu, whole: StackBound, run: StackBound, interrupt: StackBound | None
) -> Iterator[Fault]:
    reserve = f"{cpu.interrupt_reserve} B for interrupts"
    limit = cpu.max_stack_size
    if (need := run.bytes + cpu.interrupt_reserve) > limit.value:
        yield Fault(
            code="E066",
            message=(
                f"one run on '{cpu.name}' may use {need} B of {_place(cpu.run_stack)}, {reserve} "
                f"included, but max_stack_size is {limit.value} B (from {limit.layer}); "
                f"deepest: {run}"
            ),
            at=cpu.at,
            remedy=f"set devices.{cpu.name}.limits.max_stack_size to at least {need}",
        )
    if (need := whole.bytes + cpu.interrupt_reserve) > cpu.stack.size:
        yield Fault(
            code="E066",
            message=(
                f"the firmware of '{cpu.name}' may use {need} B of {_place(cpu.stack)}, {reserve} "
                f"included, but the stack has {cpu.stack.size} B; deepest: {whole}"
            ),
            at=cpu.at,
            remedy=f"set devices.{cpu.name}.stack.size to at least {_aligned(need)}",
        )
    if interrupt and interrupt.bytes > cpu.interrupt_reserve:
        yield Fault(
            code="E066",
            message=(
                f"interrupts on '{cpu.name}' may use {interrupt.bytes} B of stack, but only "
                f"{reserve} are kept; deepest: {interrupt}"
            ),
            at=cpu.at,
            remedy=f"set devices.{cpu.name}.stack.interrupts to at least {interrupt.bytes}",
        )


def _place(stack: Region) -> str:
    return f"'{stack.name}' ({stack.origin:#010x} to {stack.end - 1:#010x})"


def _aligned(size: int) -> int:
    return -(-size // 16) * 16
