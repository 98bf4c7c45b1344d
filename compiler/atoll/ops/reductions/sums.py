# SPDX-License-Identifier: Apache-2.0
"""MEAN and SUM over constant axes: one multiplication requantises, and divides by the count."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from atoll.ir.expressions import add, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    Integers,
    activation_range,
    factor_values,
    quantize_multiplier,
    scale_of,
    scaling_of,
    zero_point_of,
)
from atoll.ops.reductions.reduction import Reduction, Values, axes_of, reduced_elements, rules
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm


def options(options: Any, shapes: Shapes) -> Attributes:
    """Return whether dimensions stay, with extent 1."""
    return {"keep_dims": bool(options.KeepDims())}


def form(code: str) -> TfliteForm:
    """Return how files hold a reduction."""
    return TfliteForm(
        code=code,
        table="ReducerOptions",
        may_lack_table=True,
        fields={0: 1},
        read=options,
        constants={1: "axes"},
    )


class ScaledSum(Reduction):
    """What the two share (TFLM: `QuantizedMeanOrSum`); a subclass says how sums are scaled."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16, and constant axes."""
        types = checks.activations(0, types=checks.QUANTIZED)
        checks.apply((*rules(types), checks.same_type(), checks.factors(_factor)), op, graph)

    @abstractmethod
    def scaling(self, op: Operator, graph: Graph) -> tuple[int, int]:
        """Return (multiplier, shift) that turn a sum into a result."""

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how sums are scaled."""
        return factor_values("output", self.scaling(op, graph))

    def reduce(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Scale the sums of the values less their zero point."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        sums = (values - zero_point_of(x)).sum(axis=axes_of(op, graph))
        scaled = scaling_of(op)(sums, *self.scaling(op, graph)) + zero_point_of(output)
        return np.clip(scaled, *activation_range(op, output))

    def result(self, op: Operator, graph: Graph, builder: KernelBuilder, values: Values) -> Expr:
        """Sum up, and scale once."""
        total = builder.allocate("total", Type.I32, 1)
        total[0] = 0
        with values() as (value, _):
            total[0] = add(total[0], subtract(value, zero_point_of(require_input(op, graph, 0))))
        scaled = loops.scaling_of(op)(total[0], *self.scaling(op, graph))
        (output,) = graph.results(op)
        return loops.quantize(scaled, zero_point_of(output), activation_range(op, output))


class Mean(ScaledSum):
    """MEAN."""

    tflite = form("MEAN")

    def scaling(self, op: Operator, graph: Graph) -> tuple[int, int]:
        """Requantise and divide by the count."""
        multiplier, shift = quantize_multiplier(*_factor(op, graph))
        count = reduced_elements(op, graph)
        gain = min(count.bit_length() - 1, 32, 31 + shift)
        return (multiplier << gain) // count, shift - gain


class Sum(ScaledSum):
    """SUM."""

    tflite = form("SUM")

    def scaling(self, op: Operator, graph: Graph) -> tuple[int, int]:
        """Requantise."""
        return quantize_multiplier(*_factor(op, graph))


def _factor(op: Operator, graph: Graph) -> tuple[float]:
    (output,) = graph.results(op)
    return (scale_of(require_input(op, graph, 0)) / scale_of(output),)


MEAN = Mean()
SUM = Sum()
