"""What a plan makes of each pool: used, peak and lower bound."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from atoll.memory.answers import plan_of
from atoll.memory.blocks import block_numbers, make_blocks
from atoll.memory.problem import Buffer, Placement, PoolUse, Problem


def pool_uses(problem: Problem, placements: Mapping[str, Placement]) -> Mapping[str, PoolUse]:
    """Return the use of every pool of `problem`."""
    whole = make_blocks(problem)
    number = block_numbers(whole.blocks)
    places = {number[name]: (each.pool, each.offset) for name, each in placements.items()}
    return plan_of(whole, places, "").use


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
