# SPDX-License-Identifier: Apache-2.0
"""Runs of bytes: those of a feature map, and sums of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Spans = tuple[tuple[int, int], ...]
"""First byte and the one past the last of each run, in their order; no two touch."""

BRICK = 16
"""Channels of a brick of the format NHCWB16."""


def box(
    base: int, strides: tuple[int, int, int], extents: tuple[int, int, int], size: int, bricks: bool
) -> Spans:
    """Return the bytes of a feature map, or of a part of one.

    Args:
        base: address of its first element.
        strides: bytes from row to row, from column to column, from brick to brick.
        extents: rows, columns, channels.
        size: bytes of an element.
        bricks: whether channels lie in bricks of 16, which count whole.
    """
    (down, right, deep), (rows, columns, channels) = strides, extents
    run = (BRICK if bricks else channels) * size
    begins = np.arange(rows, dtype=np.int64) * down + base
    if right == run:
        run *= columns
    else:
        begins = _each(begins, columns, right)
    if bricks:
        begins = _each(begins, -(-channels // BRICK), deep)
    return _runs(begins, begins + run)


def join_spans(parts: Sequence[Spans]) -> Spans:
    """Return the bytes of any of `parts`."""
    every = np.array([span for part in parts for span in part], np.int64).reshape(-1, 2)
    return _runs(every[:, 0], every[:, 1])


def move_spans(spans: Spans, offset: int) -> Spans:
    """Return `spans` with `offset` added to each address."""
    return tuple((begin + offset, end + offset) for begin, end in spans)


def _each(begins: Any, count: int, stride: int) -> Any:
    return (begins[:, None] + np.arange(count, dtype=np.int64) * stride).ravel()


def _runs(begins: Any, ends: Any) -> Spans:
    if not len(begins):
        return ()
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], begins[1:] > ends[:-1]))
    last = np.concatenate((first[1:], [True]))
    return tuple(zip(begins[first].tolist(), ends[last].tolist(), strict=True))
