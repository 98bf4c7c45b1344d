"""Windows without weights: pools of one or two dimensions."""

from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, attributes_as, handing_on
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.operators.moves import reshaped
from atoll.frontend.onnx.operators.reductions import along, axes_of, mean
from atoll.frontend.onnx.operators.windows import (
    DIMENSIONS,
    Sliding,
    as_image,
    from_image,
    image_of,
    sliding,
)
from atoll.frontend.onnx.parts import Grid, Part, Pending, Stored, Unfit, finer
from atoll.frontend.onnx.protos import AGAIN
from atoll.ir.graph import Quantization


def max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D, whose result lies on the grid of its operand."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unfit("hands out indices as well", "export it without return_indices")
    window = _window(c, node)
    return _pooled(c, "max_pool_2d", c.stored(node), window, c.result(node))


_MOST_ONES = 4096
"""Bytes of a filter of ones that may take the place of a second rounding."""

_MOST_FINER = 1.9
"""Steps of the result in one of the operand, with which a second rounding is no step more."""


def average_pool(c: Conversion, node: Node) -> Part:
    """Make an AVERAGE_POOL_2D; see `_averaged` for results on other grids."""
    x, window = c.stored(node), _window(c, node)
    shape = c.result(node)
    padded = any((*window.before, *window.after))
    padding_counts = bool(attributes_as(node, {"count_include_pad": 0})["count_include_pad"])
    if padded and padding_counts and node.attributes.get("ceil_mode"):
        raise Unfit("has ceil_mode together with count_include_pad")
    by_ones = x.known().dtype == "int8" and (padding_counts or not padded)
    alone = not (padded and padding_counts)

    def make(grid: Grid, activation: str) -> Stored:
        made = _averaged(c, x, window, shape, grid, alone=alone, by_ones=by_ones)
        if made is None and by_ones:
            made = _by_ones(c, x, window, shape, grid)
        if made is None:
            fine = c.requantized(x, finer(x.known()))
            made = c.requantized(_pooled(c, "average_pool_2d", fine, window, shape), grid)
        return made

    return Pending(shape=shape, make=make)


def _averaged(
    c: Conversion,
    x: Stored,
    window: Sliding,
    shape: tuple[int, ...],
    grid: Grid,
    *,
    alone: bool,
    by_ones: bool,
) -> Stored | None:
    """Average in the way that accelerators have too, None if that rounds too much.

    Args:
        c: the conversion.
        x: the operand.
        window: its windows.
        shape: of the result.
        grid: of the result.
        alone: an AVERAGE_POOL_2D has the same windows.
        by_ones: a convolution of ones has.
    """
    own = x.known()
    if alone and grid == own:
        return _pooled(c, "average_pool_2d", x, window, shape)
    if by_ones and prod(window.kernel) * x.shape[1] <= _MOST_ONES:
        return _by_ones(c, x, window, shape, grid)
    if alone and own.scale < _MOST_FINER * grid.scale:
        return c.requantized(_pooled(c, "average_pool_2d", x, window, shape), grid)
    return None


def global_average_pool(c: Conversion, node: Node) -> Part:
    """Average each channel of an image."""
    x, shape = c.stored(node), c.result(node)
    return _channel_means(c, x, shape)


def reduce_mean(c: Conversion, node: Node) -> Part:
    """Average each channel of an image, or make a MEAN."""
    x, axes = c.stored(node), axes_of(c, node)
    if axes and len(x.shape) in DIMENSIONS and axes == tuple(range(2, len(x.shape))):
        return _channel_means(c, x, c.result(node))
    return mean(c, node)


def _channel_means(c: Conversion, x: Stored, shape: tuple[int, ...]) -> Pending:
    """Make an operator with a window as large as the image, or a MEAN.

    Args:
        c: the conversion.
        x: an image or a sequence.
        shape: of the result, with extents of 1 or without.
    """
    whole = (*x.shape[:2], *(1 for _ in x.shape[2:]))
    window, axes = _image_window(x.shape), tuple(range(2, len(x.shape)))
    keep = len(shape) == len(x.shape)
    if shape != (whole if keep else whole[:2]):
        raise Unfit(f"makes {[*shape]} of {[*x.shape]}", AGAIN, "E052")

    def make(grid: Grid, activation: str) -> Stored:
        ones = x.known().dtype == "int8"
        made = _averaged(c, x, window, whole, grid, alone=True, by_ones=ones)
        if made is None:
            return along(c, "mean", c.emit.unfolded(x), axes, shape, grid, keep=keep)
        return reshaped(c, made, shape)

    return Pending(shape=shape, make=make)


def _image_window(shape: tuple[int, ...]) -> Sliding:
    """Return the window that is the image."""
    height, width = as_image(shape)[1:3]
    none = (0, 0)
    return Sliding(
        kernel=(height, width), strides=(1, 1), dilations=(1, 1), before=none, after=none
    )


def global_max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D whose window is the image."""
    x = c.stored(node)
    return _pooled(c, "max_pool_2d", x, _image_window(x.shape), c.result(node))


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
) -> Stored:
    grid = x.known()
    tensor = c.emit.operator(
        kind,
        [image_of(c, x)],
        as_image(shape),
        grid,
        filter_h=window.kernel[0],
        filter_w=window.kernel[1],
        activation="none",
        **window.attributes(),
    )
    return replace(from_image(c, tensor, shape, grid), real=x.real)


def _by_ones(
    c: Conversion,
    x: Stored,
    window: Sliding,
    shape: tuple[int, ...],
    grid: Grid,
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
        activation="none",
        **window.attributes(),
    )
    return from_image(c, tensor, shape, grid)


HANDLERS = {
    "AveragePool": average_pool,
    "GlobalAveragePool": global_average_pool,
    "GlobalMaxPool": handing_on(global_max_pool),
    "MaxPool": handing_on(max_pool),
    "ReduceMean": reduce_mean,
}
