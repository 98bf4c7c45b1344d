# SPDX-License-Identifier: Apache-2.0
"""Storage scopes are choice sets: a pass may shrink one, never widen it (rule C2)."""

from collections.abc import Iterator, Mapping

from atoll.diagnostics.errors import Fault, UsageError
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.tir import Allocate, Constant, Entry, IRModule, PrimFunc, RuntimeAllocate
from atoll.ir.walk import statements
from atoll.resolve.storage_scope import IN_WORKSPACE, ScopeNames, narrows, parse_scope

_Buffer = Allocate | RuntimeAllocate | Constant


def verify_narrowing(before: IRModule, after: IRModule) -> None:
    """Accept what a pass made of `before`.

    Raises:
        ProgramError: E078; a buffer of the entry or of a kernel may now live somewhere that
            `before` ruled out.
    """
    faults = [*_entry(before.entry, after.entry)]
    for kernel in before.functions:
        if kernel.name in after.by_name:
            faults += _kernel(kernel, after.by_name[kernel.name])
    if faults:
        raise ProgramError.all(faults)


def verify_scopes(module: IRModule, names: ScopeNames) -> None:
    """Accept scopes that name only what the chip has (C1).

    Raises:
        UsageError: E029 for each other one.
    """
    faults: list[Fault] = []
    allocations = (each for function in module.functions for each in _allocations(function))
    for allocate in (*module.entry.allocations, *allocations):
        try:
            parse_scope(allocate.scope, names)
        except UsageError as unknown:
            faults += unknown.faults
    if faults:
        raise UsageError.all(faults)


def _entry(before: Entry, after: Entry) -> Iterator[Fault]:
    earlier = _buffers(before)
    for name, buffer in _buffers(after).items():
        if name not in earlier:
            continue
        gained = [pool for pool in buffer.pools if pool not in earlier[name].pools]
        if gained:
            yield ill_formed("entry", f"'{name}' gained the pools {', '.join(gained)}")
        yield from _scopes("entry", earlier[name], buffer)


def _buffers(entry: Entry) -> Mapping[str, Allocate | Constant]:
    buffers: dict[str, Allocate | Constant] = {item.buffer: item for item in entry.allocations}
    return buffers | {item.name: item for item in entry.constants}


def _kernel(before: PrimFunc, after: PrimFunc) -> Iterator[Fault]:
    where = f"function '{before.name}'"
    kept = {item.buffer: item for item in _allocations(after)}
    parameters = {parameter.name for parameter in after.buffers}
    for earlier in _allocations(before):
        if earlier.buffer in kept:
            yield from _scopes(where, earlier, kept[earlier.buffer])
        elif earlier.buffer in parameters and not narrows(IN_WORKSPACE, earlier.scope):
            yield ill_formed(where, f"'{earlier.buffer}' left '{earlier.scope}' for the workspace")


def _allocations(function: PrimFunc) -> Iterator[Allocate | RuntimeAllocate]:
    items = statements(function.body)
    return (item for item in items if isinstance(item, (Allocate, RuntimeAllocate)))


def _scopes(where: str, before: _Buffer, after: _Buffer) -> Iterator[Fault]:
    if isinstance(before, Constant) or isinstance(after, Constant):
        return
    if not narrows(after.scope, before.scope):
        yield ill_formed(where, f"'{before.buffer}' went from '{before.scope}' to '{after.scope}'")
    gained = [pool for pool in after.pools if before.pools and pool not in before.pools]
    if gained and isinstance(after, RuntimeAllocate):
        yield ill_formed(where, f"'{after.buffer}' gained the heaps of {', '.join(gained)}")
