# SPDX-License-Identifier: Apache-2.0
"""Windows without weights: pools of one or two dimensions."""

from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, attributes_as, handing_on
from atoll.frontend.onnx.emitter import Held, Operand
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Pending, Stored, Unfit, finer
from atoll.frontend.onnx.operators.moves import reshape_value, take_ranges
from atoll.frontend.onnx.operators.reductions import along, axes_of, mean
from atoll.frontend.onnx.operators.windows import (
    DIMENSIONS,
    Sliding,
    as_image,
    from_image,
    image_of,
    sliding_of,
)
from atoll.frontend.onnx.protos import AGAIN
from atoll.ir.graph import Quantization


def max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D, whose result lies on the grid of its operand."""
    if len([name for name in node.outputs if name]) > 1:
        raise Unfit("hands out indices as well", "export it without return_indices")
    x, shape = c.stored_operand(node), c.result(node)
    window = _window(c, node)
    if max(window.dilations) == 1 and not _in_padding(window, x, shape):
        return _pool(c, "max_pool_2d", x, window, shape)
    return _greatest(c, x, window, shape)


def _greatest(c: Conversion, x: Stored, window: Sliding, shape: tuple[int, ...]) -> Stored:
    """Compare what lies below each tap of a window, which may have gaps or lie beside the image."""
    to, (down, across) = x.require_grid(), as_image(shape)[1:3]
    image = c.emit.as_stored(image_of(c, x).tensor, to)
    image = _surround(c, image, window, int(to.limits[0]))
    batch, _, _, channels = c.emit.stored_shape(image)
    made: Stored | None = None
    for row, column in np.ndindex(*window.kernel):
        starts = (row * window.dilations[0], column * window.dilations[1])
        sides = zip(starts, (down, across), window.strides, strict=True)
        places = [range(start, start + count * step, step) for start, count, step in sides]
        tap = take_ranges(c, image, [range(batch), *places, range(channels)])
        if made is not None:
            tensor = c.emit.operator("maximum", [made, tap], tap.shape, to)
            tap = replace(tap, tensor=tensor)
        made = tap
    assert made is not None
    return replace(from_image(c, made.tensor, shape, to), real=x.real)


def _surround(c: Conversion, image: Stored, window: Sliding, value: int) -> Stored:
    """Return an image [N, H, W, C] with a value in the padding of a window."""
    (top, left), (bottom, right) = window.before, window.after
    batch, height, width, channels = image.shape
    shape = (batch, height + top + bottom, width + left + right, channels)
    if shape == image.shape:
        return image
    to = image.require_grid()
    operands: list[Operand] = [
        image,
        Held(np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32), "paddings"),
        Held(np.array([value], to.dtype), "value", to.quantization),
    ]
    return c.emit.as_stored(c.emit.operator("padv2", operands, shape, to), to)


def _in_padding(window: Sliding, x: Stored, shape: tuple[int, ...]) -> bool:
    """Tell whether a window lies in nothing but padding."""
    sizes, places = as_image(x.shape)[1:3], as_image(shape)[1:3]
    lasts = [
        (count - 1) * step - begin
        for count, step, begin in zip(places, window.strides, window.before, strict=True)
    ]
    return window.pads_widely or any(at >= size for at, size in zip(lasts, sizes, strict=True))


_MOST_ONES = 4096
"""Bytes of a filter of ones that may take the place of a second rounding."""

_MOST_FINER = 1.9
"""Steps of the result in one of the operand, with which a second rounding is no step more."""


def average_pool(c: Conversion, node: Node) -> Part:
    """Make an AVERAGE_POOL_2D; see `_average` for results on other grids."""
    x, window = c.stored_operand(node, wide=True), _window(c, node)
    shape = c.result(node)
    if max(window.dilations) > 1:
        raise Unfit("has dilations, which a mean may not have", "use dilations of 1")
    if _in_padding(window, x, shape):
        raise Unfit("has a window of nothing but padding", "leave ceil_mode or the padding out")
    padded = any((*window.before, *window.after))
    padding_counts = bool(attributes_as(node, {"count_include_pad": 0})["count_include_pad"])
    if padded and padding_counts and node.attributes.get("ceil_mode"):
        raise Unfit("has ceil_mode together with count_include_pad")
    by_ones = x.require_grid().dtype == "int8" and (padding_counts or not padded)
    alone = not (padded and padding_counts)

    def make(grid: Grid, activation: str) -> Stored:
        made = _average(c, x, window, shape, grid, alone=alone, by_ones=by_ones)
        if made is None and by_ones:
            made = _by_ones(c, x, window, shape, grid)
        if made is None:
            fine = c.requantize(x, finer(x.require_grid()))
            made = c.requantize(_pool(c, "average_pool_2d", fine, window, shape), grid)
        return made

    return Pending(shape=shape, make=make, range=x.range, error=x.error)


def _average(
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
    own = x.require_grid()
    if alone and grid == own:
        return _pool(c, "average_pool_2d", x, window, shape)
    if by_ones and prod(window.kernel) * x.shape[1] <= _MOST_ONES:
        return _by_ones(c, x, window, shape, grid)
    if alone and own.scale < _MOST_FINER * grid.scale:
        return c.requantize(_pool(c, "average_pool_2d", x, window, shape), grid)
    return None


def global_average_pool(c: Conversion, node: Node) -> Part:
    """Average each channel of an image."""
    x, shape = c.stored_operand(node, wide=True), c.result(node)
    return _channel_means(c, x, shape)


def reduce_mean(c: Conversion, node: Node) -> Part:
    """Average each channel of an image, or make a MEAN."""
    x, axes = c.stored_operand(node, wide=True), axes_of(c, node)
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
        ones = x.require_grid().dtype == "int8"
        made = _average(c, x, window, whole, grid, alone=True, by_ones=ones)
        if made is None:
            return along(c, "mean", c.emit.unfold(x), axes, shape, grid, keep=keep)
        return reshape_value(c, made, shape)

    return Pending(shape=shape, make=make, range=x.range, error=x.error)


def _image_window(shape: tuple[int, ...]) -> Sliding:
    """Return the window that is the image."""
    height, width = as_image(shape)[1:3]
    none = (0, 0)
    return Sliding(
        kernel=(height, width), strides=(1, 1), dilations=(1, 1), before=none, after=none
    )


def global_max_pool(c: Conversion, node: Node) -> Part:
    """Make a MAX_POOL_2D whose window is the image."""
    x = c.stored_operand(node)
    return _pool(c, "max_pool_2d", x, _image_window(x.shape), c.result(node))


def _window(c: Conversion, node: Node) -> Sliding:
    """Return the window of a pool; what ceil_mode adds is padding at the end."""
    kernel, shape = node.attributes.get("kernel_shape"), c.part(node, 0).shape
    if not isinstance(kernel, tuple) or len(kernel) != len(shape) - 2 or len(kernel) not in (1, 2):
        raise Unfit(f"has kernel_shape {kernel} for an operand of {len(shape)} dimensions")
    window = sliding_of(node, kernel, shape[2:])
    places, sizes = as_image(c.result(node))[1:3], as_image(shape)[1:3]
    starts = [
        (count - 1) * step - begin
        for count, step, begin in zip(places, window.strides, window.before, strict=True)
    ]
    spans = [
        (extent - 1) * step + 1
        for extent, step in zip(window.kernel, window.dilations, strict=True)
    ]
    ends = zip(starts, spans, sizes, window.after, strict=True)
    after = [max(end, start + span - size) for start, span, size, end in ends]
    return replace(window, after=(after[0], after[1]))


def _pool(
    c: Conversion,
    kind: str,
    x: Stored,
    window: Sliding,
    shape: tuple[int, ...],
) -> Stored:
    grid = x.require_grid()
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
