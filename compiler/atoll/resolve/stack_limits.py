"""How much stack compiled operators may use.

From the weakest layer to the strongest: built-in, chip, core, thread, command line.
"""

from collections.abc import Iterator

from atoll.description.devices import Cpu, Limits
from atoll.description.tree import BUILT_IN, COMMAND_LINE, Key
from atoll.resolve.draft import Draft
from atoll.resolve.soc import StackLimit

MAX_STACK_ALLOCA_SIZE = 1024
"""The built-in limit of one kernel-local allocation, bytes."""

ALLOCA = "max_stack_alloca_size"
TOTAL = "max_stack_size"
NO_STACK = "use_backend_alloc_workspace"


def alloca_limit(draft: Draft, name: str, cpu: Cpu) -> StackLimit:
    """Return the largest allocation that may live on the stack of a core, inclusive.

    `use_backend_alloc_workspace: true` is a limit of 0; false cancels a weaker layer's true.
    """
    decided = False
    for key, limits, fields in _layers(draft, name, cpu):
        if NO_STACK in fields and not decided:
            decided = True
            if limits.use_backend_alloc_workspace:
                return StackLimit(value=0, layer=draft.where.layer(*key, NO_STACK))
        if ALLOCA in fields and limits.max_stack_alloca_size is not None:
            layer = draft.where.layer(*key, ALLOCA)
            return StackLimit(value=limits.max_stack_alloca_size, layer=layer)
    return StackLimit(value=MAX_STACK_ALLOCA_SIZE, layer=BUILT_IN)


def total_limit(draft: Draft, name: str, cpu: Cpu) -> StackLimit:
    """Return the most that one run may use of a core's stack: all of it by default."""
    for key, limits, fields in _layers(draft, name, cpu):
        if TOTAL in fields and limits.max_stack_size is not None:
            layer = draft.where.layer(*key, TOTAL)
            return StackLimit(value=limits.max_stack_size, layer=layer)
    return StackLimit(value=run_size(cpu), layer=draft.where.layer(*run_key(name, cpu)))


def total_key(draft: Draft, name: str, cpu: Cpu) -> Key | None:
    """Return the key of the strongest `max_stack_size` for a core, if there is one."""
    for key, limits, fields in _layers(draft, name, cpu):
        if TOTAL in fields and limits.max_stack_size is not None:
            return (*key, TOTAL)
    return None


def run_size(cpu: Cpu) -> int:
    """Return the bytes of the stack that models run on."""
    return cpu.stack.threads.get(cpu.stack.runs or "", cpu.stack.size)


def run_key(name: str, cpu: Cpu) -> Key:
    """Return the key of the size of the stack that models run on."""
    key = ("devices", name, "stack")
    thread = cpu.stack.runs
    return (*key, "threads", thread) if thread in cpu.stack.threads else (*key, "size")


def fields_set(draft: Draft, key: Key, *, on_command_line: bool) -> frozenset[str]:
    """Return the limits at `key` that the command line sets, or those that files set."""
    where = draft.where
    return frozenset(
        field
        for field in (ALLOCA, TOTAL, NO_STACK)
        if where.is_set(*key, field)
        and (where.layer(*key, field) == COMMAND_LINE) == on_command_line
    )


def _layers(draft: Draft, name: str, cpu: Cpu) -> Iterator[tuple[Key, Limits, frozenset[str]]]:
    """Yield (key, limits, fields that the layer sets) from the strongest layer to the weakest."""
    core, chip = ("devices", name, "limits"), ("limits",)
    name_of_thread = cpu.stack.runs or ""
    thread = (*core, "threads", name_of_thread)
    own = cpu.limits.threads.get(name_of_thread)
    for on_command_line in (True, False):
        if own is not None:
            yield thread, own, fields_set(draft, thread, on_command_line=on_command_line)
        yield core, cpu.limits, fields_set(draft, core, on_command_line=on_command_line)
        yield chip, draft.soc.limits, fields_set(draft, chip, on_command_line=on_command_line)
