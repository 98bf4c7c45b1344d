"""The parameters of the skyline kernel, and what is where in them."""

from atoll.ir.tir import Direction, Type

LARGEST = 1 << 18
"""Most blocks of one search; `FAR / LARGEST` bounds their bytes."""

WIDTH = 48
"""Partial plans that are kept side by side."""

CHOICES = 4
"""Most blocks that are tried in a corner."""

STEPS_OF_PLAN = 2048
"""Most entries of a skyline, its two walls included."""

FAR = 1 << 60
"""Height of the walls at both ends of a skyline."""

WORD = 5
"""Logarithm of the bits that are used of each element of `open`."""

_BOTH, _READ = Direction.BOTH, Direction.READ
_TWO = 2 * WIDTH
_WORDS = (LARGEST >> WORD) + 1

BUFFERS: tuple[tuple[str, Type, int, Direction], ...] = (
    ("state", Type.I32, 11, _BOTH),
    ("begin", Type.I32, LARGEST, _READ),
    ("end", Type.I32, LARGEST, _READ),
    ("size", Type.I64, LARGEST, _READ),
    ("mark", Type.I64, LARGEST, _READ),
    ("from_begin", Type.I32, 2 * LARGEST, _READ),
    ("by_end", Type.I32, LARGEST, _READ),
    ("from_end", Type.I32, 2 * LARGEST, _READ),
    ("open", Type.I64, _TWO * _WORDS, _BOTH),
    ("time", Type.I32, _TWO * STEPS_OF_PLAN, _BOTH),
    ("height", Type.I64, _TWO * STEPS_OF_PLAN, _BOTH),
    ("last", Type.I32, _TWO, _BOTH),
    ("waste", Type.I64, _TWO, _BOTH),
    ("filled", Type.I64, _TWO, _BOTH),
    ("top", Type.I64, _TWO, _BOTH),
    ("sum", Type.I64, _TWO, _BOTH),
    ("new_time", Type.I32, STEPS_OF_PLAN + 4, _BOTH),
    ("new_height", Type.I64, STEPS_OF_PLAN + 4, _BOTH),
    ("choice", Type.I32, CHOICES, _BOTH),
    ("child_parent", Type.I32, WIDTH + 1, _BOTH),
    ("child_valley", Type.I32, WIDTH + 1, _BOTH),
    ("child_block", Type.I32, WIDTH + 1, _BOTH),
    ("child_last", Type.I32, WIDTH + 1, _BOTH),
    ("child_waste", Type.I64, WIDTH + 1, _BOTH),
    ("child_sum", Type.I64, WIDTH + 1, _BOTH),
    ("came_from", Type.I32, WIDTH * LARGEST, _BOTH),
    ("placed", Type.I32, WIDTH * LARGEST, _BOTH),
    ("offset", Type.I64, WIDTH * LARGEST, _BOTH),
)
"""Parameters in order; the caller may pass fewer elements where there are fewer blocks.

Blocks are sorted by `begin`, the longest first; `by_end` holds their numbers sorted by `end` from
the last, the longest first. ``from_begin[t]`` is the first block with a begin of `t` or later,
``from_end[t]`` the first place in `by_end` with an end of `t` or earlier. `mark` is a random number
of each; `sum` is that of the placed ones and stands for their set.

A partial plan is row ``side * WIDTH + place``: the bits of the blocks that are `open` (unplaced);
its skyline, entries 0 to `last`, each the `time` where it begins and its `height`, with a wall
first and last; `waste`, what lies empty below it, and `filled`, in steps times bytes; its `top`.

Element ``level * WIDTH + place`` of `came_from`, `placed` and `offset` tells how a plan came to be.
"""

COUNT, PLANS, LEVEL, STEPS, SIDE, WORDS, STUCK, CHILDREN, FRESH, TRIED, NARROW = range(11)
"""Elements of `state`. Set by the caller: how many blocks and partial plans there are, blocks
placed, how many to place now, which half the plans are in, elements of `open` of a plan, whether
the marks are others than those that made the sums, how many blocks to try in a corner, and whether
of corners alike the one in the narrowest valley comes first, rather than in the lowest. `STUCK`
becomes 1 if no plan can go on."""
