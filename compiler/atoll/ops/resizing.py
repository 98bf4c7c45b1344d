# SPDX-License-Identifier: Apache-2.0
"""What kinds that resize images have in common: their options and their features."""

from collections.abc import Mapping
from typing import Any

from atoll.ir.graph import Graph, Operator
from atoll.ops.checks import require_input
from atoll.ops.tflite_form import Attributes, Shapes


def resizing_options(options: Any, shapes: Shapes) -> Attributes:
    """Return the attributes: how places of the result fall on the input."""
    return {
        "align_corners": bool(options.AlignCorners()),
        "half_pixel_centers": bool(options.HalfPixelCenters()),
    }


def resizing_features(op: Operator, graph: Graph) -> Mapping[str, int]:
    """Return the extents and the options; there are no multiply-accumulates."""
    batches, in_height, in_width, channels = require_input(op, graph, 0).shape
    _, out_height, out_width, _ = graph.results(op)[0].shape
    return {
        "macs": 0,
        "batches": batches,
        "in_height": in_height,
        "in_width": in_width,
        "in_channels": channels,
        "out_height": out_height,
        "out_width": out_width,
        "out_channels": channels,
        "align_corners": int(bool(op.attributes["align_corners"])),
        "half_pixel_centers": int(bool(op.attributes["half_pixel_centers"])),
    }
