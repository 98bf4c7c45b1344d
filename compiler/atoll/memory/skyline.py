"""Pack a strip from below: several partial plans side by side, and back where all go wrong."""

from dataclasses import dataclass
from random import Random

from atoll.memory.effort import Meter
from atoll.memory.skyline_plans import Arrays, Plans, Skylines, Taste
from atoll.memory.strip import Strip

_STAGES = 20
"""Parts of a run after which the partial plans are looked at."""

_STRICT, _ROUNDS = 48, 52
"""Blocks to place for each of the strip: going back wherever something is wasted, and in all."""

_RESTART = 6
"""Blocks to place for each of the strip before beginning anew."""

_TASTES = (Taste(3), Taste(4), Taste(3, narrow=True), Taste(4, narrow=True), Taste(2))

_TOLERANCE = 3e-4
"""Waste, as a part of what is filled, with which a stage is passed all the same."""


@dataclass(frozen=True, slots=True)
class Found:
    """A plan: where each rectangle is, and the height of all."""

    grounds: tuple[int, ...]
    top: int


def pack_strip(strip: Strip, meter: Meter, kernel: Skylines, enough: int) -> Found | None:
    """Look for a low plan of `strip`.

    A stage that wastes is run again with ties settled differently; if that happens often, from ever
    further back. After a while waste is accepted.

    Args:
        strip: what to pack.
        meter: a node is one block placed in all partial plans.
        kernel: runs the loop.
        enough: height below which nothing is gained.

    Returns:
        The best plan that was found, None if there was too little to spend.
    """
    count, random, spent, best = len(strip.groups), Random(meter.effort.seed), 0, None
    plans = Plans(strip, kernel)
    plans.mark(random)
    saved: list[Arrays] = [plans.snapshot()] * _STAGES
    fails, stage, begun, taste = [0] * _STAGES, 0, 0, _TASTES[0]
    while spent < _ROUNDS * count:
        blocks = count * (stage + 1) // _STAGES - count * stage // _STAGES
        plans.restore(saved[stage])
        if not plans.place(blocks, taste, meter):
            break
        spent += blocks
        if stage + 1 == _STAGES:
            best = _better(plans, best)
            if best is not None and best.top <= enough:
                break
        elif not plans.stuck and (spent > _STRICT * count or plans.waste <= _TOLERANCE):
            stage += 1
            saved[stage] = plans.snapshot()
            continue
        fails[stage] += 1
        stage = max(0, stage - fails[stage] ** 2 // 4 % (stage + 1))
        if spent - begun > _RESTART * count:
            fails, stage, begun = [0] * _STAGES, 0, spent
        taste = random.choice(_TASTES)
        plans.mark(random)
    return best


def _better(plans: Plans, best: Found | None) -> Found | None:
    """Return the lowest of the plans, or `best` if that is as low."""
    tops = plans.tops
    if plans.stuck or (best is not None and min(tops) >= best.top):
        return best
    placed = sorted(plans.history(tops.index(min(tops))))
    return Found(tuple(ground for _, ground in placed), min(tops))
