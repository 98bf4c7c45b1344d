# SPDX-License-Identifier: Apache-2.0
"""Operators with weights or a window, on top of what a network has."""

import math
from math import prod

from tests.differential.network import GREATEST_TENSOR, MULTIPLIED, Network, Quantized, float32

SAME = 0
INT32 = 2
"""What the schema calls it."""
CHANNELS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17)
WIDE = (255, 257, 1025)
GREATEST_WORK = 25_000
"""Multiply-accumulates of one operator."""


def padded(net: Network) -> bool:
    """Add a PAD of an image and a convolution of what it makes, as converters do."""
    x = net.pick(rank=4, types=MULTIPLIED)
    if x is None:
        return False
    pick = net.chance.choice
    pairs = [(0, 0), *((pick((0, 1, 1, 2)), pick((0, 1, 1, 2))) for _ in "HW"), (0, 0)]
    result = tuple(e + sum(pair) for e, pair in zip(net.shape(x), pairs, strict=True))
    if prod(result) > GREATEST_TENSOR:
        return False
    image = net.apply("PAD", (x, net.numbers(pairs)), result, net.like(x))
    return pick((convolution, depthwise))(net, image)


def convolution(net: Network, x: int | None = None) -> bool:
    """Add a CONV_2D, of an image if one is given; tell whether one fits."""
    x = net.pick(rank=4, types=MULTIPLIED) if x is None else x
    if x is None:
        return False
    kernel, places, options = window(net, net.shape(x), dilated=net.likely(0.3))
    batch, *_, inner = net.shape(x)
    parts = [n for n in range(2, inner + 1) if inner % n == 0]
    groups = net.chance.choice(parts) if parts and net.likely(0.2) else 1
    count, depth = channels(net), inner // groups
    count = -(-count // groups) * groups
    if batch * prod(places) * prod(kernel) * depth * count > GREATEST_WORK:
        return False
    channelwise, small = net.likely(0.7), few_bits(net, x)
    weights = net.weights((count, *kernel, depth), 0, channelwise=channelwise, small=small)
    operands = (x, weights, *net.bias(x, weights, count, absent=True))
    options |= bias_type(net, operands)
    shape, scale = (batch, *places, count), spread(net, x, weights, prod(kernel) * depth)
    net.apply("CONV_2D", operands, shape, scale, "Conv2DOptions", **options)
    return True


def depthwise(net: Network, x: int | None = None) -> bool:
    """Add a DEPTHWISE_CONV_2D, of an image if one is given; tell whether one fits."""
    x = net.pick(rank=4, types=MULTIPLIED) if x is None else x
    if x is None:
        return False
    kernel, places, options = window(net, net.shape(x), dilated=net.likely(0.3))
    batch, *_, inner = net.shape(x)
    multiplier = net.chance.choice((1, 1, 1, 2, 3, 8))
    count = inner * multiplier
    if batch * prod(places) * prod(kernel) * count > GREATEST_WORK // 2:
        return False
    channelwise, small = net.likely(0.7), few_bits(net, x)
    weights = net.weights((1, *kernel, count), 3, channelwise=channelwise, small=small)
    operands = (x, weights, *net.bias(x, weights, count, absent=False, types=("int64",)))
    options |= {"DepthMultiplier": multiplier}
    shape, scale = (batch, *places, count), spread(net, x, weights, prod(kernel))
    net.apply("DEPTHWISE_CONV_2D", operands, shape, scale, "DepthwiseConv2DOptions", **options)
    return True


def pooling(net: Network) -> bool:
    """Add a pooling; tell whether one fits."""
    x = net.pick(rank=4, types=MULTIPLIED)
    if x is None:
        return False
    kernel, places, options = window(net, net.shape(x), dilated=False)
    options = {key: value for key, value in options.items() if "Dilation" not in key}
    options |= {"FilterHeight": kernel[0], "FilterWidth": kernel[1]}
    code = net.chance.choice(("MAX_POOL_2D", "AVERAGE_POOL_2D"))
    batch, *_, inner = net.shape(x)
    shape = (batch, *places, inner)
    net.apply(code, (x,), shape, net.like(x), "Pool2DOptions", **options)
    return True


def dense(net: Network) -> bool:
    """Add a FULLY_CONNECTED over the last dimension, or over several at once."""
    x = net.pick(types=MULTIPLIED)
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    keep = net.likely(0.5)
    depth = prod(shape[1:]) if len(shape) > 1 and not keep and net.likely(0.5) else shape[-1]
    rows = prod(shape) // depth
    count = channels(net)
    if rows * depth * count > GREATEST_WORK:
        return False
    small = few_bits(net, x)
    channelwise = not small and net.likely(0.4)
    weights = net.weights((count, depth), 0, channelwise=channelwise, small=small)
    operands = (x, weights, *net.bias(x, weights, count, absent=True))
    options: dict[str, float] = {
        "KeepNumDims": keep,
        "FusedActivationFunction": net.chance.randrange(4),
    }
    options |= bias_type(net, operands)
    result = (*shape[:-1], count) if keep else (rows, count)
    scale = spread(net, x, weights, depth)
    net.apply("FULLY_CONNECTED", operands, result, scale, "FullyConnectedOptions", **options)
    return True


def dense_of_values(net: Network) -> bool:
    """Add a FULLY_CONNECTED whose filter is another value, or the same one, in a fitting shape."""
    x = net.pick()
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    depth = shape[-1]
    rows = prod(shape) // depth
    fitting = [n for n in net.known("int8") if prod(net.shape(n)) % depth == 0]
    filters = net.chance.choice(fitting)
    count = prod(net.shape(filters)) // depth
    if rows * count > GREATEST_TENSOR or rows * count * depth > GREATEST_WORK:
        return False
    if net.shape(filters) != (count, depth):
        wanted = (count, depth)
        filters = net.apply("RESHAPE", (filters, net.numbers(wanted)), wanted, net.like(filters))
    keep = net.likely(0.5)
    options: dict[str, float] = {
        "KeepNumDims": keep,
        "FusedActivationFunction": net.chance.choice((0, 0, 1, 3)),
    }
    operands = (x, filters, -1) if net.likely(0.3) else (x, filters)
    result = (*shape[:-1], count) if keep else (rows, count)
    scale = spread(net, x, filters, depth)
    net.apply("FULLY_CONNECTED", operands, result, scale, "FullyConnectedOptions", **options)
    return True


def channels(net: Network) -> int:
    """Choose how many channels a result has, now and then a great many."""
    return net.chance.choice(WIDE if net.likely(0.04) else CHANNELS)


def few_bits(net: Network, x: int) -> bool:
    """Tell whether weights shall have 4 bits, which they may have where the input has 8."""
    return net.dtype(x) == "int8" and net.likely(0.2)


def bias_type(net: Network, operands: tuple[int, ...]) -> dict[str, float]:
    """Say at times that sums of 16-bit inputs have 32 bits; without a bias it is the option."""
    absent = len(operands) < 3 or operands[2] < 0
    wide = net.dtype(operands[0]) == "int16"
    return {"QuantizedBiasType": INT32} if absent and wide and net.likely(0.5) else {}


def window(
    net: Network, shape: tuple[int, ...], *, dilated: bool
) -> tuple[list[int], list[int], dict[str, float]]:
    """Choose a window that fits; return its extents, those of the output, and the options."""
    same = net.likely(0.5)
    options: dict[str, float] = {
        "Padding": SAME if same else 1,
        "FusedActivationFunction": net.chance.randrange(4),
    }
    kernel, places = [], []
    for side, extent in zip("HW", shape[1:3], strict=True):
        stride = net.chance.choice((1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 5))
        dilation = net.chance.choice((1, 2, 3)) if dilated else 1
        # SAME takes windows that are larger than the image; every place still sees some of it.
        largest = 11 if net.likely(0.05) else 5
        most = largest if same else min(largest, (extent - 1) // dilation + 1)
        taps = net.chance.randint(1, most)
        span = extent if same else extent - (taps - 1) * dilation
        kernel.append(taps)
        places.append(-(-span // stride))
        options |= {f"Stride{side}": stride, f"Dilation{side}Factor": dilation}
    return kernel, places, options


def spread(net: Network, x: int, weights: int, taps: int) -> Quantized:
    """Mostly choose a scale with which sums of `taps` products use the range of the type."""
    dtype = net.dtype(x)
    if net.likely(0.25):
        return net.quantization(dtype)
    scales = net.tensors[weights].scales
    reach = 4 if net.dtype(weights) == "int4" else 70
    typical = net.scale(x) * (sum(scales) / len(scales)) * math.sqrt(taps) * 70 * reach
    scale = float32(min(typical / net.chance.uniform(20, 200), 3e38))
    if scale <= 0:
        return net.quantization(dtype)
    return {**net.quantization(dtype), "scales": (scale,)}
