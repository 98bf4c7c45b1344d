"""What reef must compute, in plain exact integers, and random operators to compute it for."""

from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from atoll.codegen.reef_descriptor import Descriptor, Opcode
from atoll.codegen.reef_packing import pack_dense, pack_depthwise, pack_parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One operator with its data.

    Attributes:
        x: int8 [height, width, channels].
        weights: int8, OHWI for convolution, [1, height, width, O] depthwise.
        output: height and width.
        stride: down, across.
        pad: top, left.
        bias: int32 [O].
        multiplier: int32 [O].
        shift: -31 to 30, [O].
        zeros: zero point of input and of output.
        limits: activation minimum and maximum.
    """

    opcode: Opcode
    x: NDArray[np.int8]
    weights: NDArray[np.int8]
    output: tuple[int, int]
    stride: tuple[int, int]
    pad: tuple[int, int]
    bias: NDArray[np.int32]
    multiplier: NDArray[np.int32]
    shift: NDArray[np.int32]
    zeros: tuple[int, int]
    limits: tuple[int, int]

    @property
    def depthwise(self) -> bool:
        """Every output channel reads one input channel."""
        return self.opcode is Opcode.DEPTHWISE_CONV_2D

    @property
    def channels(self) -> int:
        """Output channels."""
        return len(self.bias)

    def result(self) -> NDArray[np.int8]:
        """Return the output, int8 [height, width, O]."""
        sums = _sums(self) + self.bias.astype(np.int64)
        scaled = np.empty(sums.shape, np.int8)
        for index, value in np.ndenumerate(sums):
            o = index[-1]
            exact = mbqm(wrapped(int(value)), int(self.multiplier[o]), int(self.shift[o]))
            scaled[index] = min(max(exact + self.zeros[1], self.limits[0]), self.limits[1])
        return scaled

    def packed(self, input_lanes: int, output_lanes: int) -> tuple[bytes, bytes]:
        """Return the weights and the parameter table as reef reads them."""
        table = pack_parameters(self.bias, self.multiplier, self.shift, output_lanes)
        if self.depthwise:
            return pack_depthwise(self.weights, output_lanes), table
        return pack_dense(self.weights, input_lanes, output_lanes), table

    def descriptor(self, addresses: tuple[int, int, int, int], block_bytes: int) -> Descriptor:
        """Return the command, for the addresses of input, output, weights and table."""
        (height, width, channels), (_, kernel_height, kernel_width, _) = (
            self.x.shape,
            self.weights.shape,
        )
        return Descriptor(
            opcode=self.opcode,
            input_address=addresses[0],
            output_address=addresses[1],
            weights_address=addresses[2],
            parameters_address=addresses[3],
            in_height=height,
            in_width=width,
            in_channels=channels,
            out_channels=self.channels,
            out_height=self.output[0],
            out_width=self.output[1],
            kernel_height=kernel_height,
            kernel_width=kernel_width,
            stride_down=self.stride[0],
            stride_across=self.stride[1],
            pad_top=self.pad[0],
            pad_left=self.pad[1],
            input_zero_point=self.zeros[0],
            output_zero_point=self.zeros[1],
            activation_min=self.limits[0],
            activation_max=self.limits[1],
            depth_multiplier=self.channels // channels if self.depthwise else 1,
            input_row_pitch=width * channels,
            weight_block_bytes=block_bytes,
            kernel_row_bytes=kernel_width * (1 if self.depthwise else channels),
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
    quotient, rest = divmod(abs(high), 2 ** max(-shift, 0))
    rounded = quotient + (2 * rest >= 2 ** max(-shift, 0))
    return rounded if high >= 0 else -rounded


def _sums(layer: Layer) -> NDArray[np.int64]:
    """Return the exact sums of products; padding counts as the zero point, so it adds nothing."""
    (height, width, channels), (_, rows, columns, _) = layer.x.shape, layer.weights.shape
    (out_height, out_width), (down, across) = layer.output, layer.stride
    (top, left) = layer.pad
    below = max(0, (out_height - 1) * down + rows - top - height)
    right = max(0, (out_width - 1) * across + columns - left - width)
    centred = layer.x.astype(np.int64) - layer.zeros[0]
    padded = np.pad(centred, ((top, below), (left, right), (0, 0)))
    sums = np.zeros((out_height, out_width, layer.channels), np.int64)
    for y in range(rows):
        for x in range(columns):
            patch = padded[y::down, x::across][:out_height, :out_width]
            taps = layer.weights[:, y, x].astype(np.int64)
            if layer.depthwise:
                sums += np.repeat(patch, layer.channels // channels, axis=2) * taps
            else:
                sums += patch @ taps.T
    return sums


def random_layer(random: Random, opcode: Opcode, size: int = 8) -> Layer:
    """Make an operator of random shape and data, its extents up to about `size`."""
    dense = opcode is Opcode.FULLY_CONNECTED
    height, width = (1 if dense else random.randint(1, size)), random.randint(1, size)
    kernel = (1, 1) if dense else (random.randint(1, 5), random.randint(1, 5))
    stride = (1, 1) if dense else (random.randint(1, 3), random.randint(1, 3))
    pad = (random.randrange(kernel[0]), random.randrange(kernel[1]))
    channels = random.randint(1, 8 * size if dense else 3 * size)
    output_channels = random.randint(1, 3 * size)
    if opcode is Opcode.DEPTHWISE_CONV_2D:
        output_channels = channels * random.choice((1, 1, 2, 3, 8))
    out = (1, width) if dense else _output(random, (height, width), kernel, stride, pad)
    return make_layer(
        random, opcode, (height, width, channels), output_channels, kernel, stride, pad, out
    )


def _output(
    random: Random,
    image: tuple[int, int],
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
) -> tuple[int, int]:
    """Choose an extent up to what padding by as much again as at the front gives, or beyond."""
    extents = (
        random.randint(1, max(1, (i + 2 * p + 1 - k) // s + 2))
        for i, k, s, p in zip(image, kernel, stride, pad, strict=True)
    )
    return next(extents), next(extents)


def make_layer(
    random: Random,
    opcode: Opcode,
    image: tuple[int, int, int],
    output_channels: int,
    kernel: tuple[int, int],
    stride: tuple[int, int],
    pad: tuple[int, int],
    output: tuple[int, int],
) -> Layer:
    """Fill an operator of this shape with random data whose results use the whole int8 range."""
    numbers = np.random.default_rng(random.getrandbits(32))
    depthwise = opcode is Opcode.DEPTHWISE_CONV_2D
    taps = kernel[0] * kernel[1] * (1 if depthwise else image[2])
    outer, inner = (1, output_channels) if depthwise else (output_channels, image[2])
    low, high = sorted(random.choices((-128, -128, -20, 0, 60, 127, 127), k=2))
    typical = int(np.log2(8000 * np.sqrt(taps) / 60))
    return Layer(
        opcode=opcode,
        x=numbers.integers(-128, 128, image, np.int8),
        weights=numbers.integers(-128, 128, (outer, *kernel, inner), np.int8),
        output=output,
        stride=stride,
        pad=pad,
        bias=numbers.integers(-(2**15), 2**15, output_channels, np.int32),
        multiplier=numbers.integers(2**30, 2**31, output_channels).astype(np.int32),
        shift=(1 - typical + numbers.integers(-2, 2, output_channels)).astype(np.int32),
        zeros=(random.randint(-128, 127), random.randint(-128, 127)),
        limits=(low, high),
    )


def with_extremes(random: Random, layer: Layer) -> Layer:
    """Return the layer with sums, multipliers and shifts at and near their limits."""
    numbers = np.random.default_rng(random.getrandbits(32))
    edges = np.array([-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30, 2**31 - 1], np.int64)
    count = layer.channels
    return replace(
        layer,
        bias=numbers.choice(edges, count).astype(np.int32),
        multiplier=numbers.choice(edges, count).astype(np.int32),
        shift=numbers.choice(np.array([-31, -30, -1, 0, 1, 29, 30], np.int32), count),
    )
