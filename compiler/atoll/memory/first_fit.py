"""Place buffers one after the other at the lowest free offset of their first pool with room."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from atoll.errors import PlanError
from atoll.memory.checker import check
from atoll.memory.misfit import misfit
from atoll.memory.pool_use import pool_uses
from atoll.memory.problem import Buffer, MemoryPlan, Placement, PoolSpace, Problem

_REPAIRS = 16
"""Times that an order may be retried with the buffer that did not fit moved to the front."""

_TRIAL_REPAIRS = 2

Key = Callable[[Buffer], tuple[int, ...]]
Rivals = Mapping[str, tuple[str, ...]]

ORDERS: tuple[Key, ...] = (
    lambda buffer: (-buffer.size, buffer.live[0][0]),
    lambda buffer: (-buffer.size * steps(buffer), -buffer.size),
    lambda buffer: (-steps(buffer), -buffer.size),
    lambda buffer: (buffer.live[0][0], -buffer.size),
    lambda buffer: (-buffer.live[-1][1], -buffer.size),
    lambda buffer: (-buffer.alignment, -buffer.size),
)


def steps(buffer: Buffer) -> int:
    """Return how many steps `buffer` is live in."""
    return sum(end - begin for begin, end in buffer.live)


@dataclass(frozen=True, slots=True)
class _Attempt:
    """Placements so far, and the buffer for which there was no room, if any."""

    placements: Mapping[str, Placement]
    stuck: Buffer | None = None


def plan_first_fit(problem: Problem, operators: Sequence[str] = ()) -> MemoryPlan:
    """Plan `problem`: the best of several fixed orders, accepted by the checker.

    Args:
        problem: what to place.
        operators: name of the operator of each step, for errors.

    Returns:
        The plan with the least sum of used bytes over the pools; among equals the one with the
        most bytes in first-choice pools.

    Raises:
        PlanError: E062; a buffer fits nowhere.
    """
    placements = search(problem)
    if placements is None:
        raise PlanError.all(misfit(problem, operators, first_found))
    plan = MemoryPlan(problem=problem, placements=placements, use=pool_uses(problem, placements))
    check(plan)
    return plan


def search(problem: Problem) -> Mapping[str, Placement] | None:
    """Return the placements of the best order that fits, or None."""
    found = _solutions(problem, _REPAIRS)
    return min(found, key=lambda placements: _cost(problem, placements), default=None)


def first_found(problem: Problem) -> Mapping[str, Placement] | None:
    """Return the placements of any order that fits, or None: for trials, where speed counts."""
    return next(_solutions(problem, _TRIAL_REPAIRS), None)


def _solutions(problem: Problem, repairs: int) -> Iterator[Mapping[str, Placement]]:
    rivals = _rivals(problem.buffers)
    for key in ORDERS:
        attempt = _repaired(problem, sorted(problem.buffers, key=key), rivals, repairs)
        if attempt.stuck is None:
            yield attempt.placements


def _rivals(buffers: Sequence[Buffer]) -> Rivals:
    """Return the buffers that share a step with each buffer."""
    starts = sorted((begin, end, buffer.name) for buffer in buffers for begin, end in buffer.live)
    rivals: dict[str, set[str]] = {buffer.name: set() for buffer in buffers}
    live: list[tuple[int, str]] = []
    for begin, end, name in starts:
        live = [(until, other) for until, other in live if until > begin]
        for _, other in live:
            rivals[name].add(other)
            rivals[other].add(name)
        live.append((end, name))
    return {name: tuple(sorted(others)) for name, others in rivals.items()}


def _cost(problem: Problem, placements: Mapping[str, Placement]) -> tuple[int, int]:
    used = sum(use.used for use in pool_uses(problem, placements).values())
    moved = sum(
        buffer.size * buffer.pools.index(placements[buffer.name].pool) for buffer in problem.buffers
    )
    return used, moved


def _repaired(problem: Problem, order: list[Buffer], rivals: Rivals, repairs: int) -> _Attempt:
    """Place in `order`; move each buffer that got stuck to the front and try again."""
    attempt = _place_all(problem, order, rivals)
    for _ in range(repairs):
        if attempt.stuck is None or attempt.stuck is order[0]:
            break
        order = [attempt.stuck, *(buffer for buffer in order if buffer is not attempt.stuck)]
        attempt = _place_all(problem, order, rivals)
    return attempt


def _place_all(problem: Problem, order: Sequence[Buffer], rivals: Rivals) -> _Attempt:
    pools = {pool.name: pool for pool in problem.pools}
    placed: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in pools}
    placements: dict[str, Placement] = {}
    for buffer in order:
        for name in buffer.pools:
            residents = placed[name]
            busy = sorted(residents[other] for other in rivals[buffer.name] if other in residents)
            offset = _lowest_gap(pools[name], busy, buffer)
            if offset is not None:
                residents[buffer.name] = offset, offset + buffer.size
                placements[buffer.name] = Placement(buffer=buffer.name, pool=name, offset=offset)
                break
        else:
            return _Attempt(placements, buffer)
    return _Attempt({buffer.name: placements[buffer.name] for buffer in problem.buffers})


def _lowest_gap(pool: PoolSpace, busy: Sequence[tuple[int, int]], buffer: Buffer) -> int | None:
    """Return the lowest offset at which `buffer` meets none of the `busy` spans, if it fits."""
    alignment = max(pool.alignment, buffer.alignment)
    free = -pool.origin % alignment
    for begin, end in busy:
        if begin - free >= buffer.size:
            break
        # Addresses are aligned, not offsets: a pool's origin need not be.
        free = max(free, end + -(pool.origin + end) % alignment)
    return free if free + buffer.size <= pool.size else None
