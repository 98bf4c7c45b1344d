# SPDX-License-Identifier: Apache-2.0
"""Operators that make images larger, and products of matrices, on top of what a network has."""

from math import prod

from tests.differential.network import GREATEST_TENSOR, MULTIPLIED, Network, float32
from tests.differential.windows import GREATEST_WORK, SAME, spread

CHANNELS = (1, 2, 3, 4, 5, 8)
MATRIX_RANKS = range(2, 6)


def transpose_conv(net: Network) -> bool:
    """Add a TRANSPOSE_CONV, now and then to a size of its own; tell whether one fits."""
    x = net.pick(rank=4, types=MULTIPLIED)
    if x is None:
        return False
    batch, *image, channels = net.shape(x)
    kernel, strides = ([net.chance.choice((1, 2, 2, 3, 4)) for _ in "hw"] for _ in range(2))
    count, same = net.chance.choice(CHANNELS), net.likely(0.5)
    sizes = zip(image, kernel, strides, strict=True)
    places = [n * step if same else (n - 1) * step + taps for n, taps, step in sizes]
    if net.likely(0.2):
        places = [max(1, n + net.chance.randint(-2, 2)) for n in places]
    work = batch * prod(image) * prod(kernel) * channels * count
    shape = (batch, *places, count)
    if prod(shape) > GREATEST_TENSOR or work > GREATEST_WORK:
        return False
    weights = net.weights((count, *kernel, channels), 0, channelwise=net.likely(0.7))
    operands = (
        net.numbers(shape),
        weights,
        x,
        *net.bias(x, weights, count, absent=False, types=("int64",)),
    )
    scale = spread(net, x, weights, prod(kernel) * channels)
    options: dict[str, float] = {
        "Padding": SAME if same else 1,
        "StrideH": strides[0],
        "StrideW": strides[1],
        "FusedActivationFunction": net.chance.randrange(4),
    }
    net.apply("TRANSPOSE_CONV", operands, shape, scale, "TransposeConvOptions", **options)
    return True


def resize_bilinear(net: Network) -> bool:
    """Add a RESIZE_BILINEAR to a smaller or larger image."""
    x = net.pick(rank=4)
    if x is None:
        return False
    batch, *_, channels = net.shape(x)
    size = [net.chance.randint(1, 12) for _ in "hw"]
    shape = (batch, *size, channels)
    if prod(shape) > GREATEST_TENSOR:
        return False
    mode = net.chance.randrange(3)
    options = {"AlignCorners": mode == 1, "HalfPixelCenters": mode == 2}
    operands = (x, net.numbers(size))
    net.apply("RESIZE_BILINEAR", operands, shape, net.like(x), "ResizeBilinearOptions", **options)
    return True


def batch_matmul(net: Network) -> bool:
    """Add a BATCH_MATMUL of a value and itself, one like it, or a constant on either side."""
    x = net.pick(types=MULTIPLIED)
    if x is None or len(net.shape(x)) not in MATRIX_RANKS:
        return False
    *batch, rows, columns = net.shape(x)
    adjoint = net.likely(0.5)
    if net.likely(0.4):
        other = net.chance.choice(
            [n for n in net.known(net.dtype(x)) if net.shape(n) == net.shape(x)]
        )
        pair, shape = (x, other), (*batch, *((columns, columns) if adjoint else (rows, rows)))
        turned, depth = (adjoint, not adjoint), rows if adjoint else columns
    else:
        count, other_turned = net.chance.choice(CHANNELS), net.likely(0.5)
        first = net.likely(0.5)
        here = (columns, rows) if adjoint else (rows, columns)
        inner = here[1] if first else here[0]
        wanted = (inner, count) if first else (count, inner)
        leading = batch if net.likely(0.5) else [1] * net.chance.randint(0, len(batch))
        values = (*leading, *(wanted[::-1] if other_turned else wanted))
        other = net.constant(values, net.quantization(net.dtype(x)))
        table = net.table(2)  # such as a filter, or what a GATHER reads
        if net.dtype(x) == "int8" and table is not None and net.shape(table)[-1] == inner:
            other, other_turned = table, first
            count = net.shape(table)[0]
        pair = (x, other) if first else (other, x)
        turned = (adjoint, other_turned) if first else (other_turned, adjoint)
        shape = (*batch, here[0], count) if first else (*batch, count, here[1])
        depth = inner
    if prod(shape) > GREATEST_TENSOR or prod(shape) * depth > GREATEST_WORK:
        return False
    reach = 90 if net.dtype(x) == "int8" else 18000
    typical = net.scale(pair[0]) * net.scale(pair[1]) * 90 * reach * depth**0.5
    scale = float32(min(typical / net.chance.uniform(20, 200), 3e38))
    if scale <= 0:
        return False
    result = {**net.quantization(net.dtype(x)), "scales": (scale,)}
    options = {"AdjX": turned[0], "AdjY": turned[1]}
    net.apply("BATCH_MATMUL", pair, shape, result, "BatchMatMulOptions", **options)
    return True
