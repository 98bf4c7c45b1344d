# SPDX-License-Identifier: Apache-2.0
"""What reef must compute, in plain exact integers."""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np
from numpy.typing import NDArray

from atoll_sim.engines.reef.descriptor import Descriptor, Flag, Opcode
from atoll_sim.engines.reef.packing import pack_dense, pack_depthwise, pack_lines, pack_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The extents of an operator.

    Attributes:
        image: height, width and channels of the input.
        channels: of the output.
        output: height and width.
        kernel: height and width.
        stride: down, across.
        pad: top, left.
        uniform: weights and parameters of all blocks of output lanes are those of the first.
        lines: rows of the input stay on chip.
        joined: the rows of the kernel are packed as one.
        greatest: the greatest product of a window counts instead of the sum.
        once: sums are rounded once.
    """

    opcode: Opcode
    image: tuple[int, int, int]
    channels: int
    output: tuple[int, int]
    kernel: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    pad: tuple[int, int] = (0, 0)
    uniform: bool = False
    lines: bool = False
    joined: bool = False
    greatest: bool = False
    once: bool = False

    @property
    def depthwise(self) -> bool:
        """Every output channel reads one input channel."""
        return self.opcode is Opcode.DEPTHWISE_CONV_2D

    @property
    def fits_lines(self) -> bool:
        """Every instance with lines can keep the rows that a window needs."""
        small = self.image[1] <= 16 and self.kernel[0] <= 4 and self.kernel[1] <= 8
        return self.depthwise and self.multiplier == 1 and small

    @property
    def fits_joined(self) -> bool:
        """Every instance can keep the weights of a block whose rows are joined."""
        return not self.depthwise and self.kernel[0] * self.kernel[1] * self.image[2] <= 64

    @property
    def multiplier(self) -> int:
        """Output channels of each input channel, depthwise; else 1."""
        return self.channels // self.image[2] if self.depthwise else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One operator with its data.

    Attributes:
        x: int8 [height, width, channels].
        weights: int8, OHWI for convolution, [1, height, width, O] depthwise.
        bias: int32 [O].
        multiplier: int32 [O].
        shift: -31 to 30, [O].
        zeros: zero point of input and of output.
        limits: activation minimum and maximum.
    """

    shape: Shape
    x: NDArray[np.int8]
    weights: NDArray[np.int8]
    bias: NDArray[np.int32]
    multiplier: NDArray[np.int32]
    shift: NDArray[np.int32]
    zeros: tuple[int, int]
    limits: tuple[int, int]

    def result(self) -> NDArray[np.int8]:
        """Return the output, int8 [height, width, O]."""
        sums = _greatest(self) if self.shape.greatest else _sums(self) + self.bias.astype(np.int64)
        scaled = np.empty(sums.shape, np.int8)
        scale = rounded_once if self.shape.once else mbqm
        for index, value in np.ndenumerate(sums):
            o = index[-1]
            exact = scale(wrapped(int(value)), int(self.multiplier[o]), int(self.shift[o]))
            scaled[index] = min(max(exact + self.zeros[1], self.limits[0]), self.limits[1])
        return scaled

    def packed(self, input_lanes: int, output_lanes: int) -> tuple[bytes, bytes]:
        """Return the weights and the parameter table as reef reads them."""
        table = pack_parameters(self.bias, self.multiplier, self.shift, output_lanes)
        if self.shape.lines:
            return pack_lines(self.weights, input_lanes, output_lanes), table
        if self.shape.depthwise:
            return pack_depthwise(self.weights, output_lanes), table
        weights = self.weights
        if self.shape.joined:
            weights = weights.reshape(len(weights), 1, 1, -1)
        return pack_dense(weights, input_lanes, output_lanes), table

    def descriptor(self, addresses: tuple[int, int, int, int], block_bytes: int) -> Descriptor:
        """Return the command, for the addresses of input, output, weights and table."""
        shape = self.shape
        height, width, channels = shape.image
        return Descriptor(
            opcode=shape.opcode,
            input_address=addresses[0],
            output_address=addresses[1],
            weights_address=addresses[2],
            parameters_address=addresses[3],
            in_height=height,
            in_width=width,
            in_channels=channels,
            out_channels=shape.channels,
            out_height=shape.output[0],
            out_width=shape.output[1],
            kernel_height=shape.kernel[0],
            kernel_width=shape.kernel[1],
            stride_down=shape.stride[0],
            stride_across=shape.stride[1],
            pad_top=shape.pad[0],
            pad_left=shape.pad[1],
            input_zero_point=self.zeros[0],
            output_zero_point=self.zeros[1],
            activation_min=self.limits[0],
            activation_max=self.limits[1],
            depth_multiplier=shape.multiplier,
            flags=Flag.UNIFORM * shape.uniform
            | Flag.LINES * shape.lines
            | Flag.JOINED * shape.joined
            | Flag.GREATEST * shape.greatest
            | Flag.ONCE * shape.once,
            input_row_pitch=width * channels,
            weight_block_bytes=block_bytes,
            kernel_row_bytes=shape.kernel[1] * (1 if shape.depthwise else channels),
        )


def wrapped(value: int) -> int:
    """Return the int32 with the same low 32 bits."""
    return (value + 2**31) % 2**32 - 2**31


def mbqm(value: int, multiplier: int, shift: int) -> int:
    """Scale an int32 by ``multiplier * 2^(shift - 31)`` with the double rounding of gemmlowp."""
    left = wrapped(value << max(shift, 0))
    product = left * multiplier
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    high = abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)
    high = min(high, 2**31 - 1)
    divisor = 1 << max(-shift, 0)
    quotient, rest = divmod(abs(high), divisor)
    rounded = quotient + int(2 * rest >= divisor)
    return rounded if high >= 0 else -rounded


def rounded_once(value: int, multiplier: int, shift: int) -> int:
    """Scale likewise, the exact product rounded to nearest, halves up."""
    product = wrapped(value << max(shift, 0)) * multiplier
    return floor(Fraction(product, 1 << 31 + max(-shift, 0)) + Fraction(1, 2))


def _sums(layer: Layer) -> NDArray[np.int64]:
    """Return the exact sums of products over the taps inside the image."""
    shape = layer.shape
    centred = layer.x.astype(np.int64) - layer.zeros[0]
    sums = np.zeros((*shape.output, shape.channels), np.int64)
    for y, x in np.ndindex(*shape.kernel):
        rows, rows_inside = _taps(shape, 0, y)
        columns, columns_inside = _taps(shape, 1, x)
        inside = rows_inside[:, None, None] & columns_inside[None, :, None]
        patch = np.where(inside, centred[rows][:, columns], 0)
        taps = layer.weights[:, y, x].astype(np.int64)
        if shape.depthwise:
            sums += np.repeat(patch, shape.multiplier, axis=2) * taps
        else:
            sums += patch @ taps.T
    return sums


def _greatest(layer: Layer) -> NDArray[np.int64]:
    """Return the greatest product over the taps inside the image, 0 if there is none, or bias."""
    shape, zero = layer.shape, layer.zeros[0]
    result = np.empty((*shape.output, shape.channels), np.int64)
    for row, column, o in np.ndindex(result.shape):
        products = []
        for y, x in np.ndindex(*shape.kernel):
            at = row * shape.stride[0] + y - shape.pad[0]
            to = column * shape.stride[1] + x - shape.pad[1]
            if 0 <= at < shape.image[0] and 0 <= to < shape.image[1]:
                value = int(layer.x[at, to, o // shape.multiplier]) - zero
                products.append(value * int(layer.weights[0, y, x, o]))
        result[row, column, o] = max(int(layer.bias[o]), *(products or [0]))
    return result


def _taps(shape: Shape, axis: int, tap: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where a tap of the kernel lies along an axis for each output, and if it is inside."""
    at = np.arange(shape.output[axis], dtype=np.int64) * shape.stride[axis]
    at += tap - shape.pad[axis]
    limit = shape.image[axis]
    return np.clip(at, 0, limit - 1), (at >= 0) & (at < limit)
