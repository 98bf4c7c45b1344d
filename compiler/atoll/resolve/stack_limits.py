# SPDX-License-Identifier: Apache-2.0
"""How much stack compiled operators may use.

From the weakest layer to the strongest: built-in, chip, core, thread, command line.
"""

from collections.abc import Iterator

from atoll.description.devices import Cpu, Limits
from atoll.description.tree import BUILT_IN, COMMAND_LINE, Key
from atoll.resolve.draft import Draft
from atoll.resolve.soc import StackLimit, ThreadLimits

MAX_STACK_ALLOCA_SIZE = 1024
"""The built-in limit of one kernel-local allocation, bytes."""

ALLOCA = "max_stack_alloca_size"
TOTAL = "max_stack_size"
NO_STACK = "use_backend_alloc_workspace"


def thread_limits(draft: Draft, name: str, cpu: Cpu) -> tuple[ThreadLimits, ...]:
    """Return what models may use of each stack of a core, of the main one first."""
    return tuple(
        ThreadLimits(
            thread=thread,
            alloca=alloca_limit(draft, name, cpu, thread),
            total=total_limit(draft, name, cpu, thread),
        )
        for thread in ("", *sorted(cpu.stack.threads))
    )


def alloca_limit(draft: Draft, name: str, cpu: Cpu, thread: str) -> StackLimit:
    """Return the largest allocation that may live on the stack of a thread, inclusive.

    `use_backend_alloc_workspace: true` is a limit of 0; false cancels a weaker layer's true.
    """
    decided = False
    for key, limits, fields in _layers(draft, name, cpu, thread):
        if NO_STACK in fields and not decided:
            decided = True
            if limits.use_backend_alloc_workspace:
                return _limit(draft, (*key, NO_STACK), 0)
        if ALLOCA in fields and limits.max_stack_alloca_size is not None:
            return _limit(draft, (*key, ALLOCA), limits.max_stack_alloca_size)
    own = ".".join(("devices", name, "limits", *(("threads", thread) if thread else ()), ALLOCA))
    return StackLimit(value=MAX_STACK_ALLOCA_SIZE, layer=BUILT_IN, key=own)


def total_limit(draft: Draft, name: str, cpu: Cpu, thread: str) -> StackLimit:
    """Return the most that one run may use of the stack of a thread: all of it by default."""
    key, value = _strongest_total(draft, name, cpu, thread)
    return _limit(draft, key, value)


def total_key(draft: Draft, name: str, cpu: Cpu, thread: str) -> Key | None:
    """Return the key of the strongest `max_stack_size` for a stack, if there is one."""
    key, _ = _strongest_total(draft, name, cpu, thread)
    return key if key[-1] == TOTAL else None


def stack_size(cpu: Cpu, thread: str) -> int:
    """Return the bytes of the stack of a thread, of the main one for ""."""
    return cpu.stack.threads.get(thread, cpu.stack.size)


def size_key(name: str, cpu: Cpu, thread: str) -> Key:
    """Return the key of the size of the stack of a thread."""
    key = ("devices", name, "stack")
    return (*key, "threads", thread) if thread in cpu.stack.threads else (*key, "size")


def _strongest_total(draft: Draft, name: str, cpu: Cpu, thread: str) -> tuple[Key, int]:
    """Return the limit of a run; one for all stacks does not count on those that are smaller."""
    size, own = stack_size(cpu, thread), cpu.limits.threads.get(thread)
    for key, limits, fields in _layers(draft, name, cpu, thread):
        total = limits.max_stack_size if TOTAL in fields else None
        counts = thread == (cpu.stack.runs or "") or limits is own
        if total is not None and (counts or total <= size):
            return (*key, TOTAL), total
    return size_key(name, cpu, thread), size


def _limit(draft: Draft, key: Key, value: int) -> StackLimit:
    return StackLimit(value=value, layer=draft.where.layer(*key), key=".".join(key))


def fields_set(draft: Draft, key: Key, *, on_command_line: bool) -> frozenset[str]:
    """Return the limits at `key` that the command line sets, or those that files set."""
    where = draft.where
    return frozenset(
        field
        for field in (ALLOCA, TOTAL, NO_STACK)
        if where.is_set(*key, field)
        and (where.layer(*key, field) == COMMAND_LINE) == on_command_line
    )


def _layers(
    draft: Draft, name: str, cpu: Cpu, thread: str
) -> Iterator[tuple[Key, Limits, frozenset[str]]]:
    """Yield (key, limits, fields that the layer sets) from the strongest layer to the weakest."""
    core, chip = ("devices", name, "limits"), ("limits",)
    of_thread = (*core, "threads", thread)
    own = cpu.limits.threads.get(thread)
    for on_command_line in (True, False):
        if own is not None:
            yield of_thread, own, fields_set(draft, of_thread, on_command_line=on_command_line)
        yield core, cpu.limits, fields_set(draft, core, on_command_line=on_command_line)
        yield chip, draft.soc.limits, fields_set(draft, chip, on_command_line=on_command_line)
