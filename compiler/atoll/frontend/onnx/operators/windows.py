# SPDX-License-Identifier: Apache-2.0
"""Sliding windows over images and sequences, and Conv."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, attributes_as
from atoll.frontend.onnx.emitter import Held, Operand
from atoll.frontend.onnx.model import Array, Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Pending, Stored, Unfit
from atoll.frontend.onnx.operators.weights import Weights, bias_of, repeat_channels, weights_of
from atoll.ops.window import same_padding
from atoll.records import dataclass

DIMENSIONS = (3, 4)
"""Of what windows slide over: batch, channels, and one or two more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sliding:
    """How a window slides; two values each, down and across."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    before: tuple[int, int]
    after: tuple[int, int]

    @property
    def pads_widely(self) -> bool:
        """Whether a window lies in nothing but padding, which accelerators do not have."""
        extents = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        sides = zip(extents, self.before, self.after, strict=True)
        return any(max(begin, end) >= extent for extent, begin, end in sides)

    def attributes(self) -> dict[str, int]:
        """Return strides and pads as Atoll's operators have them."""
        return {
            **{"stride_h": self.strides[0], "stride_w": self.strides[1]},
            **{"pad_top": self.before[0], "pad_left": self.before[1]},
            **{"pad_bottom": self.after[0], "pad_right": self.after[1]},
        }


def sliding_of(node: Node, kernel: tuple[int, ...], image: tuple[int, ...]) -> Sliding:
    """Return how a node's window slides over an image of one or two dimensions.

    Raises:
        Unfit: attributes have the wrong number of values, or there is less than no padding.
    """
    count = len(kernel)
    found = attributes_as(
        node,
        {
            "strides": (1,) * count,
            "dilations": (1,) * count,
            "pads": (0,) * 2 * count,
            "auto_pad": "NOTSET",
        },
    )
    strides, dilations, pads = found["strides"], found["dilations"], found["pads"]
    if not len(strides) == len(dilations) == count or len(pads) != 2 * count:
        raise Unfit("strides, dilations or pads are not as many as the window has dimensions")
    if min(*kernel, *strides, *dilations) < 1:
        raise Unfit("kernel_shape, strides or dilations are less than 1")
    if found["auto_pad"].startswith("SAME"):
        windows = zip(image, kernel, strides, dilations, strict=True)
        pairs = [same_padding(*window) for window in windows]
        flipped = found["auto_pad"] == "SAME_LOWER"
        pairs = [(high, low) if flipped else (low, high) for low, high in pairs]
        pads = [*(low for low, _ in pairs), *(high for _, high in pairs)]
    elif found["auto_pad"] == "VALID":
        pads = (0,) * 2 * count
    if min(pads) < 0:
        raise Unfit(f"has pads {[*pads]}; they may not be less than 0")
    return Sliding(
        kernel=_two(kernel, 1),
        strides=_two(strides, 1),
        dilations=_two(dilations, 1),
        before=_two(pads[:count], 0),
        after=_two(pads[count:], 0),
    )


def _two(values: Sequence[int], absent: int) -> tuple[int, int]:
    """Return a value down and across; sequences have none down."""
    *down, across = values
    return (down[0] if down else absent, across)


def image_of(c: Conversion, value: Stored) -> Stored:
    """Return an operand as an image: channels last, and one row where it is a sequence."""
    value = c.emit.in_order(value, layout.channels_last(len(value.shape)))
    return replace(value, tensor=c.emit.reshape(value.tensor, as_image(value.shape)))


def as_image(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the extents [N, H, W, C] of ONNX's [N, C, W] or [N, C, H, W].

    Raises:
        Unfit: it has other dimensions.
    """
    if len(shape) not in DIMENSIONS:
        raise Unfit(f"has a tensor of {len(shape)} dimensions where 3 or 4 are supported")
    batch, channels, *rows, width = shape
    return (batch, *(rows or (1,)), width, channels)


def from_image(c: Conversion, tensor: str, shape: tuple[int, ...], grid: Grid) -> Stored:
    """Return a result [N, H, W, C] as a value of ONNX's extents."""
    order = layout.channels_last(len(shape))
    stored = c.emit.reshape(tensor, layout.permute(shape, order))
    return Stored(tensor=stored, shape=shape, order=order, grid=grid, real=True)


def conv(c: Conversion, node: Node) -> Part:
    """Make a CONV_2D or DEPTHWISE_CONV_2D."""
    x = c.stored_operand(node, wide=True)
    weights = weights_of(c, node, 1, channels=0)
    rank, groups = len(x.shape), attributes_as(node, {"group": 1})["group"]
    if len(weights.values.shape) != rank or rank not in DIMENSIONS:
        raise Unfit(f"has weights of shape {list(weights.values.shape)} for {list(x.shape)}")
    outputs, depth, *kernel = weights.values.shape
    if groups < 1 or depth * groups != x.shape[1] or outputs % groups:
        raise Unfit(f"has {groups} groups for {x.shape[1]} channels and {outputs} filters")
    window, shape = sliding_of(node, tuple(kernel), x.shape[2:]), c.result(node)
    taps = weights.values.reshape(outputs, depth, *window.kernel)
    each_alone = depth == 1 and groups > 1 and not weights.wide
    attributes: dict[str, int] = {
        **(without_padding(window) if window.pads_widely else window).attributes(),
        **{"dilation_h": window.dilations[0], "dilation_w": window.dilations[1]},
    }
    filters = weights.filters(taps.transpose(0, 2, 3, 1), 3)
    if each_alone:
        filters, axis, kind = filters.transpose(3, 1, 2, 0), 3, "depthwise_conv_2d"
        attributes["depth_multiplier"] = outputs // groups
    else:
        axis, kind = 0, "conv_2d"

    def make(x: Stored, bias: Array | None, grid: Grid, activation: str) -> Stored:
        held = Held(filters, "filter", weights.along(axis))
        image, *others = make_operands(c, x, weights, bias, held, groups)
        if window.pads_widely:
            image = _pad(c, image, window, x.require_grid())
        operands = [image, *others]
        tensor = c.emit.operator(
            kind, operands, as_image(shape), grid, activation=activation, **attributes
        )
        return from_image(c, tensor, shape, grid)

    return make_sums(c, bias_of(c, node, 2, x, weights), make, shape, 1, x, weights)


def without_padding(window: Sliding) -> Sliding:
    """Return a window without padding."""
    return replace(window, before=(0, 0), after=(0, 0))


def _pad(c: Conversion, image: Operand | None, window: Sliding, grid: Grid) -> Stored:
    """Return an image [N, H, W, C] with the padding of a window around it."""
    assert isinstance(image, Stored)
    (top, left), (bottom, right) = window.before, window.after
    batch, height, width, channels = c.emit.stored_shape(image)
    shape = (batch, height + top + bottom, width + left + right, channels)
    table = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], np.int32)
    tensor = c.emit.operator("pad", [image, Held(table, "paddings")], shape, grid)
    return c.emit.as_stored(tensor, grid)


Make = Callable[[Stored, Array | None, Grid, str], Stored]


def make_sums(
    c: Conversion,
    bias: Array | None,
    make: Make,
    shape: tuple[int, ...],
    channels: int,
    x: Stored,
    weights: Weights,
) -> Pending:
    """Return a result of sums of products, to which a constant for each channel may be added."""
    scales = weights.sum_scales(x)
    least, most, times = weights.reach(x, bias)

    def with_bias(more: Array) -> Pending:
        values = np.rint(np.asarray(more, np.float64) / scales)
        total = values + (0 if bias is None else bias)
        if not (np.abs(total) < 2**31).all():
            raise Unfit("has a bias that leaves int32 in the scale of its sums")
        return make_sums(c, total.astype(np.int64), make, shape, channels, x, weights)

    def emit(values: Sequence[Stored], grid: Grid, activation: str) -> Stored:
        (operand,) = values
        return make(operand, bias, grid, activation)

    return Pending(
        shape=shape,
        make=lambda grid, activation: c.match_types([x], grid, activation, emit),
        fuses=True,
        range=(least, most),
        error=x.error * times,
        biased=with_bias,
        channels=channels,
    )


def make_operands(
    c: Conversion,
    x: Stored,
    weights: Weights,
    bias: Array | None,
    filters: Held,
    groups: int = 1,
) -> list[Operand | None]:
    """Return the operands of a convolution: image, filters, bias."""
    image = image_of(c, x)
    if weights.wide:
        image = c.emit.as_stored(
            repeat_channels(c, image.tensor, x.require_grid(), weights.parts, groups),
            x.require_grid(),
        )
    return [image, filters, None if bias is None else weights.bias_constant(x, bias)]


HANDLERS = {"Conv": conv}
