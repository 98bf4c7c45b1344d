# SPDX-License-Identifier: Apache-2.0
"""Constants in the order in which the reef accelerator streams them (docs/reef.md)."""

import numpy as np
from numpy.typing import NDArray

BLOCK_ALIGNMENT = 16
LINE_ROWS = 4
"""Rows of a depthwise input that stay on chip."""

PARAMETER_BYTES = 16
"""Bytes of one output channel in the parameter table."""


def dense_block_bytes(kernel_height: int, kernel_row: int, input_lanes: int, lanes: int) -> int:
    """Return the bytes of one block of output channels with a kernel row of `kernel_row` bytes."""
    return _align(kernel_height * -(-kernel_row // input_lanes) * lanes * input_lanes)


def depthwise_block_bytes(kernel_height: int, kernel_width: int, lanes: int) -> int:
    """Return the bytes of one block of output channels, one byte per tap and channel."""
    return _align(kernel_height * kernel_width * lanes)


def pack_dense(weights: NDArray[np.int8], input_lanes: int, output_lanes: int) -> bytes:
    """Pack a filter whose every output channel reads all input channels.

    Args:
        weights: int8 [O, kernel height, kernel width, C].
        input_lanes: products per output lane and cycle.
        output_lanes: output channels of one block.
    """
    channels, height, width, depth = weights.shape
    row = width * depth
    blocks, steps = -(-channels // output_lanes), -(-row // input_lanes)
    padded = np.zeros((blocks * output_lanes, height, steps * input_lanes), np.int8)
    padded[:channels, :, :row] = weights.reshape(channels, height, row)
    tiles = padded.reshape(blocks, output_lanes, height, steps, input_lanes)
    return _blocks(tiles.transpose(0, 2, 3, 1, 4))


def pack_depthwise(weights: NDArray[np.int8], output_lanes: int) -> bytes:
    """Pack a filter whose every output channel reads one input channel.

    Args:
        weights: int8 [1, kernel height, kernel width, O].
        output_lanes: output channels of one block.
    """
    _, height, width, channels = weights.shape
    blocks = -(-channels // output_lanes)
    padded = np.zeros((height, width, blocks * output_lanes), np.int8)
    padded[:, :, :channels] = weights[0]
    tiles = padded.reshape(height, width, blocks, output_lanes)
    return _blocks(tiles.transpose(2, 0, 1, 3))


def lines_block_bytes(kernel_width: int, input_lanes: int, lanes: int) -> int:
    """Return the bytes of one block of a depthwise filter that is computed by lines."""
    return -(-kernel_width // (input_lanes // LINE_ROWS)) * lanes * input_lanes


def pack_lines(weights: NDArray[np.int8], input_lanes: int, output_lanes: int) -> bytes:
    """Pack a depthwise filter of at most `LINE_ROWS` rows that is computed by lines.

    Args:
        weights: int8 [1, kernel height, kernel width, O].
        input_lanes: taps of an output lane in a cycle.
        output_lanes: output channels of one block.
    """
    _, height, width, channels = weights.shape
    columns = input_lanes // LINE_ROWS
    blocks, steps = -(-channels // output_lanes), -(-width // columns)
    padded = np.zeros((LINE_ROWS, steps * columns, blocks * output_lanes), np.int8)
    padded[:height, :width, :channels] = weights[0]
    tiles = padded.reshape(LINE_ROWS, steps, columns, blocks, output_lanes)
    return tiles.transpose(3, 1, 4, 0, 2).tobytes()


def pack_parameters(
    bias: NDArray[np.int32],
    multiplier: NDArray[np.int32],
    shift: NDArray[np.int32],
    output_lanes: int,
) -> bytes:
    """Interleave per-channel int32 [O] values into the table of 16 bytes for each channel."""
    channels = len(bias)
    table = np.zeros((-(-channels // output_lanes) * output_lanes, 4), "<i4")
    table[:channels, 0] = bias
    table[:channels, 1] = multiplier
    table[:channels, 2] = shift
    return table.tobytes()


def _blocks(tiles: NDArray[np.int8]) -> bytes:
    flat = tiles.reshape(tiles.shape[0], -1)
    rest = _align(flat.shape[1]) - flat.shape[1]
    return np.pad(flat, ((0, 0), (0, rest))).tobytes()


def _align(size: int) -> int:
    return -(-size // BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT
