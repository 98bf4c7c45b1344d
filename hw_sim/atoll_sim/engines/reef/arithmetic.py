# SPDX-License-Identifier: Apache-2.0
"""What the reef accelerator computes, on whole operators at once (docs/reef.md)."""

import numpy as np
from numpy.typing import NDArray

from atoll_sim.engines.reef.decode import Command

_INT32_MAX = (1 << 31) - 1


def dense_sums(
    command: Command, image: NDArray[np.int8], weights: NDArray[np.int8]
) -> NDArray[np.int64]:
    """Accumulate over all input channels, without the bias.

    Args:
        command: what to compute.
        image: int8 [H, W, C].
        weights: int8 [O, kernel height, kernel width x C].

    Returns:
        Sums [OH, OW, O]; float64 carries them exactly, as they stay below 2**53.
    """
    windows = _windows(command, image).transpose(0, 1, 3, 4, 2)
    taps = windows.reshape(windows.shape[0] * windows.shape[1], -1).astype(np.float64)
    sums = taps @ weights.reshape(len(weights), -1).astype(np.float64).T
    return sums.reshape(command.output_shape).astype(np.int64)


def depthwise_sums(
    command: Command, image: NDArray[np.int8], weights: NDArray[np.int8]
) -> NDArray[np.int64]:
    """Accumulate each output channel over the taps of its one input channel.

    Args:
        command: what to compute.
        image: int8 [H, W, C].
        weights: int8 [O, kernel height, kernel width].
    """
    windows = _windows(command, image).repeat(command.depth_multiplier, axis=2)
    sums = np.zeros(command.output_shape, np.int64)
    for y in range(command.kernel[0]):
        for x in range(command.kernel[1]):
            sums += windows[..., y, x] * weights[:, y, x].astype(np.int64)
    return sums


def greatest_products(
    command: Command,
    image: NDArray[np.int8],
    weights: NDArray[np.int8],
    table: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return how far the greatest product of each window is above the bias, or 0 if it is below.

    Args:
        command: what to compute.
        image: int8 [H, W, C].
        weights: int8 [O, kernel height, kernel width].
        table: [O, 4], see `requantise`.
    """
    values, inside = (
        each.repeat(command.depth_multiplier, axis=2)
        for each in _windows_and_inside(command, image)
    )
    # A window with nothing inside of the image has one product, 0.
    inside[..., 0, 0] |= ~inside.any(axis=(3, 4))
    greatest = np.full(command.output_shape, table[:, 0])
    for y in range(command.kernel[0]):
        for x in range(command.kernel[1]):
            products = values[..., y, x] * weights[:, y, x].astype(np.int64)
            greatest = np.where(inside[..., y, x], np.maximum(greatest, products), greatest)
    above: NDArray[np.int64] = greatest - table[:, 0]
    return above


def requantise(
    command: Command, sums: NDArray[np.int64], table: NDArray[np.int64]
) -> NDArray[np.int8]:
    """Add the bias, scale, add the zero point and clamp.

    Args:
        command: zero point and activation range.
        sums: [OH, OW, O].
        table: [O, 4] of bias, multiplier (never negative, so nothing saturates), shift, unused.
    """
    bias, multiplier, shift = table[:, 0], table[:, 1], table[:, 2]
    scale = rescale_once if command.once else rescale
    scaled = scale(sums + bias, multiplier, shift) + command.signed_byte(11, 1)
    low, most = command.signed_byte(11, 2), command.signed_byte(11, 3)
    clamped: NDArray[np.int64] = np.minimum(np.maximum(scaled, low), most)
    return clamped.astype(np.int8)


def rescale(
    values: NDArray[np.int64], multiplier: NDArray[np.int64], shift: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Scale with the two roundings of gemmlowp."""
    # Sums and shifts wrap at 32 bits; wrapping once at the end is the same.
    shifted = (values << np.maximum(shift, 0)).astype(np.int32)
    product = shifted.astype(np.int64) * multiplier
    nudged = product + np.where(product < 0, 1 - (1 << 30), 1 << 30)
    # An arithmetic shift rounds down; adding the divisor less one to negatives truncates.
    high = (nudged + np.where(nudged < 0, _INT32_MAX, 0)) >> 31
    # Shifts past 34 leave nothing of 32 bits; past 62 the divisor would be none.
    divisor = np.int64(1) << np.clip(-shift, 0, 62)
    magnitude = (np.abs(high) + (divisor >> 1)) // divisor
    scaled: NDArray[np.int64] = np.where(high < 0, -magnitude, magnitude)
    return scaled


def rescale_once(
    values: NDArray[np.int64], multiplier: NDArray[np.int64], shift: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Scale with one rounding, halves up."""
    shifted = (values << np.maximum(shift, 0)).astype(np.int32)
    # Half a step more, and rounded down; one bit less than 64 is enough for what is added.
    places = 31 + np.maximum(-shift, 0)
    scaled: NDArray[np.int64] = ((shifted.astype(np.int64) * multiplier >> (places - 1)) + 1) >> 1
    return scaled


def _windows(command: Command, image: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return x - zero point as [OH, OW, C, kernel height, kernel width]; 0 outside the image."""
    centred = image.astype(np.int16) - np.int16(command.signed_byte(11, 0))
    top, left = command.padding
    height = _span(command, axis=0)
    width = _span(command, axis=1)
    inside = centred[: height - top, : width - left]
    padded = np.zeros((height, width, image.shape[2]), np.int16)
    padded[top : top + inside.shape[0], left : left + inside.shape[1]] = inside
    views = np.lib.stride_tricks.sliding_window_view(padded, command.kernel, axis=(0, 1))
    return views[:: command.stride[0], :: command.stride[1]]


def _windows_and_inside(
    command: Command, image: NDArray[np.int8]
) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:
    """Return `_windows`, and which of their taps lie inside of the image."""
    ones = np.full_like(image, command.signed_byte(11, 0))
    moved = (ones.astype(np.int16) + np.where(ones < 127, 1, -1)).astype(np.int8)
    return _windows(command, image), _windows(command, moved) != 0


def _span(command: Command, axis: int) -> int:
    """Return how many rows or columns, padding included, the kernel visits."""
    return (command.output_shape[axis] - 1) * command.stride[axis] + command.kernel[axis]
