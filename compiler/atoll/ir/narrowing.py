"""Storage scopes are choice sets: a pass may shrink one, never widen it (rule C2)."""

from collections.abc import Iterator, Mapping

from atoll.errors import Fault
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.tir import Allocate, Constant, Entry, IRModule, PrimFunc
from atoll.ir.walk import statements

_NOT_POOLS = ("global.stack", "global.workspace")


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


def narrows(scope: str, before: str) -> bool:
    """Tell whether every place that `scope` allows is one that `before` allows."""
    if scope == before:
        return True
    if before == "global.workspace":
        return scope.startswith("global.") and scope not in _NOT_POOLS
    return before == "global" and scope.startswith("global.")


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
        elif earlier.buffer in parameters and not narrows("global.workspace", earlier.scope):
            yield ill_formed(where, f"'{earlier.buffer}' left '{earlier.scope}' for the workspace")


def _allocations(function: PrimFunc) -> Iterator[Allocate]:
    return (item for item in statements(function.body) if isinstance(item, Allocate))


def _scopes(where: str, before: Allocate | Constant, after: Allocate | Constant) -> Iterator[Fault]:
    match before, after:
        case Allocate(), Allocate() if not narrows(after.scope, before.scope):
            yield ill_formed(
                where, f"'{before.buffer}' went from '{before.scope}' to '{after.scope}'"
            )
