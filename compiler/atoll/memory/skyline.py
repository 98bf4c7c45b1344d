"""Pack a strip from below: several partial plans side by side, and back where all go wrong."""

from dataclasses import dataclass
from random import Random

from atoll.memory.effort import Meter
from atoll.memory.skyline_plans import Arrays, Plans, Skylines, Taste
from atoll.memory.strip import Strip

_STAGES = 20
"""Parts of a run after which the partial plans are looked at."""

_ATTEMPTS, _ROUNDS = 4, 6
"""Times to begin anew, and blocks to place for each of the strip in an attempt."""

_REPEATED = 60_000
"""Blocks to place in all before which a search that ends is begun anew."""

_TASTES = (Taste(3), Taste(4), Taste(3, narrow=True), Taste(4, narrow=True), Taste(2))

_TOLERANCES = 3e-4, 1e-2, 1.0
"""Waste, as a part of what is filled, with which a stage is passed: first, and ever later."""


@dataclass(frozen=True, slots=True)
class Found:
    """A plan: where each rectangle is, and the height of all."""

    grounds: tuple[int, ...]
    top: int


def pack_strip(
    strip: Strip, meter: Meter, kernel: Skylines, enough: int, *, again: bool = False
) -> Found | None:
    """Look for a low plan of `strip`.

    A stage that wastes is run again with ties settled differently; if that happens often, from ever
    further back. Then the furthest stage is the one to begin with, and more waste is allowed.

    Args:
        strip: what to pack.
        meter: a node is one block placed in all partial plans.
        kernel: runs the loop.
        enough: height below which nothing is gained.
        again: begin anew if the search ends early without such a height.

    Returns:
        The best plan that was found, None if there was too little to spend.
    """
    random, limit = Random(meter.effort.seed), meter.spent + (_REPEATED if again else 0)
    best: Found | None = None
    while best is None or best.top > enough:
        found = _Run(strip, meter, Plans(strip, kernel), enough, random).run()
        if best is None or (found is not None and found.top < best.top):
            best = found
        if meter.over or meter.spent >= limit:
            break
    return best


class _Run:
    """One search.

    Attributes:
        saved: the plans before each stage.
        deepest: the last stage that was come to, and the plans before it.
    """

    def __init__(
        self, strip: Strip, meter: Meter, plans: Plans, enough: int, random: Random
    ) -> None:
        self._count = len(strip.groups)
        self._meter, self._plans, self._enough = meter, plans, enough
        self._random = random
        plans.mark(random)
        self._saved: list[Arrays] = [plans.snapshot()] * _STAGES
        self._deepest = 0, plans.snapshot(whole=True)
        self._taste = _TASTES[0]
        self._best: Found | None = None
        self._spent = 0

    def run(self) -> Found | None:
        """Search."""
        for _ in range(_ATTEMPTS):
            if not self._attempt(0, _TOLERANCES[0], _ROUNDS):
                return self._best
        for tolerance in _TOLERANCES[1:]:
            stage, self._saved[stage] = self._deepest
            if not self._attempt(stage, tolerance, _ROUNDS):
                return self._best
        return self._best

    def _attempt(self, begin: int, tolerance: float, rounds: int) -> bool:
        """Begin with a stage, and go back as far as there wherever plans waste too much.

        Returns:
            Whether to go on: there was no plan that is low enough, and there is more to spend.
        """
        fails, stage, limit = [0] * _STAGES, begin, self._spent + rounds * self._count
        while self._spent < limit:
            if not self._place(stage):
                return False
            if stage + 1 == _STAGES and self._ended():
                return False
            if stage + 1 < _STAGES and self._plans.waste <= tolerance and not self._plans.stuck:
                stage += 1
                if stage > self._deepest[0]:
                    self._deepest = stage, self._plans.snapshot(whole=True)
                continue
            fails[stage] += 1
            stage -= fails[stage] ** 2 // 4 % (stage - begin + 1)
            self._vary()
        return True

    def _place(self, stage: int) -> bool:
        """Run a stage and save its plans; return whether there was time."""
        blocks = self._count * (stage + 1) // _STAGES - self._count * stage // _STAGES
        self._plans.restore(self._saved[stage])
        self._spent += blocks
        done = self._plans.place(blocks, self._taste, self._meter)
        if stage + 1 < _STAGES:
            self._saved[stage + 1] = self._plans.snapshot()
        return done

    def _vary(self) -> None:
        self._taste = self._random.choice(_TASTES)
        self._plans.mark(self._random)

    def _ended(self) -> bool:
        """Take the lowest of the complete plans; return whether it is low enough."""
        self._best = _better(self._plans, self._best)
        return self._best is not None and self._best.top <= self._enough


def _better(plans: Plans, best: Found | None) -> Found | None:
    """Return the lowest of the plans, or `best` if that is as low."""
    tops = plans.tops
    if plans.stuck or (best is not None and min(tops) >= best.top):
        return best
    placed = sorted(plans.history(tops.index(min(tops))))
    return Found(tuple(ground for _, ground in placed), min(tops))
