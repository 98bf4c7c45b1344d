# SPDX-License-Identifier: Apache-2.0
"""Random operators for the benches of reef."""

from dataclasses import replace
from random import Random

import numpy as np
from tests.benches.reef_golden import Layer, Shape

from atoll_sim.engines.reef.descriptor import Opcode


def random_shape(random: Random, opcode: Opcode, size: int) -> Shape:
    """Choose a shape with extents up to about `size`."""
    dense = opcode is Opcode.FULLY_CONNECTED
    height, width = (1 if dense else random.randint(1, size)), random.randint(1, size)
    largest = random.choice((5, 5, 12)) if opcode is Opcode.DEPTHWISE_CONV_2D else 5
    kernel = (1, 1) if dense else (random.randint(1, largest), random.randint(1, largest))
    stride = (1, 1) if dense else (random.randint(1, 3), random.randint(1, 3))
    pad = (random.randrange(kernel[0]), random.randrange(kernel[1]))
    channels = random.randint(1, 25 * size if dense else random.choice((3, 3 * size)))
    output_channels = random.randint(1, 3 * size)
    if opcode is Opcode.DEPTHWISE_CONV_2D:
        output_channels = channels * random.choice((1, 1, 2, 3, 8))
    # As much as padding at the end as well would give, or a little beyond.
    most = [
        max(1, (extent + 2 * before + 1 - taps) // step + 2)
        for extent, taps, step, before in zip((height, width), kernel, stride, pad, strict=True)
    ]
    return Shape(
        opcode=opcode,
        image=(height, width, channels),
        channels=output_channels,
        output=(1, width) if dense else (random.randint(1, most[0]), random.randint(1, most[1])),
        kernel=kernel,
        stride=stride,
        pad=pad,
    )


def random_layer(random: Random, opcode: Opcode, size: int = 8, lanes: int = 0) -> Layer:
    """Make an operator of random shape and data, its extents up to about `size`.

    With `lanes` of the instance, some are uniform. Many are computed by lines, or with joined rows
    of the kernel, where that fits; some depthwise ones keep the greatest product; half of all are
    rounded once, and of some the sums are so small that each rounding shows.
    """
    shape = random_shape(random, opcode, size)
    lines, joined = (
        fits and random.random() < 0.7 for fits in (shape.fits_lines, shape.fits_joined)
    )
    greatest = shape.depthwise and not lines and random.random() < 0.4
    once = random.random() < 0.5
    shape = replace(shape, lines=lines, joined=joined, greatest=greatest, once=once)
    layer = make_layer(random, shape)
    layer = finely(random, layer) if random.random() < 0.3 else layer
    return uniform(layer, lanes) if lanes and random.random() < 0.3 else layer


def make_layer(random: Random, shape: Shape) -> Layer:
    """Fill an operator of this shape with random data whose results use the whole int8 range."""
    numbers = np.random.default_rng(random.getrandbits(32))
    depthwise = shape.opcode is Opcode.DEPTHWISE_CONV_2D
    outer, inner = (1, shape.channels) if depthwise else (shape.channels, shape.image[2])
    taps = 1 if shape.greatest else shape.kernel[0] * shape.kernel[1] * (1 if depthwise else inner)
    low, high = sorted(random.choices((-128, -128, -20, 0, 60, 127, 127), k=2))
    typical = int(np.log2(8000 * np.sqrt(taps) / 60))
    return Layer(
        shape=shape,
        x=numbers.integers(-128, 128, shape.image, np.int8),
        weights=numbers.integers(-128, 128, (outer, *shape.kernel, inner), np.int8),
        bias=numbers.integers(-(2**15), 2**15, shape.channels, np.int32),
        multiplier=numbers.integers(2**30, 2**31, shape.channels).astype(np.int32),
        shift=(1 - typical + numbers.integers(-2, 2, shape.channels)).astype(np.int32),
        zeros=(random.randint(-128, 127), random.randint(-128, 127)),
        limits=(low, high),
    )


def finely(random: Random, layer: Layer) -> Layer:
    """Return the layer with sums of few steps of the result."""
    numbers, count = np.random.default_rng(random.getrandbits(32)), layer.shape.channels
    near = layer.zeros[0] + numbers.integers(-3, 4, layer.x.shape)
    return replace(
        layer,
        x=np.clip(near, -128, 127).astype(np.int8),
        weights=numbers.integers(-1, 2, layer.weights.shape, np.int8),
        bias=numbers.integers(-40, 41, count, np.int32),
        shift=numbers.integers(-4, 2, count).astype(np.int32),
    )


def uniform(layer: Layer, lanes: int) -> Layer:
    """Return the layer with weights and parameters of all blocks like those of the first."""
    channels = np.arange(layer.shape.channels) % lanes
    axis = 3 if layer.shape.depthwise else 0
    return replace(
        layer,
        shape=replace(layer.shape, uniform=True),
        weights=layer.weights.take(channels, axis),
        bias=layer.bias[channels],
        multiplier=layer.multiplier[channels],
        shift=layer.shift[channels],
    )


def with_extremes(random: Random, layer: Layer) -> Layer:
    """Return the layer with sums, multipliers and shifts at and near their limits."""
    numbers = np.random.default_rng(random.getrandbits(32))
    edges = np.array([-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30, 2**31 - 1], np.int64)
    count = layer.shape.channels
    return replace(
        layer,
        bias=numbers.choice(edges, count).astype(np.int32),
        multiplier=numbers.choice(edges, count).astype(np.int32),
        shift=numbers.choice(np.array([-31, -30, -1, 0, 1, 29, 30], np.int32), count),
    )
