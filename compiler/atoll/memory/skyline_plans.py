"""The partial plans of a skyline search: placing, copying and reading them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, MutableMapping, Sequence
from copy import copy
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from atoll.memory.effort import Meter
from atoll.memory.skyline_layout import (
    BUFFERS,
    COUNT,
    FAR,
    FRESH,
    LARGEST,
    LEVEL,
    NARROW,
    PLANS,
    SIDE,
    STEPS,
    STUCK,
    TRIED,
    WIDTH,
    WORD,
    WORDS,
)
from atoll.memory.strip import Strip

_CALL = 16
"""Blocks that one call places in each plan, so that the clock is looked at."""

_MARKS = 1 << 40
_ROWS = ("open", "time", "height", "last", "waste", "filled", "top")
_HISTORY = ("came_from", "placed", "offset")

Arrays = MutableMapping[str, Any]


class Skylines(Protocol):
    """The kernel, compiled or interpreted."""

    def zeros(self, name: str, elements: int) -> Any:
        """Return memory for a parameter: a list of numbers or what can be used like one."""

    def __call__(self, arrays: Arrays) -> None:
        """Run on arrays by the name of the parameter."""


@dataclass(frozen=True, slots=True)
class Taste:
    """How plans go on: blocks tried in a corner, and which of the corners alike comes first."""

    tried: int
    narrow: bool = False


class Plans:
    """Partial plans side by side, at first one without blocks."""

    def __init__(self, strip: Strip, kernel: Skylines) -> None:
        self._shapes = [*zip(strip.begin, strip.end, strip.size, strict=True)]
        self._kernel = kernel
        self._arrays = _arrays(strip, kernel)

    def mark(self, random: Random) -> None:
        """Settle ties differently from now on; blocks alike are as good as each other."""
        marks: dict[tuple[int, int, int], int] = {}
        self._arrays["mark"][:] = [
            marks.setdefault(shape, random.randrange(_MARKS)) for shape in self._shapes
        ]

    def place(self, blocks: int, taste: Taste, meter: Meter) -> bool:
        """Place some more blocks in each plan; return whether there was time.

        Args:
            blocks: how many.
            taste: where to go on.
            meter: what may be spent.
        """
        state, more = self._arrays["state"], meter.allow(blocks)
        state[TRIED], state[NARROW] = taste.tried, taste.narrow
        done = 0
        while done < blocks and (steps := min(_CALL, more(done))):
            state[STEPS] = steps
            self._kernel(self._arrays)
            done += steps
        meter.spend(done)
        return done == blocks

    @property
    def stuck(self) -> bool:
        """No plan could go on."""
        return bool(self._arrays["state"][STUCK])

    @property
    def waste(self) -> float:
        """What lies empty below the skyline of the best plan, as a part of what it has filled."""
        row = self._first
        return float(self._arrays["waste"][row]) / max(1, int(self._arrays["filled"][row]))

    @property
    def tops(self) -> Sequence[int]:
        """The height of each plan."""
        return [int(top) for top in self._rows("top", 1)]

    def snapshot(self, *, whole: bool = False) -> Arrays:
        """Copy the plans, and how they came to be if they are to be kept for long."""
        kept = {name: copy(self._rows(name, self._wide(name))) for name in _ROWS}
        if whole:
            entries = int(self._arrays["state"][LEVEL]) * WIDTH
            kept |= {name: copy(self._arrays[name][:entries]) for name in _HISTORY}
        return {"state": copy(self._arrays["state"]), **kept}

    def restore(self, kept: Arrays) -> None:
        """Go back to a copy; unless it is whole, no other has led to fewer blocks since then."""
        for name in kept:
            self._arrays[name][: len(kept[name])] = kept[name]
        state = self._arrays["state"]
        state[SIDE] = 0
        state[FRESH] = 1

    def history(self, plan: int) -> Iterator[tuple[int, int]]:
        """Yield the blocks that a plan has placed, and their offsets, the latest first."""
        came_from, placed, offset = (self._arrays[name] for name in _HISTORY)
        for level in reversed(range(int(self._arrays["state"][LEVEL]))):
            entry = level * WIDTH + plan
            yield int(placed[entry]), int(offset[entry])
            plan = int(came_from[entry])

    @property
    def _first(self) -> int:
        return int(self._arrays["state"][SIDE]) * WIDTH

    def _wide(self, name: str) -> int:
        return len(self._arrays[name]) // (2 * WIDTH)

    def _rows(self, name: str, wide: int) -> Any:
        """Return what an array holds for the plans."""
        plans = int(self._arrays["state"][PLANS])
        return self._arrays[name][self._first * wide : (self._first + plans) * wide]


def _arrays(strip: Strip, kernel: Skylines) -> Arrays:
    """Return the parameters, with one plan that has no block."""
    count, end = len(strip.groups), strip.moments - 1
    words = (count >> WORD) + 1
    given = _tables(strip) | {
        "state": [{COUNT: count, PLANS: 1, WORDS: words}.get(place, 0) for place in range(11)],
        "open": [(1 << min(1 << WORD, count - (n << WORD))) - 1 for n in range(words)],
        "time": [0, 0, end],
        "height": [FAR, 0, FAR],
        "last": [2],
    }
    sizes = {name: elements for name, _, elements, _ in BUFFERS}
    sizes |= {name: len(values) for name, values in given.items() if sizes[name] >= LARGEST}
    sizes |= {"mark": count, "open": 2 * WIDTH * words}
    sizes |= dict.fromkeys(_HISTORY, WIDTH * count)
    arrays = {name: kernel.zeros(name, elements) for name, elements in sizes.items()}
    for name, values in given.items():
        arrays[name][: len(values)] = values
    return arrays


def _tables(strip: Strip) -> dict[str, list[int]]:
    """Return what the kernel only reads."""
    count, moments = len(strip.groups), range(strip.moments)
    ends = sorted(strip.end)
    return {
        "begin": list(strip.begin),
        "end": list(strip.end),
        "size": list(strip.size),
        "from_begin": [bisect_left(strip.begin, moment) for moment in moments],
        "by_end": sorted(range(count), key=lambda n: (-strip.end[n], strip.begin[n])),
        "from_end": [count - bisect_right(ends, moment) for moment in moments],
    }
