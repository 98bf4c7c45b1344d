"""Resize: bilinear, with coordinates that TFLite has too."""

from dataclasses import replace

import numpy as np

from atoll.frontend.onnx.conversion import Conversion, Handler, attributes_as
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.operators.windows import as_image, from_image, image_of
from atoll.frontend.onnx.parts import Grid, Part, Pending, Stored, Unfit
from atoll.ops.windows.resize_bilinear import ONE, Side, side_of

_RANGE = 255
"""Steps between the least and the greatest value."""

_MODES = ("half_pixel", "align_corners", "asymmetric")


def resize(c: Conversion, node: Node) -> Part:
    """Make a RESIZE_BILINEAR of height and width.

    Raises:
        Unfit: TFLite has no such coordinates, or they would differ by more than a step.
    """
    x, shape, how = c.stored(node), c.result(node), _coordinates(c, node)
    align, half = how == "align_corners", how == "half_pixel"
    sides = [
        side_of(size, places, align_corners=align, half_pixel_centers=half)
        for size, places in zip(x.shape[2:], shape[2:], strict=True)
    ]
    apart = _RANGE * sum(_shift(side, how) for side in sides)

    def make(to: Grid, activation: str) -> Stored:
        grid = x.known()
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
        return c.requantized(replace(from_image(c, tensor, shape, grid), real=True), to)

    return Pending(shape=shape, make=make)


def _coordinates(c: Conversion, node: Node) -> str:
    """Return how coordinates are made."""
    found = attributes_as(
        node, {"mode": "nearest", "coordinate_transformation_mode": "half_pixel", "antialias": 0}
    )
    shape, given = c.result(node), c.stored(node).shape
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
