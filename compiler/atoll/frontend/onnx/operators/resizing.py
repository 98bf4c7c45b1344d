# SPDX-License-Identifier: Apache-2.0
"""Resize: bilinear with coordinates that TFLite has too; nearest where it repeats or skips."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as, handing_on
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Grid, Part, Pending, Stored, Unfit
from atoll.frontend.onnx.operators.copies import MOST_COPIES
from atoll.frontend.onnx.operators.curves import real_operand
from atoll.frontend.onnx.operators.moves import pick
from atoll.frontend.onnx.operators.windows import as_image, from_image, image_of
from atoll.ops.windows.resize_bilinear import ONE, Side, side_of

_RANGE = {"int8": 255, "int16": 65535}
"""Steps between the least and the greatest value."""

_ROUNDED: Mapping[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
}
_MODES = ("half_pixel", "align_corners", "asymmetric")


def resize(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
    """Make what resizes in the mode of the node."""
    mode = attributes_as(node, {"mode": "nearest"})["mode"]
    return (handing_on(_nearest) if mode == "nearest" else _bilinear)(c, node)


def _nearest(c: Conversion, node: Node) -> Part:
    """Repeat elements by CONCATENATION with themselves, or take runs of them by SLICE."""
    x, shape = c.stored_operand(node), c.result(node)
    if len(shape) != len(x.shape):
        raise Unfit("has a result of other dimensions")
    for axis, (size, places) in enumerate(zip(x.shape, shape, strict=True)):
        found = _places(c, node, axis, size, places)
        times = places // size
        if times and (found == np.arange(places) // times).all() and places % size == 0:
            x = _repeat(c, x, axis, times)
        else:
            x = pick(c, x, axis, found.tolist())
    return x


def _places(c: Conversion, node: Node, axis: int, size: int, places: int) -> NDArray[np.int64]:
    """Return which elements along an axis the result has."""
    found = attributes_as(
        node,
        {
            "coordinate_transformation_mode": "half_pixel",
            "nearest_mode": "round_prefer_floor",
            "antialias": 0,
        },
    )
    how, rounded = found["coordinate_transformation_mode"], found["nearest_mode"]
    if how not in (*_MODES, "pytorch_half_pixel") or rounded not in _ROUNDED or found["antialias"]:
        raise Unfit(f"has mode 'nearest' with coordinates '{how}', {rounded}")
    scale = places / size
    if (
        c.has(node, 2)
        and c.numbers(node, 2).size == len(c.result(node))
        and "axes" not in node.attributes
    ):
        scale = float(c.numbers(node, 2).reshape(-1)[axis])
    at = np.arange(places, dtype=np.float64)
    if how == "align_corners":
        at = at * (size - 1) / max(places - 1, 1)
    elif how == "asymmetric":
        at = at / scale
    else:
        at = (at + 0.5) / scale - 0.5 if how == "half_pixel" or places > 1 else at * 0
    return np.clip(_ROUNDED[rounded](at), 0, size - 1).astype(np.int64)


def _repeat(c: Conversion, x: Stored, axis: int, times: int) -> Stored:
    """Return a value with each element along an axis there several times."""
    if times == 1:
        return x
    if times > MOST_COPIES:
        raise Unfit(f"repeats {times} times, the most is {MOST_COPIES}")
    x = c.emit.unfold(x)
    shape = tuple(n * times if at == axis else n for at, n in enumerate(x.shape))
    stored, place = c.emit.stored_shape(x), x.order.index(axis)
    outer, inner = prod(stored[: place + 1]), prod(stored[place + 1 :])
    one = c.emit.as_stored(c.emit.reshape(x.tensor, (outer, 1, inner)), x.require_grid())
    options: dict[str, int | str] = {"axis": 1, "activation": "none"}
    joined = (outer, times, inner)
    made = c.emit.operator("concatenation", [one] * times, joined, x.require_grid(), **options)
    return replace(x, tensor=c.emit.reshape(made, layout.permute(shape, x.order)), shape=shape)


def _bilinear(c: Conversion, node: Node) -> Part:
    """Make a RESIZE_BILINEAR of height and width.

    Raises:
        Unfit: TFLite has no such coordinates, or they would differ by more than a step.
    """
    x, shape, how = real_operand(c, node), c.result(node), _coordinates(c, node)
    align, half = how == "align_corners", how == "half_pixel"
    sides = [
        side_of(size, places, align_corners=align, half_pixel_centers=half)
        for size, places in zip(x.shape[2:], shape[2:], strict=True)
    ]
    apart = _RANGE[x.require_grid().dtype] * sum(_shift(side, how) for side in sides)

    def make(to: Grid, activation: str) -> Stored:
        grid = x.require_grid()
        steps = apart if to == grid else (apart + 0.5) * grid.scale / to.scale
        if steps > 1:
            message = f"resizes to {[*shape[2:]]}, where places in 1/{ONE} of a pixel could make"
            remedy = "choose extents that are the operand's times a power of two"
            if to != grid:
                remedy += ", and quantise operand and result alike"
            raise Unfit(f"{message} a difference of {steps:.1f} steps", remedy)
        tensor = c.emit.operator(
            "resize_bilinear",
            [image_of(c, x)],
            as_image(shape),
            grid,
            align_corners=align,
            half_pixel_centers=half,
        )
        return c.requantize(replace(from_image(c, tensor, shape, grid), real=True), to)

    return Pending(shape=shape, make=make)


def _coordinates(c: Conversion, node: Node) -> str:
    """Return how coordinates are made."""
    found = attributes_as(
        node, {"mode": "nearest", "coordinate_transformation_mode": "half_pixel", "antialias": 0}
    )
    shape, given = c.result(node), c.stored_operand(node).shape
    how: str = found["coordinate_transformation_mode"]
    if how == "pytorch_half_pixel" and min(shape[2:], default=0) > 1:
        how = "half_pixel"
    if len(shape) != 4 or shape[:2] != given[:2] or found["antialias"]:
        raise Unfit("resizes more than height and width, or with antialias")
    if found["mode"] != "linear" or how not in _MODES:
        raise Unfit(f"has mode '{found['mode']}' with coordinates '{how}'", "use mode linear")
    if c.has(node, 2) and c.numbers(node, 2).size and how != "align_corners":
        scales = c.numbers(node, 2).astype(np.float64).reshape(-1)
        if scales.size != 4 or not np.allclose(scales * given, shape):
            raise Unfit("has scales that are no ratio of its extents", "give it sizes instead")
    return how


def _shift(side: Side, how: str) -> float:
    """Return by how many pixels places along an axis differ at most from those of ONNX."""
    places = np.arange(side.output, dtype=np.float64)
    if how == "align_corners":
        exact = places * (side.input - 1) / max(side.output - 1, 1)
    else:
        ratio = side.input / side.output
        exact = (places + 0.5) * ratio - 0.5 if how == "half_pixel" else places * ratio
    ours = (places * side.step + side.start) / ONE
    least, most = 0, side.input - 1
    return float(np.abs(np.clip(ours, least, most) - np.clip(exact, least, most)).max())


HANDLERS: dict[str, Handler] = {"Resize": resize}
