# SPDX-License-Identifier: Apache-2.0
"""The points of a space: a number for each, and which of them a search draws.

The number of a point counts through all values of all axes, those of the last axis fastest.
"""

import random
from collections.abc import Sequence
from math import prod

Choice = tuple[int, ...]
"""Of each axis, the number of its value."""


def number_of(choice: Choice, lengths: Sequence[int]) -> int:
    """Return the number of a point."""
    number = 0
    for one, length in zip(choice, lengths, strict=True):
        number = number * length + one
    return number


def choice_of(number: int, lengths: Sequence[int]) -> Choice:
    """Return the values of a point by its number."""
    found = []
    for length in reversed(lengths):
        number, one = divmod(number, length)
        found.append(one)
    return tuple(reversed(found))


def draw(method: str, points: int, lengths: Sequence[int], seed: int) -> list[int]:
    """Return numbers of points in rising order, none of them twice.

    Args:
        method: ``grid``, ``random`` or ``latin_hypercube``.
        points: how many; of a Latin hypercube, those that coincide are fewer.
        lengths: values of each axis.
        seed: of what is drawn at random.
    """
    size = prod(lengths)
    if method == "grid" or (method == "random" and points >= size):
        return list(range(size))
    drawn = random.Random(seed)
    if method == "random":
        return sorted(drawn.sample(range(size), points))
    columns = [_strata(points, length, drawn) for length in lengths]
    return sorted({number_of(choice, lengths) for choice in zip(*columns, strict=True)})


def _strata(points: int, length: int, drawn: random.Random) -> list[int]:
    """Return as many values of an axis in random order, each as often as any other can be."""
    begin = drawn.random()
    values = [int((number + begin) * length / points) % length for number in range(points)]
    drawn.shuffle(values)
    return values
