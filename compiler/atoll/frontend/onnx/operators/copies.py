# SPDX-License-Identifier: Apache-2.0
"""Expand and Tile: the same elements several times."""

from collections.abc import Sequence
from dataclasses import replace

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, Handler, handing_on
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Part, Stored, Unfit
from atoll.frontend.onnx.operators.moves import reshape_value
from atoll.frontend.onnx.protos import AGAIN

MOST_COPIES = 256
"""Of an operand in one CONCATENATION."""


def expand(c: Conversion, node: Node) -> Part:
    """Repeat extents of 1 by CONCATENATION."""
    x, shape = c.stored_operand(node), c.result(node)
    missing = len(shape) - len(x.shape)
    if missing < 0:
        raise Unfit(f"makes {[*shape]} of {[*x.shape]}", AGAIN, "E052")
    x = reshape_value(c, x, (*(1,) * missing, *x.shape))
    return _tile(c, x, [made // size for made, size in zip(shape, x.shape, strict=True)])


def tile(c: Conversion, node: Node) -> Part:
    """Repeat all along axes by CONCATENATION."""
    x, times = c.stored_operand(node), c.integers(node, 1)
    if len(times) != len(x.shape) or min(times, default=1) < 1:
        raise Unfit(f"repeats {[*times]} times what has {len(x.shape)} dimensions")
    return _tile(c, x, times)


def _tile(c: Conversion, x: Stored, times: Sequence[int]) -> Stored:
    x = c.emit.unfold(x)
    for axis, count in enumerate(times):
        if count > MOST_COPIES:
            raise Unfit(f"repeats {count} times, the most is {MOST_COPIES}")
        if count > 1:
            shape = tuple(n * count if at == axis else n for at, n in enumerate(x.shape))
            options: dict[str, int | str] = {"axis": x.order.index(axis), "activation": "none"}
            made = layout.permute(shape, x.order)
            tensor = c.emit.operator(
                "concatenation", [x] * count, made, x.require_grid(), **options
            )
            x = replace(x, tensor=tensor, shape=shape)
    return x


HANDLERS: dict[str, Handler] = {"Expand": handing_on(expand), "Tile": handing_on(tile)}
