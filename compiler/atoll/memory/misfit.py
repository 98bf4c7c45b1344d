"""Explain why buffers do not fit, and find the smallest change with which they do."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from atoll.errors import Fault
from atoll.memory.pool_use import peak
from atoll.memory.problem import Buffer, Placement, PoolSpace, Problem
from atoll.units import format_size

Search = Callable[[Problem], Mapping[str, Placement] | None]

_UNLIMITED = 1 << 100
_TRIALS = 40
_LISTED = 8


def misfit(
    problem: Problem, operators: Sequence[str], search: Search, culprits: Sequence[str] = ()
) -> Iterator[Fault]:
    """Yield why `search` finds no plan of `problem`.

    Args:
        problem: a problem without a plan.
        operators: name of the operator of each step, as far as known.
        search: the planner; it has accepted the change that the remedy proposes.
        culprits: names of few buffers that surely have no plan on their own, if any are known.
    """
    homeless = [buffer for buffer in problem.buffers if not _homes(problem, buffer)]
    if homeless:
        yield from (_homeless(problem, buffer) for buffer in homeless)
        return
    grown = _smallest_growth(problem, search)
    tight = [pool for pool in problem.pools if pool.name in grown]
    step, live = _crowd(problem, grown)
    available, needed = sum(pool.size for pool in tight), sum(grown.values())
    yield Fault(
        code="E062",
        message=f"{_names(tight)} too small: {format_size(needed)} needed, "
        f"{format_size(available)} available{_beside(tight)}, "
        f"{format_size(needed - available)} missing; "
        + _crowded(step, live, operators)
        + _to_blame(problem, culprits, live),
        remedy=" and ".join(_enlarge(pool, grown[pool.name]) for pool in tight),
    )


def _homes(problem: Problem, buffer: Buffer) -> list[PoolSpace]:
    """Return the candidate pools that could hold `buffer` if they were empty."""
    return [
        pool
        for pool in problem.pools
        if pool.name in buffer.pools
        and -pool.origin % max(pool.alignment, buffer.alignment) + buffer.size <= pool.size
    ]


def _homeless(problem: Problem, buffer: Buffer) -> Fault:
    subject = f"buffer '{buffer.name}' ({format_size(buffer.size)})"
    candidates = [pool for pool in problem.pools if pool.name in buffer.pools]
    if not candidates:
        return Fault(
            code="E060",
            message=f"{subject} has no candidate pool",
            remedy="add a pool that all the devices touching it reach",
        )
    largest = max(candidates, key=lambda pool: pool.size)
    needed = -largest.origin % max(largest.alignment, buffer.alignment) + buffer.size
    return Fault(
        code="E061",
        message=f"{subject} fits none of its pools: the largest, '{largest.name}', "
        f"has {format_size(largest.size)}{_beside([largest])}",
        remedy=_enlarge(largest, needed),
    )


def _beside(pools: Sequence[PoolSpace]) -> str:
    """Say what of some pools is not for this plan."""
    lost = sum(pool.beside for pool in pools)
    return f" beside {format_size(lost)} of other models or the heap" if lost else ""


def _enlarge(pool: PoolSpace, needed: int) -> str:
    """Propose a size with which `needed` bytes of a pool are for this plan."""
    return f"set the size of pool '{pool.name}' to {format_size(needed + pool.beside)} or more"


def _smallest_growth(problem: Problem, search: Search) -> Mapping[str, int]:
    """Return the new sizes with which `search` succeeds: of one pool if one is enough."""
    single = {pool.name: size for pool in problem.pools if (size := _growth(problem, pool, search))}
    if single:
        sizes = {pool.name: pool.size for pool in problem.pools}
        best = min(single, key=lambda name: single[name] - sizes[name])
        return {best: single[best]}
    unlimited = tuple(replace(pool, size=_UNLIMITED) for pool in problem.pools)
    placements = search(replace(problem, pools=unlimited))
    assert placements is not None, "every buffer has a pool without limit"
    ends = _ends(problem, placements)
    return {pool.name: ends[pool.name] for pool in problem.pools if ends[pool.name] > pool.size}


def _growth(problem: Problem, pool: PoolSpace, search: Search) -> int | None:
    """Return a small size of `pool` with which everything fits, None if there is none."""

    def used(size: int) -> int | None:
        pools = tuple(
            replace(each, size=size) if each.name == pool.name else each for each in problem.pools
        )
        placements = search(replace(problem, pools=pools))
        return None if placements is None else _ends(problem, placements)[pool.name]

    fits = used(_UNLIMITED)
    if fits is None:
        return None
    fails = pool.size
    for _ in range(_TRIALS):
        if fits - fails <= 1:
            break
        middle = (fits + fails) // 2
        smaller = used(middle)
        fits, fails = (fits, middle) if smaller is None else (smaller, fails)
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
    _, step = peak(rivals)
    return step, [b for b in rivals if any(begin <= step < end for begin, end in b.live)]


def _crowded(step: int, live: Sequence[Buffer], operators: Sequence[str]) -> str:
    where = f"step {step}" + (f" ({operators[step]})" if step < len(operators) else "")
    total = sum(buffer.size for buffer in live)
    return f"at {where} {format_size(total)} are live: {_listed(live)}"


def _listed(buffers: Sequence[Buffer]) -> str:
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
    return f"; these have no plan even without the others: {_listed(blamed)}"


def _names(pools: Sequence[PoolSpace]) -> str:
    names = ", ".join(f"'{pool.name}'" for pool in pools)
    return f"pool {names} is" if len(pools) == 1 else f"pools {names} are"
