"""What a plan makes of each pool: used, peak and lower bound."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from atoll.memory.problem import Buffer, Placement, PoolSpace, PoolUse, Problem


def pool_uses(problem: Problem, placements: Mapping[str, Placement]) -> Mapping[str, PoolUse]:
    """Return the use of every pool of `problem`."""
    residents: dict[str, list[Buffer]] = defaultdict(list)
    used: dict[str, int] = defaultdict(int)
    for buffer in problem.buffers:
        placement = placements[buffer.name]
        residents[placement.pool].append(buffer)
        used[placement.pool] = max(used[placement.pool], placement.offset + buffer.size)
    return {
        pool.name: PoolUse(
            size=pool.size,
            used=used[pool.name],
            peak=peak(residents[pool.name])[0],
            bound=lower_bound(pool, residents[pool.name]),
        )
        for pool in problem.pools
    }


def peak(
    buffers: Sequence[Buffer], size: Callable[[Buffer], int] = lambda buffer: buffer.size
) -> tuple[int, int]:
    """Return the most bytes live at one step, and the first such step."""
    changes: dict[int, int] = defaultdict(int)
    for buffer in buffers:
        for begin, end in buffer.live:
            changes[begin] += size(buffer)
            changes[end] -= size(buffer)
    steps = sorted(changes)
    totals = accumulate(changes[step] for step in steps)
    return max(zip(totals, steps, strict=True), key=lambda pair: pair[0], default=(0, 0))


def lower_bound(pool: PoolSpace, buffers: Sequence[Buffer]) -> int:
    """Return bytes that every plan of `buffers` in `pool` uses.

    Buffers start at multiples of the pool's alignment, so each occupies its size rounded up,
    except the one on top.
    """

    def rounded(buffer: Buffer) -> int:
        return -(-buffer.size // pool.alignment) * pool.alignment

    slack = max((rounded(buffer) - buffer.size for buffer in buffers), default=0)
    return max(peak(buffers)[0], peak(buffers, rounded)[0] - slack)
