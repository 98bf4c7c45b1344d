"""Hold the stack bound of a linked image against the limits of the chip (K1, K2, K4)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from atoll.errors import Fault, PlanError
from atoll.resolve.soc import Cpu, Region
from atoll.stack.bound import StackBound
from atoll.stack.elf_bounds import bounds
from atoll.units import format_size

ENTRY = "atoll_reset"
INTERRUPT = "atoll_interrupt"
ON_THREAD = "atoll_run_models"


def check_stack(cpu: Cpu, elf: Path, *works: str) -> StackBound:
    """Return the bound of the whole image of a core, once every limit of the core holds.

    Args:
        cpu: the core.
        elf: its linked image.
        works: functions that, each with all below it and interrupts, obey `max_stack_size`.

    Raises:
        PlanError: E066 for each limit that is exceeded; E076 as `bounds`.
    """
    threads = (ON_THREAD,) if cpu.run_thread else ()
    bound = bounds(elf, (ENTRY, *works, *threads), (INTERRUPT,))
    whole = bound[ENTRY]
    for work in works:
        if faults := (
            *limit_faults(cpu, whole, bound[work]),
            *_interrupt_faults(cpu, bound.get(INTERRUPT)),
        ):
            raise PlanError.all(faults)
    if not cpu.run_thread:
        return whole
    if faults := tuple(on_thread_faults(cpu, bound[ON_THREAD])):
        raise PlanError.all(faults)
    return replace(whole, others=((cpu.run_stack.name, bound[ON_THREAD].bytes),))


def on_thread_faults(cpu: Cpu, bound: StackBound) -> Iterator[Fault]:
    """Yield E066 if what models use of the stack of the thread that they run on does not fit."""
    stack = cpu.run_stack
    if (need := bound.bytes + cpu.interrupt_reserve) > stack.size:
        message = (
            f"models may use {need} B of {_place(stack)}, {cpu.interrupt_reserve} B for interrupts "
            f"included, but the stack has {stack.size} B; deepest: {bound}"
        )
        yield _exceeded(cpu, message, _size_key(cpu), _aligned(need))


def limit_faults(cpu: Cpu, whole: StackBound, run: StackBound | None) -> Iterator[Fault]:
    """Yield E066 for each limit of the core that its image, or one run in it, exceeds."""
    reserve = f"{cpu.interrupt_reserve} B for interrupts"
    limit, device = cpu.max_stack_size, f"devices.{cpu.name}"
    if run is not None and (need := run.bytes + cpu.interrupt_reserve) > limit.value:
        message = (
            f"one run on '{cpu.name}' may use {need} B of {_place(cpu.run_stack)}, {reserve} "
            f"included, but max_stack_size is {limit.value} B (from {limit.layer}); "
            f"deepest: {run}"
        )
        key = f"{device}.limits.max_stack_size"
        if limit.value >= cpu.run_stack.size:
            yield _exceeded(cpu, message, _size_key(cpu), _aligned(need))
        else:
            yield _exceeded(cpu, message, key, need)
    if (need := whole.bytes + cpu.interrupt_reserve) > cpu.stack.size:
        message = (
            f"the firmware of '{cpu.name}' may use {need} B of {_place(cpu.stack)}, {reserve} "
            f"included, but the stack has {cpu.stack.size} B; deepest: {whole}"
        )
        yield _exceeded(cpu, message, f"{device}.stack.size", _aligned(need))


def _interrupt_faults(cpu: Cpu, interrupt: StackBound | None) -> Iterator[Fault]:
    if interrupt and interrupt.bytes > cpu.interrupt_reserve:
        message = (
            f"interrupts on '{cpu.name}' may use {interrupt.bytes} B of stack, but only "
            f"{cpu.interrupt_reserve} B for interrupts are kept; deepest: {interrupt}"
        )
        yield _exceeded(cpu, message, f"devices.{cpu.name}.stack.interrupts", interrupt.bytes)


def _size_key(cpu: Cpu) -> str:
    """Return the key of the size of the stack that models run on."""
    stack = f"devices.{cpu.name}.stack"
    return f"{stack}.threads.{cpu.run_thread}" if cpu.run_thread else f"{stack}.size"


def _exceeded(cpu: Cpu, message: str, key: str, need: int) -> Fault:
    """Return the fault whose remedy gives the size at `key` as many bytes as are needed."""
    remedy = f"set '{key}' to {format_size(need)} or more"
    return Fault(code="E066", message=message, at=cpu.at, remedy=remedy, wants=((key, need),))


def _place(stack: Region) -> str:
    return f"'{stack.name}' ({stack.origin:#010x} to {stack.end - 1:#010x})"


def _aligned(size: int) -> int:
    return -(-size // 16) * 16
