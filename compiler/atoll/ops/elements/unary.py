# SPDX-License-Identifier: Apache-2.0
"""What kinds of one operand share: int8 is looked up, wider types are computed."""

from abc import abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np

from atoll.ir.expressions import add, clamp, subtract
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, PrimFunc
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    LONG_NEIGHBOURS,
    VALUES,
    Elementwise,
    Result,
    broadcast_shape,
    entry_of,
    large,
    lower_elements,
    symmetric,
)
from atoll.ops.kernel_builder import ELEMENT_TYPES, KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    LIMITS,
    Integers,
    quantize_multiplier,
    scale_of,
    scaling_of,
    zero_point_of,
)


class Unary(Elementwise):
    """What depends on one element: of int8 a table of 256 results, of wider types computed.

    Attributes:
        types: of the input, and of the output too.
        rules: of the kind, after those that all have.
        library: functions that what is computed calls.
    """

    types: tuple[str, ...] = ("int8",)
    rules: tuple[checks.Rule, ...] = ()
    library: tuple[PrimFunc, ...] = ()

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept one quantised input of the output's shape and type."""
        rules = (
            checks.operands(1, 1),
            checks.activations(types=self.types),
            checks.same_type(),
            checks.output_shape(broadcast_shape),
            symmetric,
        )
        checks.apply((*rules, *self.rules), op, graph)

    @abstractmethod
    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Return the results of values as they are stored; they are clamped to the type."""

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Return what computes an element of a type that is wider than int8."""
        raise AssertionError(f"{op.name}: {self.types} have tables")

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute every element by itself."""
        (output,) = graph.results(op)
        results = self.results(op, graph, np.asarray(inputs[0], np.int64))
        return (np.clip(results, *LIMITS[output.dtype]).astype(output.dtype),)

    def table(self, op: Operator, graph: Graph) -> Array | None:
        """Return the results of all values of int8."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        if (x.dtype, output.dtype) != ("int8", "int8"):
            return None
        return self.reference(op, graph, (VALUES,))[0]

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output: look int8 up in a table, unless that only moves and clamps it."""
        if require_input(op, graph, 0).dtype != "int8":
            prepare = partial(self.element_expression, op, graph)
            return lower_elements(op, graph, prepare, LONG_NEIGHBOURS, self.library)
        results = self.reference(op, graph, (VALUES,))[0]
        if clamps := find_clamp(results):
            return lower_elements(op, graph, lambda builder: partial(_clamp, clamps))
        return lower_elements(op, graph, partial(_map_values, results))


def find_clamp(results: Array) -> tuple[int, int, int] | None:
    """Return (distance, least, greatest) if results are values moved by a distance and clamped."""
    wide = results.astype(np.int64)
    least, greatest = int(wide.min()), int(wide.max())
    inner = (wide - VALUES)[(wide > least) & (wide < greatest)]
    distance = int(inner[0]) if inner.size else 0
    fits = np.array_equal(np.clip(VALUES.astype(np.int64) + distance, least, greatest), results)
    return (distance, least, greatest) if fits else None


def _clamp(clamps: tuple[int, int, int], values: Sequence[Expr]) -> Expr:
    distance, least, greatest = clamps
    return clamp(add(values[0], distance), least, greatest)


def _map_values(results: Array, builder: KernelBuilder) -> Result:
    table = builder.table("results", results.astype(np.int64), ELEMENT_TYPES[str(results.dtype)])
    return lambda values: table.wide(entry_of(values[0]))


def ratio(op: Operator, graph: Graph) -> float:
    """Return the input's scale in units of the output's, rounded to float32 as TFLM does."""
    x, y = (
        np.float32(scale_of(require_input(op, graph, 0))),
        np.float32(scale_of(graph.results(op)[0])),
    )
    with np.errstate(over="ignore", under="ignore"):
        return float(x / y)


def finish(output: Tensor, scaled: Expr, least: int | None = None) -> Expr:
    """Add the output's zero point and clamp to its type, or from `least` on."""
    low, high = LIMITS[output.dtype]
    low = low if least is None else max(low, least)
    return loops.quantize(scaled, zero_point_of(output), (low, high))


class Scaled(Unary):
    """What multiplies by a factor, and perhaps clamps.

    TFLM: `Requantize`, `ReluQuantized`.
    """

    @abstractmethod
    def real(self, op: Operator, graph: Graph) -> float:
        """Return the factor."""

    def least(self, op: Operator, graph: Graph) -> int:
        """Return the least result."""
        return LIMITS[graph.results(op)[0].dtype][0]

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a quantised input of the output's shape and type, with factors that fit."""
        super().check(op, graph)
        checks.apply((checks.factors(lambda op, graph: (self.real(op, graph),)),), op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Scale what values are beyond the zero point."""
        (output,) = graph.results(op)
        factor = quantize_multiplier(self.real(op, graph))
        scaled = scaling_of(op)(values - zero_point_of(require_input(op, graph, 0)), *factor)
        return np.maximum(scaled + zero_point_of(output), self.least(op, graph))

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Scale likewise."""
        zero, (output,) = zero_point_of(require_input(op, graph, 0)), graph.results(op)
        factor = quantize_multiplier(self.real(op, graph))
        least, scaling = self.least(op, graph), loops.scaling_of(op)

        def result(values: Sequence[Expr]) -> Expr:
            return finish(output, scaling(subtract(values[0], zero), *factor), least)

        return result

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output; only large tensors are worth a table."""
        results = self.reference(op, graph, (VALUES,))[0]
        if large(op, graph) or find_clamp(results):
            return super().lower(op, graph)
        return lower_elements(
            op, graph, partial(self.element_expression, op, graph), LONG_NEIGHBOURS
        )
