# SPDX-License-Identifier: Apache-2.0
"""Kinds of one operand that need no function but scaling: QUANTIZE, RELU, LEAKY_RELU, ABS."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, clamp, maximum, multiply, select, subtract
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Expr, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    Result,
    broadcast_shape,
    symmetric_results,
)
from atoll.ops.elements.unary import Scaled, Unary, finish, ratio
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    LIMITS,
    Integers,
    bounds_of,
    factor_values,
    mbqm,
    quantize_multiplier,
    scale_of,
    scaling_of,
    zero_point_of,
)
from atoll.ops.tflite_form import Attributes, Shapes, TfliteForm

FACTOR = "factor"
"""The attribute of a QUANTIZE that is not scaled by the ratio of its scales, but close to it."""

Factor = tuple[int, int]
"""A multiplier and its shift."""


class Quantize(Scaled):
    """QUANTIZE between integer types, scales and zero points (TFLM: `Requantize`)."""

    tflite = TfliteForm(code="QUANTIZE")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an input of the output's shape, and the types that TFLM converts.

        An input of 16 bits may have any zero point, as SOFTMAX makes such values.
        """
        rules = (
            checks.operands(1, 1),
            checks.activations(types=("int8", "int16", "int32")),
            _convertible,
            checks.output_shape(broadcast_shape),
            symmetric_results,
            checks.factors(lambda op, graph: (self.real(op, graph),)),
        )
        checks.apply(rules, op, graph)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return how the result is scaled, and its least and greatest value."""
        factor = quantize_multiplier(self.real(op, graph))
        return factor_values("output", factor) | bounds_of(op, graph)

    def real(self, op: Operator, graph: Graph) -> float:
        """Return the input's scale in units of the output's, or what `FACTOR` says."""
        ratio = scale_of(require_input(op, graph, 0)) / scale_of(graph.results(op)[0])
        return float(op.attributes.get(FACTOR, ratio))  # type: ignore[arg-type]


def _convertible(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    if x.dtype == output.dtype == "int32":
        yield checks.fault(op, "has type int32 as the input has", tensor=output)
    for tensor in (x, output):
        if tensor.quantization is None or len(tensor.quantization.scales) != 1:
            yield checks.fault(op, "is not quantised as a whole", tensor=tensor)


class Relu(Scaled):
    """RELU, which may change scale and zero point (TFLM: `ReluQuantized`)."""

    types = ("int8", "int16")
    tflite = TfliteForm(code="RELU")

    def real(self, op: Operator, graph: Graph) -> float:
        """Return the input's scale in units of the output's."""
        return ratio(op, graph)

    def least(self, op: Operator, graph: Graph) -> int:
        """Return the output's zero point."""
        return zero_point_of(graph.results(op)[0])


class Relu6(Unary):
    """RELU6, which only clamps (TFLM: `Relu6Quantized`)."""

    types = ("int8", "int16")
    tflite = TfliteForm(code="RELU6")
    rules = (checks.same_quantization,)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Clamp to 0 .. 6."""
        return np.clip(values, *self._range(graph.results(op)[0]))

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Clamp likewise."""
        least, greatest = self._range(graph.results(op)[0])
        return lambda values: clamp(values[0], least, greatest)

    def _range(self, output: Tensor) -> tuple[int, int]:
        with np.errstate(over="ignore"):
            six = np.float32(6) / np.float32(scale_of(output))
        zero, greatest = zero_point_of(output), LIMITS[output.dtype][1]
        return zero, min(greatest, zero + int(np.floor(min(six, np.float32(1e6)) + 0.5)))


class Abs(Scaled):
    """ABS (TFLM: `AbsEvalQuantized`)."""

    types = ("int8", "int16")
    tflite = TfliteForm(code="ABS")

    def real(self, op: Operator, graph: Graph) -> float:
        """Return the input's scale in units of the output's."""
        return ratio(op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Scale how far values are from the zero point."""
        (output,) = graph.results(op)
        distance = np.abs(values - zero_point_of(require_input(op, graph, 0)))
        return mbqm(distance, *quantize_multiplier(self.real(op, graph))) + zero_point_of(output)

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Scale likewise."""
        zero, (output,) = zero_point_of(require_input(op, graph, 0)), graph.results(op)
        factor = quantize_multiplier(self.real(op, graph))

        def result(values: Sequence[Expr]) -> Expr:
            centred = subtract(values[0], zero)
            distance = maximum(centred, subtract(0, centred))
            return finish(output, loops.mbqm(distance, *factor))

        return result


def _alpha(options: Any, shapes: Shapes) -> Attributes:
    return {"alpha": float(options.Alpha())}


class LeakyRelu(Unary):
    """LEAKY_RELU (TFLM: `QuantizeLeakyRelu`)."""

    types = ("int8", "int16")
    tflite = TfliteForm(
        code="LEAKY_RELU", table="LeakyReluOptions", may_lack_table=True, fields={0: 4}, read=_alpha
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a quantised input of the output's shape and type, with factors that fit."""
        super().check(op, graph)
        checks.apply((checks.factors(_slopes),), op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Scale by one factor from 0 on, and by another below."""
        identity, alpha, sign = _leak_factors(op, graph)
        centred = values - zero_point_of(require_input(op, graph, 0))
        scaling = scaling_of(op)
        below = sign * scaling(centred, *alpha)
        scaled = np.where(centred >= 0, scaling(centred, *identity), below)
        return scaled + zero_point_of(graph.results(op)[0])

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Scale likewise."""
        identity, alpha, sign = _leak_factors(op, graph)
        zero, (output,) = zero_point_of(require_input(op, graph, 0)), graph.results(op)
        scaling = loops.scaling_of(op)

        def result(values: Sequence[Expr]) -> Expr:
            centred = subtract(values[0], zero)
            below = multiply(scaling(centred, *alpha), sign)
            least = binary(Operation.LE, 0, centred)
            return finish(output, select(least, scaling(centred, *identity), below))

        return result


def _slopes(op: Operator, graph: Graph) -> tuple[float, float]:
    """Return the magnitudes of both factors."""
    alpha = op.attributes["alpha"]
    assert isinstance(alpha, float)
    x, y = (
        np.float32(scale_of(require_input(op, graph, 0))),
        np.float32(scale_of(graph.results(op)[0])),
    )
    with np.errstate(over="ignore", under="ignore"):
        return ratio(op, graph), abs(float(x * np.float32(alpha) / y))


def _leak_factors(op: Operator, graph: Graph) -> tuple[Factor, Factor, int]:
    identity, alpha = map(quantize_multiplier, _slopes(op, graph))
    negative = float(op.attributes["alpha"]) < 0  # type: ignore[arg-type]
    return identity, alpha, -1 if negative else 1


QUANTIZE, RELU, RELU6, ABS, LEAKY_RELU = Quantize(), Relu(), Relu6(), Abs(), LeakyRelu()
