# SPDX-License-Identifier: Apache-2.0
"""DYNAMIC_UPDATE_SLICE: an input, with another one in the place of some of it."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from math import prod

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import Operand, add, clamp, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.moves.movement import Movement, move
from atoll.ops.moves.strided import row_major
from atoll.ops.tflite_form import TfliteForm

MOST_DIMENSIONS = 5


class DynamicUpdateSlice(Movement):
    """DYNAMIC_UPDATE_SLICE; where the update begins is drawn in, so that it fits.

    TFLM: `EvalImpl`. The operand is copied, or lies where the result does; then the update is
    written in rows.
    """

    tflite = TfliteForm(code="DYNAMIC_UPDATE_SLICE", constants={2: "begin"})

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an update that is not larger than the operand, and int32 indices."""
        rules = (
            checks.operands(3, 3),
            checks.activations(0, 1, types=("int8", "int16", "int32")),
            checks.same_type(0, 1),
            _check_fit,
            checks.same_quantization,
            checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Replace a part of the operand."""
        operand, update, begin = (np.asarray(each) for each in inputs)
        room = np.array(operand.shape) - update.shape
        first = np.minimum(np.maximum(begin.astype(np.int64), 0), room)
        made = operand.copy()
        pairs = zip(first.tolist(), update.shape, strict=True)
        made[tuple(slice(start, start + extent) for start, extent in pairs)] = update
        return (made,)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Copy the operand unless the update covers it, then the rows of the update."""
        whole, part = require_input(op, graph, 0).shape, require_input(op, graph, 1).shape
        builder = KernelBuilder(op, graph)
        x, update = builder.input(0, "x"), builder.input(1, "update")
        first = _first(op, graph, builder)
        y, steps = builder.output(), row_major(whole)
        if whole != part:
            move(builder, y, 0, x, 0, prod(whole))
        split = next((at for at in reversed(range(len(part))) if part[at] != whole[at]), 0)
        size = prod(part[split:])
        target = [multiply(at, step) for at, step in zip(first, steps, strict=True)]
        source: list[Operand] = [0]
        with ExitStack() as loops:
            for at, inner in enumerate(row_major(part)[:split]):
                i = loops.enter_context(builder.loop(f"i{at}", 0, part[at]))
                target.append(multiply(i, steps[at]))
                source.append(multiply(i, inner))
            begins = builder.let("target", add(*target)), builder.let("source", add(*source))
            move(builder, y, begins[0], update, begins[1], size)
        return builder.lowered()


def _first(op: Operator, graph: Graph, builder: KernelBuilder) -> list[Operand]:
    """Return where the update begins along each dimension."""
    whole, part, begin = (require_input(op, graph, position) for position in range(3))
    room = [large - small for large, small in zip(whole.shape, part.shape, strict=True)]
    if begin.data is not None:
        given = begin.array.astype(np.int64).tolist()
        return [min(max(at, 0), most) for at, most in zip(given, room, strict=True)]
    indices = builder.input(2, "begin")
    return [
        builder.let(f"first{at}", clamp(indices.wide(at), 0, most)) if most else 0
        for at, most in enumerate(room)
    ]


def _check_fit(op: Operator, graph: Graph) -> Iterator[Fault]:
    whole, part, begin = (require_input(op, graph, position) for position in range(3))
    dimensions = len(whole.shape)
    known = ("int32", "int64") if begin.data is not None else ("int32",)
    if begin.dtype not in known:
        message = f"has type {begin.dtype} instead of {' or '.join(known)}"
        yield checks.fault(op, message, tensor=begin)
    elif begin.shape != (dimensions,):
        message = f"has shape {list(begin.shape)} instead of {[dimensions]}"
        yield checks.fault(op, message, tensor=begin)
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        message = f"has {dimensions} dimensions where 1 to {MOST_DIMENSIONS} are supported"
        yield checks.fault(op, message, tensor=whole)
    elif len(part.shape) != dimensions or any(
        small > large for small, large in zip(part.shape, whole.shape, strict=True)
    ):
        message = f"has shape {list(part.shape)}, which is no part of {list(whole.shape)}"
        yield checks.fault(op, message, tensor=part)


DYNAMIC_UPDATE_SLICE = DynamicUpdateSlice()
