# SPDX-License-Identifier: Apache-2.0
"""How far a kernel's output may lie over an input: what is still read when bytes are written.

A distance is in bytes, from the start of the output up to the start of the input. Kernels of
windows write pixel after pixel in the order of memory and may read the current window until its
pixel is complete; elementwise ones read an element before they write it.
"""

import numpy as np
from numpy.typing import NDArray

from atoll.ops.window import Window

Bytes = NDArray[np.int64]

MOST_PIXELS = 1 << 20
"""Pixels of an output that are gone through one by one; larger ones stay apart."""

NEVER = np.iinfo(np.int64).max // 2
"""Stands for the lowest byte that is read where none is."""

NONE = -1
"""Stands for the first row that is read where none is."""


def window_distance(image: tuple[int, ...], window: Window, channels: int) -> int | None:
    """Return the distance of an operator that slides a window over int8 images.

    Args:
        image: input extents [N, H, W, C].
        window: what one output pixel reads.
        channels: bytes of an output pixel.

    Returns:
        Bytes; None where that is as good as no overlap.
    """
    rows, columns = window.positions(image[1], image[2])
    if image[0] * rows * columns > MOST_PIXELS:
        return None
    lowest = still_read(image, window)
    return useful(pixel_distance(lowest, channels), lowest.size * channels)


def pixel_distance(lowest: Bytes, channels: int) -> int:
    """Return the distance with which every pixel may be written while its window is read.

    Args:
        lowest: the lowest byte that each output pixel or a later one reads.
        channels: bytes of an output pixel.
    """
    ends = np.arange(1, lowest.size + 1) * channels
    return max(0, int((ends - lowest).max(initial=0)))


def still_read(image: tuple[int, ...], window: Window) -> Bytes:
    """Return the lowest byte that each output pixel or a later one reads, `NEVER` for none."""
    _, height, width, _ = image
    places = window.positions(height, width)
    rows = _first_taps(
        height, places[0], window.stride_h, window.pad_top, window.extent[0], window.dilation_h
    )
    columns = _first_taps(
        width, places[1], window.stride_w, window.pad_left, window.extent[1], window.dilation_w
    )
    return read_from(image, rows, columns)


def read_from(image: tuple[int, ...], rows: Bytes, columns: Bytes) -> Bytes:
    """Return the lowest byte that each output pixel or a later one reads, `NEVER` for none.

    Args:
        image: input extents [N, H, W, C] in bytes.
        rows: the first that each row of the output reads, `NONE` if it reads none.
        columns: likewise.
    """
    batch, height, width, channels = image
    down, across = rows[:, np.newaxis], columns[np.newaxis, :]
    nothing = ((down == NONE) | (across == NONE)).reshape(1, -1)
    pixels = (down * width + across).reshape(1, -1)
    first = np.arange(batch)[:, np.newaxis] * height * width + pixels
    bytes_read = np.where(nothing, NEVER, first * channels).reshape(-1)
    later: Bytes = np.minimum.accumulate(bytes_read[::-1])[::-1]
    return later


def _first_taps(size: int, places: int, stride: int, pad: int, extent: int, dilation: int) -> Bytes:
    """Return the first coordinate inside the image at each place of a window, or `NONE`."""
    origin = np.arange(places, dtype=np.int64) * stride - pad
    first = origin + -(np.minimum(origin, 0) // dilation) * dilation
    inside: Bytes = np.where((first < origin + extent) & (first < size), first, NONE)
    return inside


def useful(distance: int, size: int) -> int | None:
    """Return `distance` unless an output of `size` bytes is below the input then anyway."""
    return distance if distance < size else None
