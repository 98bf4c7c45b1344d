# SPDX-License-Identifier: Apache-2.0
"""REDUCE_MAX, REDUCE_MIN, REDUCE_ALL, ARG_MAX, ARG_MIN: the greatest or least, and its place."""

from typing import ClassVar

import numpy as np

from atoll.ir.expressions import binary, maximum, minimum, select
from atoll.ir.graph import ITEM_BYTES, Graph, Operator
from atoll.ir.tir import Expr, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Distances
from atoll.ops.overlap import MOST_PIXELS, useful
from atoll.ops.quantization import INT8_MAX, INT8_MIN, Integers
from atoll.ops.reductions.reduction import Reduction, Values, axes_of, one_axis, rules
from atoll.ops.reductions.sums import form
from atoll.ops.tflite_form import TfliteForm


class Extreme(Reduction):
    """REDUCE_MAX and REDUCE_MIN; TFLM: `EvalMinMaxHelper`."""

    greatest: ClassVar[bool]

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8, constant axes, and a result that is quantised as the input is."""
        int8 = checks.int8_activations(0)
        checks.apply((*rules(int8), checks.same_quantization), op, graph)

    def reduce(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Keep the greatest or the least."""
        choose = np.max if self.greatest else np.min
        result: Integers = choose(values, axis=axes_of(op, graph))
        return result

    def result(self, op: Operator, graph: Graph, builder: KernelBuilder, values: Values) -> Expr:
        """Compare all."""
        best = builder.allocate("best", Type.I32, 1)
        best[0] = INT8_MIN if self.greatest else INT8_MAX
        with values() as (value, _):
            best[0] = (maximum if self.greatest else minimum)(best[0], value)
        return best[0]


class ReduceAll(Extreme):
    """REDUCE_ALL: the least of truth values; TFLM: `EvalReduceAll`."""

    tflite = form("REDUCE_ALL")
    greatest = False

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept truth values and constant axes."""
        checks.apply(rules(checks.activations(0, types=("bool",))), op, graph)


class Arg(Reduction):
    """ARG_MAX and ARG_MIN: of equal values the first counts; TFLM: `ArgMinMax`."""

    greatest: ClassVar[bool]

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8, one constant axis, and an int32 result."""
        types = checks.activations(0, types=("int8",), results=("int32",))
        checks.apply((checks.operands(2, 2), one_axis, *rules(types)), op, graph)

    def reduce(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Return where along the axis the first of the greatest or least values is."""
        choose = np.argmax if self.greatest else np.argmin
        (axis,) = axes_of(op, graph)
        result: Integers = choose(values, axis=axis)
        return result

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep what later results need: results are larger than values."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        if x.elements > MOST_PIXELS:
            return (None, None)
        first = np.arange(x.elements).reshape(x.shape).min(axis=axes_of(op, graph)).reshape(-1)
        later = np.minimum.accumulate(first[::-1])[::-1][1:] * ITEM_BYTES[x.dtype]
        ends = np.arange(1, first.size) * ITEM_BYTES[output.dtype]
        distance = max(0, int((ends - later).max(initial=0)))
        return (useful(distance, output.size), None)

    def result(self, op: Operator, graph: Graph, builder: KernelBuilder, values: Values) -> Expr:
        """Compare all; the first one is better than what there is before it."""
        best, place = (builder.allocate(name, Type.I32, 1) for name in ("best", "place"))
        best[0] = INT8_MIN - 1 if self.greatest else INT8_MAX + 1
        place[0] = 0
        with values() as (value, number):
            here = builder.let("value", value)
            pair = (best[0], here) if self.greatest else (here, best[0])
            better = builder.let("better", binary(Operation.LT, *pair))
            place[0] = select(better, number, place[0])
            best[0] = select(better, here, best[0])
        return place[0]


class ReduceMax(Extreme):
    """REDUCE_MAX."""

    tflite = form("REDUCE_MAX")
    greatest = True


class ReduceMin(Extreme):
    """REDUCE_MIN."""

    tflite = form("REDUCE_MIN")
    greatest = False


class ArgMax(Arg):
    """ARG_MAX."""

    tflite = TfliteForm(code="ARG_MAX", constants={1: "axis"})
    greatest = True


class ArgMin(Arg):
    """ARG_MIN."""

    tflite = TfliteForm(code="ARG_MIN", constants={1: "axis"})
    greatest = False


REDUCE_ALL = ReduceAll()
REDUCE_MAX = ReduceMax()
REDUCE_MIN = ReduceMin()
ARG_MAX = ArgMax()
ARG_MIN = ArgMin()
