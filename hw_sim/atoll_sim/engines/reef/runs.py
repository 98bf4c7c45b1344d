# SPDX-License-Identifier: Apache-2.0
"""Runs of bytes as reef's port and its array take them: beats, steps and the places between."""

from functools import lru_cache
from math import gcd
from typing import NamedTuple


class Run(NamedTuple):
    """What the runs of some places come to, on average over where they may begin in a beat.

    Attributes:
        beats: of the port; one that a run begins or ends in is moved whole.
        steps: cycles of the array: each chunk of input lanes, and beats that bring no whole chunk.
    """

    beats: float
    steps: float


def average(size: int, places: range, lanes: int) -> Run:
    """Return what a run of `size` bytes takes that begins at any of some `places` of a beat."""
    each = [run(size, place, places.stop, lanes) for place in places]
    beats, steps = (sum(column) / len(each) for column in zip(*each, strict=True))
    return Run(beats, steps)


@lru_cache(maxsize=4096)
def run(size: int, offset: int, beat: int, lanes: int) -> Run:
    """Return what a run of `size` bytes takes that begins at byte `offset` of a beat."""
    beats, waiting, left = -(-(offset + size) // beat), 0, size
    for number in range(beats):
        fresh = min(left, beat - (offset if number == 0 else 0))
        left -= fresh
        waiting += fresh
        if waiting >= lanes or not left:
            waiting -= min(waiting, lanes)
    return Run(beats, beats + -(-waiting // lanes))


def beginnings(step: int, beat: int, first: int = 0) -> range:
    """Return where in a beat multiples of `step` bytes from `first` on begin."""
    apart = gcd(step, beat)
    return range(first % apart, beat, apart)


def inside(count: int, taps: int, stride: int, pad: int, extent: int) -> list[range]:
    """Return the rows, or columns, of the image that each of `count` windows has inside of it."""
    starts = (at * stride - pad for at in range(count))
    return [range(max(0, start), max(0, min(extent, start + taps))) for start in starts]
