"""Windows without weights: pools of one or two dimensions."""

from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, attributes_as
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.operators.reductions import mean_over
from atoll.frontend.onnx.operators.windows import (
    Sliding,
    as_image,
    from_image,
    image_of,
    sliding,
)
from atoll.frontend.onnx.parts import Grid, Part, Pending, Stored, Unfit, finer
from atoll.ir.graph import Quantization


def max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D, whose result lies on the grid of its operand."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unfit("hands out indices as well", "export it without return_indices")
    window = _window(c, node)
    return _pooled(c, "max_pool_2d", c.stored(node), window, c.result(node))


def average_pool(c: Conversion, node: Node) -> Part:
    """Make an AVERAGE_POOL_2D, or sum by a DEPTHWISE_CONV_2D of ones where the grid changes."""
    x, window = c.stored(node), _window(c, node)
    shape = c.result(node)
    padded = any((*window.before, *window.after))
    padding_counts = bool(attributes_as(node, {"count_include_pad": 0})["count_include_pad"])
    if padded and padding_counts and node.attributes.get("ceil_mode"):
        raise Unfit("has ceil_mode together with count_include_pad")
    by_ones = x.known().dtype == "int8" and (padding_counts or not padded)

    def make(grid: Grid, activation: str) -> Stored:
        if grid == x.grid and not (padded and padding_counts):
            return _pooled(c, "average_pool_2d", x, window, shape, activation)
        if by_ones:
            return _by_ones(c, x, window, shape, grid, activation)
        fine = c.requantized(x, finer(x.known()))
        return c.requantized(_pooled(c, "average_pool_2d", fine, window, shape), grid)

    return Pending(shape=shape, make=make, fuses=by_ones)


def global_max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D whose window is the image."""
    x = c.stored(node)
    height, width = as_image(x.shape)[1:3]
    zero = (0, 0)
    window = Sliding(
        kernel=(height, width), strides=(1, 1), dilations=(1, 1), before=zero, after=zero
    )
    return _pooled(c, "max_pool_2d", x, window, c.result(node))


def global_average_pool(c: Conversion, node: Node) -> Part:
    """Make a MEAN."""
    x = c.stored(node)
    return mean_over(c, x, tuple(range(2, len(x.shape))), c.result(node), keep=True)


def _window(c: Conversion, node: Node) -> Sliding:
    """Return the window of a pool; what ceil_mode adds is padding at the end."""
    kernel, shape = node.attributes.get("kernel_shape"), c.part(node, 0).shape
    if not isinstance(kernel, tuple) or len(kernel) != len(shape) - 2 or len(kernel) not in (1, 2):
        raise Unfit(f"has kernel_shape {kernel} for an operand of {len(shape)} dimensions")
    window = sliding(node, kernel, shape[2:])
    if max(window.dilations) > 1:
        raise Unfit("has dilations, which a pool may not have", "use dilations of 1")
    if window.pads_widely:
        raise Unfit("has padding as wide as its window", "use less padding")
    places, sizes = as_image(c.result(node))[1:3], as_image(shape)[1:3]
    starts = [
        (count - 1) * step - begin
        for count, step, begin in zip(places, window.strides, window.before, strict=True)
    ]
    if any(start >= size for start, size in zip(starts, sizes, strict=True)):
        raise Unfit("has a window of nothing but padding", "leave ceil_mode or the padding out")
    ends = zip(starts, window.kernel, sizes, window.after, strict=True)
    after = [max(end, start + extent - size) for start, extent, size, end in ends]
    return replace(window, after=(after[0], after[1]))


def _pooled(
    c: Conversion,
    kind: str,
    x: Stored,
    window: Sliding,
    shape: tuple[int, ...],
    activation: str = "none",
) -> Stored:
    grid = x.known()
    tensor = c.emit.operator(
        kind,
        [image_of(c, x)],
        as_image(shape),
        grid,
        filter_h=window.kernel[0],
        filter_w=window.kernel[1],
        activation=activation,
        **window.attributes(),
    )
    return replace(from_image(c, tensor, shape, grid), real=x.real)


def _by_ones(
    c: Conversion,
    x: Stored,
    window: Sliding,
    shape: tuple[int, ...],
    grid: Grid,
    activation: str,
) -> Stored:
    """Average by a convolution of ones, whose scale is one over the size of the window."""
    taps, channels = prod(window.kernel), x.shape[1]
    share = Quantization(scales=(float(np.float32(1 / taps)),), zero_points=(0,))
    filters = Held(np.ones((1, *window.kernel, channels), np.int8), "filter", share)
    tensor = c.emit.operator(
        "depthwise_conv_2d",
        [image_of(c, x), filters],
        as_image(shape),
        grid,
        dilation_h=1,
        dilation_w=1,
        depth_multiplier=1,
        activation=activation,
        **window.attributes(),
    )
    return from_image(c, tensor, shape, grid)


HANDLERS = {
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": global_max_pool,
    "MaxPool": max_pool,
}
