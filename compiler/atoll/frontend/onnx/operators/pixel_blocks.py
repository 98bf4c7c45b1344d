# SPDX-License-Identifier: Apache-2.0
"""Squares of pixels that become channels, and the other way round."""

from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as, handing_on
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Part, Unfit
from atoll.frontend.onnx.operators.moves import rename_axes, reshape_value


def depth_to_space(c: Conversion, node: Node) -> Part:
    """Make squares of pixels of each pixel's channels."""
    x, found = c.stored_operand(node), attributes_as(node, {"blocksize": 0, "mode": "DCR"})
    size = found["blocksize"]
    if len(x.shape) != 4 or size < 1 or x.shape[1] % (size * size):
        raise Unfit(f"has blocksize {size} for {[*x.shape]}")
    batch, channels, height, width = x.shape
    depth = channels // (size * size)
    if found["mode"] == "CRD":
        split, axes = (batch, depth, size, size, height, width), (0, 1, 4, 2, 5, 3)
    else:
        split, axes = (batch, size, size, depth, height, width), (0, 3, 4, 1, 5, 2)
    made = rename_axes(c, reshape_value(c, x, split), axes)
    return reshape_value(c, made, (batch, depth, height * size, width * size))


def space_to_depth(c: Conversion, node: Node) -> Part:
    """Make the channels of a pixel of squares of pixels."""
    x, size = c.stored_operand(node), attributes_as(node, {"blocksize": 0})["blocksize"]
    if len(x.shape) != 4 or size < 1 or x.shape[2] % size or x.shape[3] % size:
        raise Unfit(f"has blocksize {size} for {[*x.shape]}")
    batch, channels, height, width = x.shape
    rows, columns = height // size, width // size
    split = reshape_value(c, x, (batch, channels, rows, size, columns, size))
    made = rename_axes(c, split, (0, 3, 5, 1, 2, 4))
    return reshape_value(c, made, (batch, channels * size * size, rows, columns))


HANDLERS: dict[str, Handler] = {
    "DepthToSpace": handing_on(depth_to_space),
    "SpaceToDepth": handing_on(space_to_depth),
}
