# SPDX-License-Identifier: Apache-2.0
"""CUMSUM: sums of all values up to each one along an axis."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from atoll.ir.expressions import add, binary, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    factor_values,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.reductions.reduction import axes_of, one_axis, valid_axes
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm

HEADROOM = 19
"""Bits that values are shifted up before they are added; sums wrap at 32."""


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"exclusive": bool(options.Exclusive()), "reverse": bool(options.Reverse())}


class Cumsum(OperatorKind):
    """CUMSUM; `exclusive` leaves the value itself out, `reverse` begins at the end.

    Sums begin with minus the input's zero point, as those of TFLM do (`CumSum` of int8).
    """

    tflite = TfliteForm(
        code="CUMSUM",
        table="CumsumOptions",
        may_lack_table=True,
        fields={0: 1, 1: 1},
        read=_options,
        constants={1: "axis"},
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 and one constant axis."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how many values are added up; there are no multiply-accumulates."""
        (axis,) = axes_of(op, graph)
        return {"macs": 0, "depth": require_input(op, graph, 0).shape[axis]}

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how sums are scaled."""
        return factor_values("output", quantize_multiplier(*_factor(op, graph)))

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add up, and scale each sum."""
        x, (output,), (axis,) = require_input(op, graph, 0), graph.results(op), axes_of(op, graph)
        zero = zero_point_of(x)
        values = np.moveaxis(np.asarray(inputs[0], np.int64) - zero, axis, -1)
        values = values[..., ::-1] if op.attributes["reverse"] else values
        sums = values.cumsum(axis=-1) - (values if op.attributes["exclusive"] else 0) - zero
        wrapped = (sums.astype(np.int64) << HEADROOM).astype(np.int32)
        scaled = mbqm(wrapped, *quantize_multiplier(*_factor(op, graph))) + zero_point_of(output)
        result = np.clip(scaled, INT8_MIN, INT8_MAX).astype(np.int8)
        result = result[..., ::-1] if op.attributes["reverse"] else result
        return (np.ascontiguousarray(np.moveaxis(result, -1, axis)),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place where elements are made in their order."""
        shape, (axis,) = require_input(op, graph, 0).shape, axes_of(op, graph)
        ordered = prod(shape[axis + 1 :]) == 1 and not op.attributes["reverse"]
        return (0 if ordered else None, None)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the lines along the axis."""
        source, (output,), (axis,) = (
            graph.tensor(op.inputs[0]),
            graph.results(op),
            axes_of(op, graph),
        )
        depth, inner = source.shape[axis], prod(source.shape[axis + 1 :])
        zero, factor = zero_point_of(source), quantize_multiplier(*_factor(op, graph))
        builder = KernelBuilder(op, graph)
        x, y = builder.input(0, "x"), builder.output()
        with (
            builder.loop("outer", 0, prod(source.shape[:axis])) as outer,
            builder.loop("inner", 0, inner) as line,
        ):
            base = builder.let("base", add(multiply(outer, depth * inner), line))
            total = builder.allocate("total", Type.I32, 1)
            total[0] = -zero << HEADROOM
            with builder.loop("i", 0, depth) as i:
                step = subtract(depth - 1, i) if op.attributes["reverse"] else i
                place = builder.let("place", add(base, multiply(step, inner)))
                centred = subtract(x.wide(place), zero)
                value = builder.let("value", binary(Operation.SHL, centred, HEADROOM))
                before = builder.let("before", total[0])
                total[0] = add(before, value)
                counted = before if op.attributes["exclusive"] else total[0]
                scaled = loops.mbqm(counted, *factor)
                y[place] = loops.quantize(scaled, zero_point_of(output), (INT8_MIN, INT8_MAX))
        return builder.lowered()


def _factor(op: Operator, graph: Graph) -> tuple[float]:
    twice = 2 * scale_of(require_input(op, graph, 0))
    return (twice / ((1 << HEADROOM + 1) * scale_of(graph.results(op)[0])),)


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32"),
    one_axis,
    valid_axes,
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    checks.factors(_factor, 0),
)

CUMSUM = Cumsum()
