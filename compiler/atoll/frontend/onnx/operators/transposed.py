# SPDX-License-Identifier: Apache-2.0
"""ConvTranspose, of one or two dimensions."""

from dataclasses import replace

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Array, Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Stored, Unfit
from atoll.frontend.onnx.operators.moves import take_ranges
from atoll.frontend.onnx.operators.weights import bias_of, weights_of
from atoll.frontend.onnx.operators.windows import (
    DIMENSIONS,
    Sliding,
    as_image,
    from_image,
    make_operands,
    make_sums,
    sliding_of,
)
from atoll.frontend.onnx.protos import AGAIN
from atoll.ops.windows.transpose_conv import Side


def conv_transpose(c: Conversion, node: Node) -> Part:
    """Make a TRANSPOSE_CONV, whose padding follows from the extents of its result.

    Where neither SAME nor VALID cuts off in front what the node does, a SLICE does.
    """
    x = c.stored_operand(node, wide=True)
    weights = weights_of(c, node, 1, channels=1)
    rank = len(x.shape)
    if len(weights.values.shape) != rank or rank not in DIMENSIONS:
        raise Unfit(f"has weights of shape {list(weights.values.shape)} for {list(x.shape)}")
    depth, outputs, *kernel = weights.values.shape
    groups = attributes_as(node, {"group": 1})["group"]
    if depth != x.shape[1] or groups < 1 or depth % groups:
        raise Unfit(f"has {groups} groups for {x.shape[1]} channels and {depth} filters")
    window, shape = sliding_of(node, tuple(kernel), x.shape[2:]), c.result(node)
    if len(shape) != rank:
        raise Unfit(f"makes {[*shape]} of {[*x.shape]}", AGAIN, "E052")
    taps = _spread(weights.values.reshape(depth, outputs, *window.kernel), window.dilations)
    window = replace(window, kernel=(taps.shape[2], taps.shape[3]), dilations=(1, 1))
    if groups > 1:
        taps, outputs = _apart(taps, groups), outputs * groups
        count = len(weights.scales)
        scales = weights.scales * groups if count > 1 else weights.scales
        weights = replace(weights, outputs=outputs, scales=scales, values=taps)
    image, result = as_image(x.shape)[1:3], as_image(shape)[1:3]
    cuts = _cuts(node, window, image, result)
    same = _padding(window, image, result, cuts)
    front = cuts[2 - len(kernel) :] if same is None else (0,) * len(kernel)
    extents = [extent + cut for extent, cut in zip(shape[2:], front, strict=True)]
    wide = (*shape[:2], *extents)
    filters = weights.filters(taps.transpose(1, 2, 3, 0), 3)
    ranges = [range(extent) for extent in shape[:2]]
    ranges += [range(cut, extent) for cut, extent in zip(front, extents, strict=True)]

    def make(x: Stored, bias: Array | None, grid: Grid, activation: str) -> Stored:
        operands = make_operands(c, x, weights, bias, Held(filters, "filter", weights.along(0)))
        tensor = c.emit.operator(
            "transpose_conv",
            operands,
            as_image(wide),
            grid,
            stride_h=window.strides[0],
            stride_w=window.strides[1],
            same=bool(same),
            activation=activation,
        )
        return take_ranges(c, from_image(c, tensor, wide, grid), ranges)

    return make_sums(c, bias_of(c, node, 2, x, weights), make, shape, 1, x, weights)


def _spread(taps: Array, dilations: tuple[int, int]) -> Array:
    """Return taps with zeros between them, in place of dilations."""
    down, across = (
        (size - 1) * step + 1 for size, step in zip(taps.shape[2:], dilations, strict=True)
    )
    made = np.zeros((*taps.shape[:2], down, across), taps.dtype)
    made[:, :, :: dilations[0], :: dilations[1]] = taps
    return made


def _apart(taps: Array, groups: int) -> Array:
    """Return taps of all channels to all outputs, zeros from one group to another."""
    depth, outputs, *kernel = taps.shape
    made = np.zeros((depth, outputs * groups, *kernel), taps.dtype)
    size = depth // groups
    for group in range(groups):
        inner = slice(group * size, (group + 1) * size)
        made[inner, group * outputs : (group + 1) * outputs] = taps[inner]
    return made


def _cuts(
    node: Node, window: Sliding, image: tuple[int, ...], result: tuple[int, ...]
) -> tuple[int, ...]:
    """Return how many rows and columns the node cuts off in front."""
    how = str(node.attributes.get("auto_pad", "NOTSET"))
    if not how.startswith("SAME") and "output_shape" not in node.attributes:
        return window.before
    more = node.attributes.get("output_padding") or (0, 0)
    longer = (0,) * (2 - len(more)) + tuple(more)
    sides = zip(image, window.strides, window.kernel, result, longer, strict=True)
    every = [(size - 1) * step + extent - made + end for size, step, extent, made, end in sides]
    cuts = [max(cut, 0) for cut in every]
    return tuple(cut // 2 if how == "SAME_UPPER" else cut - cut // 2 for cut in cuts)


def _padding(
    window: Sliding, image: tuple[int, ...], result: tuple[int, ...], cuts: tuple[int, ...]
) -> bool | None:
    """Tell whether SAME cuts off that much in front, or VALID; None if neither does."""
    for same in (True, False):
        sides = zip(image, result, window.kernel, window.strides, strict=True)
        pads = [
            Side(input=size, output=made, kernel=kernel, stride=stride, same=same).pad
            for size, made, kernel, stride in sides
        ]
        if pads == [*cuts]:
            return same
    return None


HANDLERS: dict[str, Handler] = {"ConvTranspose": conv_transpose}
