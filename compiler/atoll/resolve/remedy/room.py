# SPDX-License-Identifier: Apache-2.0
"""Candidates for what does not fit: smaller regions, larger memories, both."""

from collections.abc import Callable, Iterator, Mapping

from atoll.description.edits import Candidate, Edit, hexadecimal, set_key
from atoll.description.tree import Key
from atoll.diagnostics.errors import Fault
from atoll.diagnostics.units import format_size
from atoll.resolve.address_map import GRANULE, LARGEST_MEMORY
from atoll.resolve.remedy.case import Case, size_of

_NICE = 1024
_INTERRUPTS = 512
"""What handlers use of a stack by default."""

_LEAST = 4096
"""Bytes below which a region of firmware is not made smaller."""


def no_room(case: Case) -> Iterator[Candidate]:
    """Yield sizes with which all regions of a memory fit.

    A region that keeps a quarter of what it asks for is made smaller; else the memory grows.
    """
    if len(case.fault.keys) < 2:
        yield from _heap(case)
        return
    key, memory = case.fault.keys[0], case.fault.keys[1][1]
    if key[-1] == "offset":
        yield (Edit(key),)
        return
    if case.at(*key) is None and key[0] == "pools":
        yield from _share_rest(case, key, memory)
    smaller, larger = _smaller(case, key), _larger(case, memory)
    asked = case.size(*key)
    reduced = smaller and case.size(*key) and _size(smaller) * 4 >= asked
    first, second = (smaller, larger) if reduced else (larger, smaller)
    yield from (each for each in (first, second) if each)


def _share_rest(case: Case, key: Key, memory: str) -> Iterator[Candidate]:
    """Yield sizes for other pools that would take all that is left of a memory."""
    part = case.size("memories", memory, "size") // 4 // GRANULE * GRANULE
    for name, pool in case.table("pools").items():
        greedy = isinstance(pool, dict) and pool.get("memory") == memory and "size" not in pool
        if greedy and name != key[1] and part:
            yield (set_key(("pools", name, "size"), format_size(part)),)


def _size(candidate: Candidate) -> int:
    return size_of(candidate[0].text)


def _smaller(case: Case, key: Key) -> Candidate | None:
    """Return the largest size of a region with which one fault less is there."""
    low, high = 1, case.size(*key) // GRANULE
    found: Candidate | None = None
    least = 1 if key[0] == "pools" else _LEAST // GRANULE
    while low <= high and case.trial.left > 0:
        middle = (low + high) // 2
        edits = (set_key(key, format_size(middle * GRANULE)),)
        if _is_gone(case, edits):
            found, low = (edits if middle >= least else found), middle + 1
        else:
            high = middle - 1
    return found


def _larger(case: Case, memory: str) -> Candidate | None:
    """Return the smallest size of a memory in which everything fits, moved if it has to be."""
    key = ("memories", memory)
    size = case.size(*key, "size")
    high, low = size * 2, size
    while high <= LARGEST_MEMORY and not _fits(case, _grow(case, key, high), memory):
        low, high = high, high * 2
    if high > LARGEST_MEMORY or case.trial.left <= 0:
        return None
    while high - low > _NICE and case.trial.left > 0:
        middle = (low + high) // 2 // _NICE * _NICE
        if middle <= low:
            break
        fits = _fits(case, _grow(case, key, middle), memory)
        low, high = (low, middle) if fits else (middle, high)
    return _grow(case, key, high)


def _grow(case: Case, key: Key, size: int) -> Candidate:
    """Return the edits that give a memory a size, at another address if its own has no room."""
    edit = set_key((*key, "size"), format_size(size))
    origin = case.at(*key, "origin")
    near = origin if isinstance(origin, int) else 0
    free = case.free_spans(size, near, key[1])
    if not free or near in free:
        return (edit,)
    return (edit, Edit((*key, "origin"), hexadecimal(free[0])))


def _is_gone(case: Case, edits: Candidate) -> bool:
    return not any(_same(each, case.fault) for each in case.trial.faults(edits))


def _fits(case: Case, edits: Candidate, memory: str) -> bool:
    wrong = (each.keys[1:] for each in case.trial.faults(edits) if each.code == "E032")
    return all(keys != (("memories", memory),) for keys in wrong)


def _same(one: Fault, other: Fault) -> bool:
    return (one.code, one.keys) == (other.code, other.keys)


def _heap(case: Case) -> Iterator[Candidate]:
    """Yield a heap that leaves half of the pool, then none."""
    pool = case.size(*case.key[:2], "size")
    half = pool // 2 // GRANULE * GRANULE
    if half:
        yield (set_key(case.key, format_size(half)),)
    yield (Edit(case.key),)


def no_stack(case: Case) -> Iterator[Candidate]:
    """Yield a larger stack where it is small, a smaller part for interrupts, then the larger stack.

    The message points at the interrupts; the first stack that they fill is the one to grow.
    """
    stack = ("devices", case.key[1], "stack")
    interrupts = case.size(*stack, "interrupts") or _INTERRUPTS
    keys = [(*stack, "size"), *((*stack, "threads", t) for t in case.table(*stack, "threads"))]
    least = min(keys, key=lambda key: case.size(*key))
    larger = (set_key(least, format_size(interrupts + _LEAST)),)
    if case.size(*least) <= _INTERRUPTS:
        yield larger
    for size in (_INTERRUPTS, case.size(*least) // 4 // GRANULE * GRANULE):
        yield (set_key((*stack, "interrupts"), format_size(size)),)
    yield larger


def stack_limit(case: Case) -> Iterator[Candidate]:
    """Yield the description without the limit, which is then the size of the stack."""
    yield (Edit(case.key),)


ROOM: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "E032": no_room,
    "E068": no_stack,
    "E069": stack_limit,
}
