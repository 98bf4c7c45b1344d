"""Windows without weights: pools of one or two dimensions, and Resize."""

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
from atoll.frontend.onnx.parts import Grid, Part, Pending, Stored, Unfit
from atoll.ir.graph import Quantization


def max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D, whose result lies on the grid of its operand."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unfit("hands out indices as well", "export it without return_indices")
    return _pooled(c, "max_pool_2d", c.stored(node), _window(c, node), c.result(node))


def average_pool(c: Conversion, node: Node) -> Part:
    """Make an AVERAGE_POOL_2D, or sum by a DEPTHWISE_CONV_2D of ones where the grid changes."""
    x, window, shape = c.stored(node), _window(c, node), c.result(node)
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
        made = _pooled(c, "average_pool_2d", x, window, shape)
        return c.requantized(made, grid)

    return Pending(shape=shape, make=make, fuses=by_ones, own=x.grid)


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


def resize(c: Conversion, node: Node) -> Part:
    """Make a RESIZE_BILINEAR of height and width.

    Raises:
        Unfit: TFLite has no such coordinates.
    """
    x, shape = c.stored(node), c.result(node)
    found = attributes_as(
        node, {"mode": "nearest", "coordinate_transformation_mode": "half_pixel", "antialias": 0}
    )
    how = found["coordinate_transformation_mode"]
    if how == "pytorch_half_pixel" and min(shape[2:]) > 1:
        how = "half_pixel"
    if len(shape) != 4 or shape[:2] != x.shape[:2] or found["antialias"]:
        raise Unfit("resizes more than height and width, or with antialias")
    if found["mode"] != "linear" or how not in ("half_pixel", "align_corners", "asymmetric"):
        raise Unfit(f"has mode '{found['mode']}' with coordinates '{how}'", "use mode linear")
    if c.has(node, 2) and c.numbers(node, 2).size and how != "align_corners":
        scales = c.numbers(node, 2).astype(np.float64)
        if not np.allclose(scales * x.shape, shape):
            raise Unfit("has scales that are no ratio of its extents", "give it sizes instead")
    grid, image = x.known(), image_of(c, x)
    tensor = c.emit.operator(
        "resize_bilinear",
        [image],
        as_image(shape),
        grid,
        align_corners=how == "align_corners",
        half_pixel_centers=how == "half_pixel",
    )
    return _measured(c, from_image(c, tensor, shape, grid))


def _measured(c: Conversion, value: Stored) -> Pending:
    """Return a result that is on a grid already, and may be brought to another."""
    return Pending(
        shape=value.shape, make=lambda grid, activation: c.requantized(value, grid), own=value.grid
    )


def _window(c: Conversion, node: Node) -> Sliding:
    """Return the window of a pool; what ceil_mode adds is padding at the end."""
    kernel, shape, made = node.attributes.get("kernel_shape"), c.part(node, 0).shape, c.result(node)
    if not isinstance(kernel, tuple) or len(kernel) != len(shape) - 2 or len(kernel) not in (1, 2):
        raise Unfit(f"has kernel_shape {kernel} for an operand of {len(shape)} dimensions")
    window = sliding(node, kernel, shape[2:])
    if max(window.dilations) > 1:
        raise Unfit("has dilations, which a pool may not have", "use dilations of 1")
    sizes = zip(
        as_image(made)[1:3],
        as_image(shape)[1:3],
        window.strides,
        window.kernel,
        window.before,
        window.after,
        strict=True,
    )
    after = [
        max(end, (places - 1) * stride + extent - size - begin)
        for places, size, stride, extent, begin, end in sizes
    ]
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
    "Resize": resize,
}
