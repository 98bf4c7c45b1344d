# SPDX-License-Identifier: Apache-2.0
"""Hold the stack bound of a linked image against the limits of the chip (K1, K2, K4)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import Fault, PlanError
from atoll.diagnostics.units import format_size
from atoll.resolve.soc import Cpu, Region
from atoll.stack.bound import StackBound
from atoll.stack.elf_bounds import bounds

ENTRY = "atoll_reset"
INTERRUPT = "atoll_interrupt"
_LIMIT = "max_stack_size"


def check_stack(
    cpu: Cpu, elf: Path, works: Mapping[str, str], seen: Cpu | None = None
) -> StackBound:
    """Return the bound of the whole image of a core, once every limit of the core holds.

    Args:
        cpu: the core.
        elf: its linked image.
        works: by function that, with all below it and interrupts, obeys `max_stack_size`, the
            thread on whose stack it is, "" for the main one.
        seen: the core with its stacks where it sees them, if that is elsewhere.

    Raises:
        PlanError: E066 for each limit that is exceeded; E076 as `bounds`; E201, a function is
            called on another stack.
    """
    bound = bounds(elf, (ENTRY, *works), (INTERRUPT,))
    faults: list[Fault] = []
    for work, thread in works.items():
        faults += run_faults(cpu.on_thread(thread), bound[work])
    faults += whole_faults(cpu, bound[ENTRY])
    faults += _interrupt_faults(cpu, bound.get(INTERRUPT))
    if any(works.values()):
        faults += _misplaced_faults(seen or cpu, elf)
    if faults:
        raise PlanError.all(dict.fromkeys(faults))
    others: dict[str, int] = {}
    for work, thread in works.items():
        if thread:
            name = cpu.stack_of(thread).name
            others[name] = max(bound[work].bytes, others.get(name, 0))
    return replace(bound[ENTRY], others=tuple(others.items()))


def _misplaced_faults(cpu: Cpu, elf: Path) -> tuple[Fault, ...]:
    from atoll.stack.elf_stack import Program  # slow to import
    from atoll.stack.elf_threads import misplaced_calls

    program = Program.read(elf)
    root = program.address_of(ENTRY)
    assert root is not None
    program.depth(root)
    return tuple(misplaced_calls(program, (root,), cpu))


def run_faults(cpu: Cpu, run: StackBound) -> Iterator[Fault]:
    """Yield E066 if a run exceeds what the core allows one on the stack of its thread."""
    limit, stack = cpu.max_stack_size, cpu.run_stack
    if (need := run.bytes + cpu.interrupt_reserve) > limit.value:
        message = (
            f"one run on '{cpu.name}' may use {need} B of {_place(stack)}, {_reserve(cpu)} "
            f"included, but max_stack_size is {limit.value} B (from {limit.layer}); "
            f"deepest: {run}"
        )
        named = limit.key.endswith(_LIMIT)
        own = limit.key if named else f"devices.{cpu.name}.limits.{_LIMIT}"
        keys = [own] if named or limit.value < stack.size else []
        keys += [_size_key(cpu)] if need > stack.size else []
        yield _excess_fault(cpu, message, keys, need)


def whole_faults(cpu: Cpu, whole: StackBound) -> Iterator[Fault]:
    """Yield E066 if an image does not fit the main stack of its core."""
    if (need := whole.bytes + cpu.interrupt_reserve) > cpu.stack.size:
        message = (
            f"the firmware of '{cpu.name}' may use {need} B of {_place(cpu.stack)}, "
            f"{_reserve(cpu)} included, but the stack has {cpu.stack.size} B; deepest: {whole}"
        )
        yield _excess_fault(cpu, message, [f"devices.{cpu.name}.stack.size"], need)


def _interrupt_faults(cpu: Cpu, interrupt: StackBound | None) -> Iterator[Fault]:
    if interrupt and interrupt.bytes > cpu.interrupt_reserve:
        message = (
            f"interrupts on '{cpu.name}' may use {interrupt.bytes} B of stack, but only "
            f"{cpu.interrupt_reserve} B for interrupts are kept; deepest: {interrupt}"
        )
        yield _excess_fault(cpu, message, [f"devices.{cpu.name}.stack.interrupts"], interrupt.bytes)


def _size_key(cpu: Cpu) -> str:
    """Return the key of the size of the stack that models run on."""
    stack = f"devices.{cpu.name}.stack"
    return f"{stack}.threads.{cpu.run_thread}" if cpu.run_thread else f"{stack}.size"


def _excess_fault(cpu: Cpu, message: str, keys: Sequence[str], need: int) -> Fault:
    """Return the fault whose remedy gives the sizes at `keys` as many bytes as are needed."""
    wants = tuple(
        (key, need if key.endswith((_LIMIT, "interrupts")) else _align(need)) for key in keys
    )
    remedy = " and ".join(f"'{key}' to {format_size(size)} or more" for key, size in wants)
    return Fault(code="E066", message=message, at=cpu.at, remedy=f"set {remedy}", wants=wants)


def _reserve(cpu: Cpu) -> str:
    return f"{cpu.interrupt_reserve} B for interrupts"


def _place(stack: Region) -> str:
    return f"'{stack.name}' ({stack.origin:#010x} to {stack.end - 1:#010x})"


def _align(size: int) -> int:
    return -(-size // 16) * 16
