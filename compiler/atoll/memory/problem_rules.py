# SPDX-License-Identifier: Apache-2.0
"""What makes a planning problem well-formed."""

from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from atoll.diagnostics.errors import Fault
from atoll.memory.problem import Buffer, Interval, PoolSpace, Problem


def problem_faults(problem: Problem) -> Iterator[Fault]:
    """Yield an E064 for every rule of `atoll.memory.problem` that `problem` breaks."""
    names = {buffer.name for buffer in problem.buffers}
    pools = {pool.name for pool in problem.pools}
    if len(pools) < len(problem.pools) or len(names) < len(problem.buffers):
        yield ill_formed("two pools or two buffers of the problem have one name")
    for pool in problem.pools:
        yield from _pool(pool)
    for buffer in problem.buffers:
        yield from _buffer(buffer)
    related = {name for pair in problem.overlaps for name in (pair.later, pair.earlier)}
    for name in sorted(related - names):
        yield ill_formed(f"the problem relates '{name}', which is none of its buffers")
    yield from _overlaps(problem)


def ill_formed(message: str) -> Fault:
    """Make the fault."""
    return Fault(code="E064", message=message)


def _pool(pool: PoolSpace) -> Iterator[Fault]:
    if not _power_of_two(pool.alignment) or pool.size < 0:
        yield ill_formed(f"pool '{pool.name}' has an impossible alignment or size")


def _buffer(buffer: Buffer) -> Iterator[Fault]:
    subject = f"buffer '{buffer.name}'"
    if buffer.size < 1 or not buffer.live:
        yield ill_formed(f"{subject} has no bytes, or is live in no step")
    if not _are_sorted(buffer.live):
        yield ill_formed(f"{subject} has intervals that are empty, unsorted or adjoining")
    if not _power_of_two(buffer.alignment):
        yield ill_formed(f"{subject} has an alignment of {buffer.alignment}, no power of two")
    if len(set(buffer.pools)) < len(buffer.pools):
        yield ill_formed(f"{subject} names a candidate pool twice")
    if buffer.uses < 1:
        yield ill_formed(f"{subject} is used {buffer.uses} times, the least is 1")


def _overlaps(problem: Problem) -> Iterator[Fault]:
    earlier: dict[str, list[str]] = {}
    for overlap in problem.overlaps:
        earlier.setdefault(overlap.later, []).append(overlap.earlier)
        if overlap.distance < 0:
            yield ill_formed(f"'{overlap.later}' overlaps '{overlap.earlier}' by less than 0")
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError:
        yield ill_formed("the overlaps of the problem are circular")


def _are_sorted(intervals: Iterable[Interval]) -> bool:
    """Tell whether no interval is empty, and each begins after the one before has ended."""
    ends = [end for interval in intervals for end in interval]
    return all(later > earlier for earlier, later in pairwise(ends))


def _power_of_two(number: int) -> bool:
    return number > 0 and not number & (number - 1)
