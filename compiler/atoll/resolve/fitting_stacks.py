# SPDX-License-Identifier: Apache-2.0
"""Stacks that fit their memory and limits that fit the stack."""

from atoll.description.devices import Cpu, Limits
from atoll.description.faults import nearest, note
from atoll.description.tree import Key
from atoll.diagnostics.units import format_size
from atoll.resolve.claims import STACK_ALIGNMENT
from atoll.resolve.draft import Draft
from atoll.resolve.stack_limits import (
    ALLOCA,
    NO_STACK,
    fields_set,
    size_key,
    stack_size,
    total_key,
    total_limit,
)


def check_stacks(draft: Draft) -> None:
    """Note stacks that leave nothing to operators, and limits that contradict something."""
    for name, cpu in draft.cpus():
        if not draft.knows("devices", name, "kind"):
            continue
        _check_stack(draft, name, cpu)
        _check_memories(draft, name, cpu)
        _check_threads(draft, name, cpu)
        _check_allocas(draft, ("devices", name, "limits"), cpu.limits)
        for thread, limits in cpu.limits.threads.items():
            _check_allocas(draft, ("devices", name, "limits", "threads", thread), limits)
        for thread in ("", *cpu.stack.threads):
            _check_total(draft, name, cpu, thread)
    _check_allocas(draft, ("limits",), draft.soc.limits)


def _check_stack(draft: Draft, name: str, cpu: Cpu) -> None:
    key = ("devices", name, "stack")
    if not draft.knows(*key):
        return
    _check_size(draft, f"'{name}'", (*key, "size"), cpu.stack.size, cpu.stack.interrupts)
    for thread, size in cpu.stack.threads.items():
        place = (*key, "threads", thread)
        _check_size(draft, f"'{name}.{thread}'", place, size, cpu.stack.interrupts)


def _check_threads(draft: Draft, name: str, cpu: Cpu) -> None:
    """Note each thread that is named and has no stack."""
    named: dict[Key, str] = {
        ("devices", name, "limits", "threads", each): each for each in cpu.limits.threads
    }
    if cpu.stack.runs is not None:
        named["devices", name, "stack", "runs"] = cpu.stack.runs
    if not all(draft.knows("devices", name, part) for part in ("stack", "limits")):
        return
    for key, thread in named.items():
        if thread not in cpu.stack.threads:
            draft.faults.add(
                "E021",
                f"'{'.'.join(key)}' names thread '{thread}' of '{name}', which has no stack",
                at=draft.where.at(*key) if key[-1] == "runs" else draft.where.key_at(*key),
                remedy=nearest(
                    thread,
                    tuple(cpu.stack.threads),
                    f"add it to devices.{name}.stack.threads with a size",
                ),
            )


def _check_size(draft: Draft, owner: str, key: Key, size: int, interrupts: int) -> None:
    if size % STACK_ALIGNMENT:
        draft.faults.add(
            "E035",
            f"the stack of {owner} has {size} bytes, not a multiple of {STACK_ALIGNMENT}",
            at=draft.where.at(*key),
            remedy=f"use {-(-size // STACK_ALIGNMENT) * STACK_ALIGNMENT}, for example",
        )
    if interrupts >= size:
        draft.faults.add(
            "E068",
            f"the stack of {owner} has {format_size(size)}, and interrupts"
            f" keep {format_size(interrupts)} of it: nothing is left",
            at=draft.where.at(*key[:3], "interrupts"),
            other=note(draft.where.at(*key), "the size of the stack"),
            remedy="make the stack larger or the part for interrupts smaller",
        )


def _check_memories(draft: Draft, name: str, cpu: Cpu) -> None:
    for part, memory in (("stack", cpu.stack.memory), ("data", cpu.data.memory)):
        described = draft.soc.memories.get(memory or "")
        known = draft.knows("devices", name, part) and draft.knows("memories", memory or "")
        if described and described.kind == "rom" and known:
            draft.faults.add(
                "E034",
                f"the {part} of '{name}' must be written, and memory '{memory}' is rom",
                at=draft.where.at("devices", name, part, "memory"),
                remedy="name a memory of kind ram",
            )


def _check_allocas(draft: Draft, key: Key, limits: Limits) -> None:
    contradict = limits.use_backend_alloc_workspace and limits.max_stack_alloca_size
    for on_command_line in (True, False):
        fields = fields_set(draft, key, on_command_line=on_command_line)
        if contradict and {ALLOCA, NO_STACK} <= fields:
            draft.faults.add(
                "E069",
                f"'{NO_STACK}: true' keeps all allocations off the stack,"
                f" but '{ALLOCA}' allows some",
                at=draft.where.at(*key, ALLOCA),
                other=note(draft.where.at(*key, NO_STACK), "the stack is forbidden here"),
                remedy="delete one of the two",
            )


def _check_total(draft: Draft, name: str, cpu: Cpu, thread: str) -> None:
    key, limit = total_key(draft, name, cpu, thread), total_limit(draft, name, cpu, thread)
    size = stack_size(cpu, thread)
    if not all(draft.knows(*part) for part in (("devices", name), ("limits",))):
        return
    if key is None or cpu.stack.interrupts >= size:
        return
    if cpu.stack.interrupts < limit.value <= size:
        return
    if thread != (cpu.stack.runs or "") and "threads" not in key:
        # It says nothing of this stack unless a network runs there.
        return
    draft.faults.add(
        "E069",
        f"'{key[-1]}' of '{name}' is {format_size(limit.value)}; the stack has"
        f" {format_size(size)}, {format_size(cpu.stack.interrupts)} of it for interrupts",
        at=draft.where.at(*key),
        other=note(draft.where.at(*size_key(name, cpu, thread)), "the size of the stack"),
        remedy=f"use more than {format_size(cpu.stack.interrupts)} and at most {format_size(size)}",
    )
