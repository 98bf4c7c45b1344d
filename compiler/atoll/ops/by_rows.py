# SPDX-License-Identifier: Apache-2.0
"""Operators that work row by row: what some rows of a result need, and how they are made alone.

Each row of such a result is exact by itself, so rows may be made one after the other, and twice.
"""

from collections.abc import Mapping

from atoll.ir.graph import Attribute, Operator
from atoll.ops.window import Window
from atoll.records import dataclass

Span = tuple[int, int]
"""The first row, and the one past the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowWork:
    """How an operator makes some rows of its result.

    Attributes:
        reads: rows of each input, None for all there is of it.
        attributes: of the operator that makes them from those rows alone.
    """

    reads: tuple[Span | None, ...]
    attributes: Mapping[str, Attribute]


def window_rows(op: Operator, window: Window, height: int, rows: Span) -> RowWork | None:
    """Return how an operator that slides a window over its first input makes `rows`.

    Padding stays where the image ends. None where all that the window covers is padding.

    Args:
        op: the operator.
        window: what one output pixel reads.
        height: rows of the image.
        rows: of the result.
    """
    begin, end = rows
    top = begin * window.stride_h - window.pad_top
    bottom = (end - 1) * window.stride_h - window.pad_top + window.extent[0]
    first, last = max(0, top), min(height, bottom)
    if first >= last:
        return None
    pads = {"pad_top": first - top, "pad_bottom": bottom - last}
    others = (None,) * (len(op.inputs) - 1)
    return RowWork(reads=((first, last), *others), attributes={**op.attributes, **pads})
