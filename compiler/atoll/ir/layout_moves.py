# SPDX-License-Identifier: Apache-2.0
"""A change of layout as planes of equal rows, for engines that move rows."""

from collections.abc import Iterator
from itertools import groupby, product
from math import prod

import numpy as np

from atoll.ir.layouts import AXES, Layout, Patches
from atoll.records import dataclass

Axis = tuple[int, int, int]
"""Steps, and elements from one to the next in row-major order and in the layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """`planes` planes of `rows` rows of `run` elements that lie together on both sides.

    Attributes:
        plain, laid: the first element in row-major order and in the layout.
        row, plane: elements to the next row and the next plane, in row-major order and in the
            layout.
    """

    plain: int
    laid: int
    run: int
    rows: int = 1
    row: tuple[int, int] = (0, 0)
    planes: int = 1
    plane: tuple[int, int] = (0, 0)


def moves(layout: Layout) -> tuple[Rows, ...]:
    """Return the rows that lead from row-major order to a layout, or back the other way.

    Fillings are no part of it: `fillings` says where.
    """
    nests = _of_patches(layout, layout.patches) if layout.patches else _of_image(layout)
    return tuple(rows for start, axes in nests for rows in _rows(start, axes))


def fillings(layout: Layout) -> range:
    """Return the places from the first to the last that no element of the image takes."""
    empty = np.flatnonzero(layout.sources() < 0)
    return range(int(empty[0]), int(empty[-1]) + 1) if empty.size else range(0)


def _of_image(layout: Layout) -> Iterator[tuple[tuple[int, int], list[Axis]]]:
    """Yield the loops over full blocks of channels, then over the rest."""
    extents = dict(zip(AXES, layout.image, strict=True))
    channels, block, strides = extents["C"], layout.block, layout.strides
    plain = {"N": prod(layout.image[1:]), "H": prod(layout.image[2:]), "W": channels}
    outer = [(extents[axis], plain[axis], strides[axis]) for axis in layout.order if axis in plain]
    full, rest = divmod(channels, block)
    within = 1 if block == 1 else strides["c"]
    if full:
        blocks = [(full, block, strides["C"]), (block, 1, within)]
        yield (0, 0), outer + blocks if block > 1 else [*outer, (full, 1, strides["C"])]
    if rest:
        yield (full * block, full * strides["C"]), [*outer, (rest, 1, within)]


def _of_patches(layout: Layout, patches: Patches) -> Iterator[tuple[tuple[int, int], list[Axis]]]:
    """Yield the loops over the places of each tap inside the image, neighbours together."""
    count, height, width, channels = layout.image
    strides = layout.strides
    for y in range(patches.kernel[0]):
        spans = [_inside(patches, 1, tap, width) for tap in range(patches.kernel[1])]
        down = _inside(patches, 0, y, height)
        for span, taps in _alike(spans, together=patches.dilation[1] == 1):
            if span[0] >= span[1] or down[0] >= down[1]:
                continue
            x = taps.start
            source = [
                places[0] * step + tap * dilation - before
                for places, step, tap, dilation, before in zip(
                    (down, span),
                    patches.stride,
                    (y, x),
                    patches.dilation,
                    patches.before,
                    strict=True,
                )
            ]
            plain = (source[0] * width + source[1]) * channels
            laid = down[0] * strides["H"] + span[0] * strides["W"]
            axes = [
                (count, height * width * channels, strides["N"]),
                (down[1] - down[0], patches.stride[0] * width * channels, strides["H"]),
                (span[1] - span[0], patches.stride[1] * channels, strides["W"]),
            ]
            first = (y * patches.kernel[1] + x) * channels
            for offset, at, size in _pieces(layout, first, len(taps) * channels):
                step = strides["c"] if layout.block > 1 else strides["C"]
                yield (plain + offset, laid + at), [*axes, (size, 1, step)]


def _inside(patches: Patches, axis: int, tap: int, extent: int) -> tuple[int, int]:
    """Return the places at which a tap is inside the image: from and up to."""
    step, before = patches.stride[axis], patches.before[axis]
    shift = before - tap * patches.dilation[axis]
    begin = max(-(-shift // step), 0)
    return begin, min((extent - 1 + shift) // step + 1, patches.places[axis])


def _alike(
    spans: list[tuple[int, int]], *, together: bool
) -> Iterator[tuple[tuple[int, int], range]]:
    """Yield neighbouring taps with the same places, or each tap alone."""
    keys = enumerate(spans)
    for _, group in groupby(keys, key=lambda item: item[1] if together else item[0]):
        taps = list(group)
        yield taps[0][1], range(taps[0][0], taps[-1][0] + 1)


def _pieces(layout: Layout, first: int, count: int) -> Iterator[tuple[int, int, int]]:
    """Yield offset, place and size of parts of channels from `first` on, each in one block."""
    if layout.block == 1:
        yield 0, first * layout.strides["C"], count
        return
    done = 0
    while done < count:
        block, within = divmod(first + done, layout.block)
        size = min(count - done, layout.block - within)
        yield done, block * layout.strides["C"] + within * layout.strides["c"], size
        done += size


def _rows(start: tuple[int, int], axes: list[Axis]) -> Iterator[Rows]:
    """Yield rows that cover loops, from the outermost to the innermost; the longest make rows."""
    left = [axis for axis in axes if axis[0] > 1]
    run = 1
    while left and left[-1][1:] == (run, run):
        run *= left.pop()[0]
    while len(left) > 1 and _are_one_loop(left[-2], left[-1]):
        outer, inner = left[-2:]
        left[-2:] = [(outer[0] * inner[0], *inner[1:])]
    longest = sorted(left, reverse=True)[:2]
    row, plane = (*longest, (1, 0, 0), (1, 0, 0))[:2]
    for axis in longest:
        left.remove(axis)
    for steps in product(*(range(axis[0]) for axis in left)):
        plain, laid = (
            start[side] + sum(step * axis[side + 1] for step, axis in zip(steps, left, strict=True))
            for side in (0, 1)
        )
        yield Rows(
            plain=plain,
            laid=laid,
            run=run,
            rows=row[0],
            row=row[1:],
            planes=plane[0],
            plane=plane[1:],
        )


def _are_one_loop(outer: Axis, inner: Axis) -> bool:
    """Tell whether two loops are one: the outer one goes on where the inner one ends."""
    return all(outer[side] == inner[0] * inner[side] for side in (1, 2))
