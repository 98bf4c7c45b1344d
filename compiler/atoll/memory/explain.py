# SPDX-License-Identifier: Apache-2.0
"""Explain why buffers do not fit: which are to blame, and what smallest change is enough."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate

from atoll.diagnostics.errors import Fault
from atoll.diagnostics.units import format_size
from atoll.memory.algorithms import DEFAULT
from atoll.memory.assignment import Assignment
from atoll.memory.conflicts import conflict_graph
from atoll.memory.effort import Effort, Meter
from atoll.memory.greedy import UNLIMITED
from atoll.memory.problem import Answer, Buffer, Infeasible, Placement, PoolSpace, Problem
from atoll.utils.remember import remember

Search = Callable[[Problem], Mapping[str, Placement] | None]

MOST = 48
"""Most buffers that are left out one after the other."""

_EFFORT = Effort(nodes=20_000)
"""For all trials of leaving buffers out; each may spend its share of what is left."""

_TRIALS = 40
_LISTED = 8
_APART = 1 << 52
"""Bytes between pools in trials: more than any plan has, and no alignment is larger."""


def fewest(found: Infeasible, algorithm: Callable[[Problem, Meter], Answer]) -> Infeasible:
    """Leave out buffers of a proven answer as long as the others are proven to have no plan.

    What stays is minimal, unless a trial does not end within its effort or more than `MOST` buffers
    are named: then it may hold buffers that it could do without.

    Args:
        found: the answer.
        algorithm: answers what is left; an answer that is not proven changes nothing.
    """
    named = set(found.buffers)
    buffers = [buffer for buffer in found.problem.buffers if buffer.name in named]
    if not found.proven or len(buffers) > MOST:
        return found
    meter = Meter(_EFFORT)
    for number, buffer in enumerate(sorted(buffers, key=lambda each: each.size)):
        rest = named - {buffer.name}
        if not rest or rest == named:
            continue
        with meter.share(1 / (len(buffers) - number)):
            answer = algorithm(_part(found.problem, rest), meter)
        if isinstance(answer, Infeasible) and answer.proven:
            named = set(answer.buffers)
    return replace(found, buffers=tuple(name for name in found.buffers if name in named))


def _part(problem: Problem, names: Set[str]) -> Problem:
    """Return the problem of some of the buffers."""
    return replace(
        problem,
        buffers=tuple(buffer for buffer in problem.buffers if buffer.name in names),
        overlaps=tuple(each for each in problem.overlaps if {each.later, each.earlier} <= names),
    )


def explain(
    problem: Problem,
    operators: Sequence[str],
    search: Search,
    culprits: Sequence[str] = (),
    *,
    proven: bool = True,
) -> Iterator[Fault]:
    """Yield why `search` finds no plan of `problem`.

    Args:
        problem: a problem without a plan, or of which none was found.
        operators: name of the operator of each step, as far as known.
        search: the planner; it has accepted the change that the remedy proposes.
        culprits: names of few buffers that surely have no plan on their own, if any are known.
        proven: there surely is no plan.
    """
    if lost := [buffer for buffer in problem.buffers if not buffer.pools]:
        yield from map(_poolless, lost)
        return
    grown = _smallest_growth(problem, search)
    tight = [pool for pool in problem.pools if pool.name in grown]
    wants = tuple((f"pools.{each.name}.size", grown[each.name] + each.beside) for each in tight)
    if homeless := [buffer for buffer in problem.buffers if not _homes(problem, buffer)]:
        yield from (_homeless(problem, buffer, wants) for buffer in homeless)
        return
    step, live = _crowd(problem, grown)
    if not proven and all(grown[pool.name] <= pool.size for pool in tight):
        yield _missed_plan_fault(tight, grown)
        return
    yield Fault(
        code="E062",
        message=f"{_verdict(problem, tight, grown, proven=proven)}; "
        + _crowding_text(step, live, operators)
        + _sparing_text(problem, grown, live, search)
        + _to_blame(problem, culprits, live),
        remedy=enlarge_remedy(wants),
        wants=wants,
    )


def _missed_plan_fault(pools: Sequence[PoolSpace], found: Mapping[str, int]) -> Fault:
    """Describe a search that found no plan where there is one."""
    names = ", ".join(f"'{pool.name}'" for pool in pools)
    return Fault(
        code="E062",
        message=f"this search found no plan, and there is one: another search found it at "
        f"{format_size(sum(found.values()))} of {names}, {_available(pools)}",
        remedy=f"search longer with --budget, or with --algorithm {DEFAULT}",
    )


def _verdict(
    problem: Problem, tight: Sequence[PoolSpace], grown: Mapping[str, int], *, proven: bool
) -> str:
    """Say what is known of the bytes that are needed: a search's figure may not be the least."""
    found, least = sum(grown.values()), _least(problem, tight, grown)
    size, available = sum(pool.size for pool in tight), _available(tight)
    if proven and len(tight) == len(problem.pools) == 1:
        least = max(least, size + 1)
    if found == least:
        missing = f"{format_size(found - size)} missing"
        return f"{_names(tight)} too small: {format_size(found)} needed, {available}, {missing}"
    known = (
        f"a plan was found at {format_size(found)}, {format_size(least)} are the proven least, "
        f"{available}"
    )
    if proven:
        return f"{_names(tight)} too small: {known}"
    return f"no plan was found: whether {_names(tight)} too small is not known; {known}"


def _available(pools: Sequence[PoolSpace]) -> str:
    return f"{format_size(sum(pool.size for pool in pools))} available{_beside(pools)}"


def _least(problem: Problem, tight: Sequence[PoolSpace], grown: Mapping[str, int]) -> int:
    """Return bytes that some pools surely need together."""
    if len(tight) == 1:
        return Assignment(conflict_graph(problem)).least(tight[0].name)
    bound = [buffer for buffer in problem.buffers if grown.keys() >= set(buffer.pools)]
    _, live = _crowd(replace(problem, buffers=tuple(bound), overlaps=()), grown)
    return 0 if problem.overlaps else sum(buffer.size for buffer in live)


def enlarge_remedy(wants: Sequence[tuple[str, int]]) -> str:
    """Return the remedy that gives sizes of a chip, by dotted key, these bytes."""
    first, *others = [f"'{key}' to {format_size(size)}" for key, size in wants]
    return f"set {first}" + "".join(f" and {each}" for each in others) + " or more" * (not others)


def _homes(problem: Problem, buffer: Buffer) -> list[PoolSpace]:
    """Return the candidate pools that could hold `buffer` if they were empty."""
    return [
        pool
        for pool in problem.pools
        if pool.name in buffer.pools
        and -pool.origin % max(pool.alignment, buffer.alignment) + buffer.size <= pool.size
    ]


def _poolless(buffer: Buffer) -> Fault:
    return Fault(
        code="E060",
        message=f"{_subject(buffer)} has no candidate pool",
        remedy="add a pool that all the devices touching it reach",
    )


def _homeless(problem: Problem, buffer: Buffer, wants: tuple[tuple[str, int], ...]) -> Fault:
    """Describe a buffer that is larger than its pools; the remedy makes room for all buffers."""
    candidates = [pool for pool in problem.pools if pool.name in buffer.pools]
    largest = max(candidates, key=lambda pool: pool.size)
    return Fault(
        code="E061",
        message=f"{_subject(buffer)} fits none of its pools: the largest, '{largest.name}', "
        f"has {format_size(largest.size)}{_beside([largest])}",
        remedy=enlarge_remedy(wants),
        wants=wants,
    )


def _subject(buffer: Buffer) -> str:
    return f"buffer '{buffer.name}' ({format_size(buffer.size)})"


def _beside(pools: Sequence[PoolSpace]) -> str:
    """Say what of some pools is not for this plan."""
    lost = sum(pool.beside for pool in pools)
    return f" beside {format_size(lost)} of other models or the heap" if lost else ""


@remember(lambda *given: given, most=64)
def pools_to_grow(problem: Problem, search: Search) -> frozenset[str]:
    """Return the pools that `explain` wants to be larger of a problem that surely has no plan."""
    if any(not buffer.pools for buffer in problem.buffers):
        return frozenset()
    helping = [
        pool.name
        for pool in problem.pools
        if search(_resize(problem, {pool.name: pool.size + UNLIMITED})) is not None
    ]
    return frozenset(helping if len(helping) == 1 else _smallest_growth(problem, search))


@remember(lambda *given: given, most=64)
def _smallest_growth(problem: Problem, search: Search) -> Mapping[str, int]:
    """Return the new sizes with which `search` succeeds: of one pool if one is enough."""
    best, most = {}, UNLIMITED
    for pool in problem.pools:
        if size := _growth(problem, pool, search, pool.size + most):
            best, most = {pool.name: size}, size - pool.size - 1
    if best:
        return best
    unlimited = {pool.name: UNLIMITED for pool in problem.pools}
    placements = search(_resize(problem, unlimited))
    assert placements is not None, "every buffer has a pool without limit"
    return _trim_growth(problem, search, _ends(problem, placements))


def _trim_growth(problem: Problem, search: Search, ends: Mapping[str, int]) -> Mapping[str, int]:
    """Return which pools have to grow: one after the other as little as the rest allows."""
    roomy = {pool.name: max(pool.size, ends[pool.name]) for pool in problem.pools}
    for pool in problem.pools:
        if roomy[pool.name] == pool.size:
            continue
        tight = {**roomy, pool.name: pool.size}
        part = _resize(problem, tight)
        if search(part) is None:
            small = next(each for each in part.pools if each.name == pool.name)
            tight[pool.name] = _growth(part, small, search, UNLIMITED) or roomy[pool.name]
        roomy = tight
    return {pool.name: roomy[pool.name] for pool in problem.pools if roomy[pool.name] > pool.size}


def _resize(problem: Problem, sizes: Mapping[str, int]) -> Problem:
    """Return a problem with other sizes of some pools, all apart: one may grow over the next."""
    pools = (
        replace(each, size=sizes.get(each.name, each.size), origin=each.origin + number * _APART)
        for number, each in enumerate(problem.pools)
    )
    return replace(problem, pools=tuple(pools))


def _growth(problem: Problem, pool: PoolSpace, search: Search, most: int) -> int | None:
    """Return a small size of `pool` with which everything fits, None if none up to `most` does."""

    def end_with(size: int) -> int | None:
        placements = search(_resize(problem, {pool.name: size}))
        return None if placements is None else _ends(problem, placements)[pool.name]

    fits = end_with(most)
    if fits is None:
        return None
    least = Assignment(conflict_graph(problem)).least(pool.name)
    fails, trial = max(pool.size, least - 1), least
    for _ in range(_TRIALS):
        if fits - fails <= 1 or getattr(search, "over", False):
            break
        if not fails < trial < fits:
            trial = (fits + fails) // 2
        smaller = end_with(trial)
        fits, fails = (fits, trial) if smaller is None else (smaller, fails)
    return fits


def _ends(problem: Problem, placements: Mapping[str, Placement]) -> Mapping[str, int]:
    ends = {pool.name: 0 for pool in problem.pools}
    for buffer in problem.buffers:
        placement = placements[buffer.name]
        ends[placement.pool] = max(ends[placement.pool], placement.offset + buffer.size)
    return ends


def _crowd(problem: Problem, pools: Mapping[str, int]) -> tuple[int, list[Buffer]]:
    """Return the step at which most bytes compete for `pools`, and the buffers that do."""
    rivals = [buffer for buffer in problem.buffers if not pools.keys().isdisjoint(buffer.pools)]
    changes: dict[int, int] = defaultdict(int)
    for buffer in rivals:
        for begin, end in buffer.live:
            changes[begin] += buffer.size
            changes[end] -= buffer.size
    steps = sorted(changes)
    totals = dict(zip(steps, accumulate(changes[step] for step in steps), strict=True))
    step = max(steps, key=totals.__getitem__, default=0)
    return step, [b for b in rivals if any(begin <= step < end for begin, end in b.live)]


def _crowding_text(step: int, live: Sequence[Buffer], operators: Sequence[str]) -> str:
    where = f"step {step}" + (f" ({operators[step]})" if step < len(operators) else "")
    total = sum(buffer.size for buffer in live)
    return f"at {where} {format_size(total)} are live: {_list_largest(live)}"


def _sparing_text(
    problem: Problem, grown: Mapping[str, int], live: Sequence[Buffer], search: Search
) -> str:
    """Say why more bytes are live than are needed: other pools hold some, and some are shared."""
    total = sum(buffer.size for buffer in live)
    placements = search(_resize(problem, grown))
    if placements is None or total <= sum(grown.values()):
        return ""
    inside = [buffer for buffer in live if placements[buffer.name].pool in grown]
    here = sum(buffer.size for buffer in inside)
    shared = here - _covered_bytes([(placements[each.name], each.size) for each in inside])
    words = [f"{format_size(total - here)} of it fit into other pools"] * (here < total)
    words += [f"{format_size(shared)} lie over operands that end there"] * (shared > 0)
    return f" ({', '.join(words)})" if words else ""


def _covered_bytes(placed: Sequence[tuple[Placement, int]]) -> int:
    """Return how many bytes of pools some buffers take together."""
    total, reached = 0, ("", 0)
    for place, size in sorted(placed, key=lambda each: (each[0].pool, each[0].offset)):
        begin = max(place.offset, reached[1]) if place.pool == reached[0] else place.offset
        end = max(place.offset + size, begin)
        total, reached = total + end - begin, (place.pool, end)
    return total


def _list_largest(buffers: Sequence[Buffer]) -> str:
    """Return the largest buffers with their sizes."""
    largest = sorted(buffers, key=lambda buffer: -buffer.size)[:_LISTED]
    listed = [f"'{buffer.name}' {format_size(buffer.size)}" for buffer in largest]
    more = f" and {len(buffers) - _LISTED} more" if len(buffers) > _LISTED else ""
    return f"{', '.join(listed)}{more}"


def _to_blame(problem: Problem, culprits: Sequence[str], crowd: Sequence[Buffer]) -> str:
    """Name the buffers that have no plan on their own, unless the crowd says it all."""
    blamed = [buffer for buffer in problem.buffers if buffer.name in culprits]
    crowded = all(buffer in crowd for buffer in blamed)
    if crowded or len(blamed) == len(problem.buffers):
        return ""
    return f"; these have no plan even without the others: {_list_largest(blamed)}"


def _names(pools: Sequence[PoolSpace]) -> str:
    names = ", ".join(f"'{pool.name}'" for pool in pools)
    return f"pool {names} is" if len(pools) == 1 else f"pools {names} are"
