# SPDX-License-Identifier: Apache-2.0
"""Which axis of ONNX lies where: networks come as NCHW, and Atoll's images are NHWC.

An order says for each axis of what is stored which axis of ONNX it is. So moving axes costs
nothing until an operator needs another order, and most never do.
"""

from collections.abc import Sequence
from math import prod

Order = tuple[int, ...]

_IMAGE = 4


def plain(rank: int) -> Order:
    """Return ONNX's own order."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Return the order of images, or of sequences, whose channels lie side by side."""
    return (0, *range(2, rank), 1)


def permute(shape: Sequence[int], order: Order) -> tuple[int, ...]:
    """Return the extents that are stored."""
    return tuple(shape[axis] for axis in order)


def steps(old: Order, new: Order) -> Order:
    """Return the permutation that makes one order of the other."""
    return tuple(old.index(axis) for axis in new)


def moves_bytes(shape: Sequence[int], permutation: Order) -> bool:
    """Tell whether a permutation of what is stored moves more than extents of 1."""
    long = [axis for axis in permutation if shape[axis] != 1]
    return long != sorted(long)


def with_axes(order: Order, rank: int) -> Order:
    """Return the order of what gets leading axes of extent 1, up to a rank."""
    more = rank - len(order)
    return (*range(more), *(axis + more for axis in order))


def without_axes(order: Order, axes: Sequence[int]) -> Order:
    """Return the order of what loses axes."""
    kept = [axis for axis in range(len(order)) if axis not in axes]
    return tuple(kept.index(axis) for axis in order if axis in kept)


def last(order: Order, axis: int) -> Order:
    """Return an order with an axis at its end, the others as they were."""
    return (*(each for each in order if each != axis), axis)


def reshape(old: Sequence[int], order: Order, new: Sequence[int]) -> Order | None:
    """Return the order of what is reshaped without moving a byte, None if bytes must move.

    Args:
        old: ONNX's extents.
        order: how they are stored.
        new: ONNX's extents afterwards, of as many elements.
    """
    groups = _groups(old, new)
    place = {axis: at for at, axis in enumerate(order)}
    runs: list[tuple[int, list[int]]] = []
    for sources, targets in groups:
        long = [place[axis] for axis in sources if old[axis] != 1]
        between = [at for at in range(min(long), max(long)) if old[order[at]] != 1] if long else []
        if long != sorted(long) or len(between) > max(len(long) - 1, 0):
            return None
        runs.append((min(long) if long else -1, targets))
    return tuple(axis for _, targets in sorted(runs, key=lambda run: run[0]) for axis in targets)


def joinable(old: Sequence[int], new: Sequence[int]) -> Order:
    """Return an order with which `reshape` finds one: of images channels last, else ONNX's.

    Args:
        old: ONNX's extents.
        new: ONNX's extents afterwards.
    """
    groups, image = _groups(old, new), len(new) == _IMAGE
    wanted = channels_last(len(new)) if image else plain(len(new))
    place = {axis: at for at, axis in enumerate(wanted)}
    spans = [[place[axis] for axis in targets] for _, targets in groups]
    if any(span != [*range(span[0], span[0] + len(span))] for span in spans if span):
        return plain(len(old))
    found = sorted(zip(spans, (sources for sources, _ in groups), strict=True))
    return tuple(axis for _, sources in found for axis in sources)


def coalesce_axes(shape: Sequence[int], permutation: Order) -> tuple[tuple[int, ...], Order]:
    """Return a permutation of fewer axes that moves the same bytes, and their extents."""
    long = [axis for axis, extent in enumerate(shape) if extent != 1]
    runs: list[list[int]] = []
    for axis in (long.index(axis) for axis in permutation if shape[axis] != 1):
        if runs and runs[-1][-1] == axis - 1:
            runs[-1].append(axis)
        else:
            runs.append([axis])
    ordered = sorted(runs)
    extents = (prod(shape[long[axis]] for axis in run) for run in ordered)
    return tuple(extents), tuple(ordered.index(run) for run in runs)


def _groups(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Part the axes of both into the shortest runs that have as many elements."""
    groups: list[tuple[list[int], list[int]]] = []
    left, right = list(range(len(old))), list(range(len(new)))
    while left or right:
        sources, targets = left[:1], right[:1]
        del left[:1], right[:1]
        before, after = _elements(old, sources), _elements(new, targets)
        while before != after:
            if before < after:
                sources.append(left.pop(0))
                before *= old[sources[-1]]
            else:
                targets.append(right.pop(0))
                after *= new[targets[-1]]
        groups.append((sources, targets))
    return groups


def _elements(shape: Sequence[int], axes: Sequence[int]) -> int:
    return shape[axes[0]] if axes else 1
