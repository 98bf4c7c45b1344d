# SPDX-License-Identifier: Apache-2.0
"""Edits with which parts of a resolved chip are as large as a network needs, tried on the chip."""

from collections.abc import Iterator, Mapping
from functools import partial

from atoll.description.edits import Candidate, Edit, hexadecimal, sentence, set_key
from atoll.description.tree import plain
from atoll.diagnostics.errors import AtollError, Fault, attempt_edit
from atoll.diagnostics.units import format_size
from atoll.resolve.address_map import GRANULE, LARGEST_MEMORY
from atoll.resolve.remedy.case import Case
from atoll.resolve.remedy.trial import Trial
from atoll.resolve.soc import Region, RegionKind, ResolvedSoc

Wants = Mapping[str, int]
"""Bytes by dotted key of a size."""

_ROUND = 1024
_UNALIGNED = ("max_stack_size", "interrupts")
"""Keys whose sizes are limits, and no places in a memory."""

_SLACK = (0, 64, 4096, 65536)
"""Bytes that alignment may cost beside what is missing."""


def grow(soc: ResolvedSoc, wants: Wants) -> tuple[str, ResolvedSoc] | None:
    """Return a remedy and the chip that it makes, with at least what `wants` says.

    Returns:
        None if nobody wrote the chip down, or no edit is known.
    """
    if soc.source is None:
        return None
    trial = Trial(soc.source.where.root, soc.source.folder)
    data = plain(trial.root)
    assert isinstance(data, dict), "a chip is a mapping"
    case = Case(fault=Fault(code="", message=""), key=(), data=data, trial=trial, faults=())
    for edits in _candidates(soc, wants, case):
        chip = attempt_edit(partial(trial.chip, edits))
        if not isinstance(chip, AtollError) and _holds(chip, wants):
            edits = _without_idle(edits, wants, trial)
            return sentence(edits, (), trial.root), chip
    return None


def _candidates(soc: ResolvedSoc, wants: Wants, case: Case) -> Iterator[Candidate]:
    """Yield the sizes alone, then with larger memories, then with memories that move as well."""
    sizes = tuple(
        set_key(tuple(key.split(".")), format_size(_align(key, size)))
        for key, size in wants.items()
        if not _fills(soc, key)
    )
    if len(sizes) == len(wants):
        yield sizes
    missing: dict[str, int] = {}
    for key, size in wants.items():
        if region := _region(soc, key):
            missing[region.memory] = missing.get(region.memory, 0) + max(0, size - region.size)
    for slack in _SLACK:
        larger = {m: lack for m, lack in missing.items() if lack}
        memories = [_larger(soc, name, lack + slack, case) for name, lack in larger.items()]
        if all(memories):
            yield (*(edit for each in memories for edit in each), *sizes)


def _larger(soc: ResolvedSoc, name: str, missing: int, case: Case) -> Candidate:
    """Return the edits that make a memory larger, at another address if there is no room."""
    memory = next(each for each in soc.memories if each.name == name)
    size = -(-(memory.size + missing) // _ROUND) * _ROUND
    if size > LARGEST_MEMORY:
        return ()
    edit = set_key(("memories", name, "size"), format_size(size))
    free = case.free_spans(size, memory.origin, name)
    if memory.origin in free or not free:
        return (edit,)
    return (edit, Edit(("memories", name, "origin"), hexadecimal(free[0])))


def _without_idle(edits: Candidate, wants: Wants, trial: Trial) -> Candidate:
    """Leave out edits that are not needed."""
    for edit in edits:
        fewer = tuple(each for each in edits if each is not edit)
        chip = attempt_edit(partial(trial.chip, fewer))
        if fewer and not isinstance(chip, AtollError) and _holds(chip, wants):
            edits = fewer
    return edits


def _holds(soc: ResolvedSoc, wants: Wants) -> bool:
    return all(_size(soc, key) >= size for key, size in wants.items())


def _fills(soc: ResolvedSoc, key: str) -> bool:
    """Tell whether a pool has no size of its own and takes what is left."""
    assert soc.source is not None, "there is a description"
    return key.startswith("pools.") and not soc.source.where.is_set(*key.split("."))


def _size(soc: ResolvedSoc, key: str) -> int:
    """Return what the chip has of a size that somebody wants."""
    words = key.split(".")
    if words[-1] == "max_stack_size":
        limits = (each.total for cpu in soc.cpus for each in cpu.thread_limits)
        return next((limit.value for limit in limits if limit.key == key), 0)
    if words[-1] == "interrupts":
        return next(c.interrupt_reserve for c in soc.cpus if c.name == words[1])
    region = _region(soc, key)
    return region.size if region else 0


def _region(soc: ResolvedSoc, key: str) -> Region | None:
    words = key.split(".")
    if words[0] == "pools":
        name = words[1]
    elif "threads" in words:
        name = f"{words[1]}.{words[-1]}.{RegionKind.STACK}"
    else:
        name = f"{words[1]}.{words[2]}"
    return next((region for region in soc.regions() if region.name == name), None)


def _align(key: str, size: int) -> int:
    if key.endswith(_UNALIGNED):
        return size
    return -(-size // GRANULE) * GRANULE
