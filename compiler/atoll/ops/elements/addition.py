"""ADD: both operands are brought to one scale, added and brought to the result's."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from atoll.ir.expressions import add, binary, clamp, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.isa.instruction_set import SCALAR, Arithmetic
from atoll.ops import checks
from atoll.ops.checks import required
from atoll.ops.elements.elementwise import (
    BINARY_RULES,
    LONG_NEIGHBOURS,
    VALUES,
    Elementwise,
    centred,
    centring,
    entry_of,
    finished,
    large,
    lowered,
)
from atoll.ops.elements.weighted_sum import TabledSum, WeightedSum, tabled_sum, weighted_sum
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Rates
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    Integers,
    activation_range,
    bounds_of,
    mbqm,
    quantize_multiplier,
    scale_of,
    scaled_by,
    zero_point_of,
)
from atoll.ops.tflite_form import TfliteForm, only_activation

ADD_LEFT_SHIFT = 20
RESCALED_CYCLES = 61
"""Cycles of a core for each multiplier of an addition that is no power of two, and element."""

WEIGHTED_CYCLES = 60
"""Cycles of a core for each element of a weighted sum."""

TABLED_CYCLES, AWAY_CYCLES = 80, 19
"""Cycles of a core for each element of a sum of entries of tables, and where its sign counts."""

_POWER_OF_TWO = 2**30
_ALL = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.int64)

Factors = tuple[float, float, float]
"""Real factors of an addition: of the first input, the second one, and the sum."""


def _summed(weights: WeightedSum, limits: tuple[int, int], values: Sequence[Expr]) -> Expr:
    terms = (multiply(values[0], weights.first), multiply(values[1], weights.second))
    total = add(*terms, weights.start)
    return clamp(binary(Operation.SHR, total, weights.places), *limits)


def _looked_up(
    tables: TabledSum, limits: tuple[int, int], builder: KernelBuilder
) -> Callable[[Sequence[Expr]], Expr]:
    """Return what adds entries of tables; those of the first one have the start if they may."""
    order = VALUES.astype(np.int64) - INT8_MIN
    folded = tables.start if tables.away is None else 0
    first = builder.table("first", np.array(tables.first)[order] + folded)
    second = builder.table("second", np.array(tables.second)[order])

    def summed(values: Sequence[Expr]) -> Expr:
        total = add(first[entry_of(values[0])], second[entry_of(values[1])])
        if tables.away is not None:
            total = builder.let("total", total)
            sign = binary(Operation.SHR, total, 31)
            total = add(total, binary(Operation.SHL, sign, tables.away))
        total = add(total, tables.start - folded)
        return clamp(binary(Operation.SHR, total, tables.places), *limits)

    return summed


class Add(Elementwise):
    """ADD with broadcasting: both inputs are brought to one scale with 20 more bits."""

    tflite = TfliteForm(code="ADD", table="AddOptions", fields={0: 1}, read=only_activation)
    rates = Rates(made=80)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two int8 inputs that broadcast to the output."""
        rules = (*BINARY_RULES, checks.factors(lambda op, graph: (add_factors(op, graph)[2],), 0))
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add; either input may be broadcast."""
        left, right = centred(op, graph, inputs)
        return (finished(op, graph, _rescaled(left, right, add_factors(op, graph))),)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the shift of both inputs, and how each and their sum are scaled."""
        names = ("input1", "input2", "output")
        pairs = zip(names, map(quantize_multiplier, add_factors(op, graph)), strict=True)
        found = {"left_shift": ADD_LEFT_SHIFT}
        for name, pair in pairs:
            found |= scaled_by(name, pair)
        return found | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the loop program of cores that multiply."""
        return self.lower_for(op, graph, SCALAR)

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike.

        A weighted sum of the operands takes the place of three rescalings where it gives the
        same bytes, and the core multiplies. Else large tensors are worth tables.
        """
        limits, weights = activation_range(op, graph.results(op)[0]), weighted(op, graph)
        fast = weights and (arithmetic.multiplies or weights.shifts)
        if not fast and large(op, graph) and (tables := tabled(op, graph)):
            return lowered(op, graph, partial(_looked_up, tables, limits))
        if weights:
            return lowered(op, graph, lambda builder: partial(_summed, weights, limits))
        *factors, result = (quantize_multiplier(factor) for factor in add_factors(op, graph))

        def total(terms: Sequence[Expr]) -> Expr:
            shifted = (binary(Operation.SHL, term, ADD_LEFT_SHIFT) for term in terms)
            scaled = [
                loops.mbqm(term, *factor) for term, factor in zip(shifted, factors, strict=True)
            ]
            return loops.mbqm(add(*scaled), *result)

        return lowered(op, graph, centring(op, graph, total), LONG_NEIGHBOURS)

    def cycles(self, op: Operator, graph: Graph) -> int:
        """Count the multipliers with which a core really multiplies."""
        if weighted(op, graph):
            return WEIGHTED_CYCLES * graph.results(op)[0].elements
        if large(op, graph) and (tables := tabled(op, graph)):
            each = TABLED_CYCLES + (0 if tables.away is None else AWAY_CYCLES)
            return each * graph.results(op)[0].elements
        factors = add_factors(op, graph)
        rescalings = sum(quantize_multiplier(factor)[0] != _POWER_OF_TWO for factor in factors)
        made = graph.results(op)[0].elements
        return super().cycles(op, graph) + RESCALED_CYCLES * made * rescalings


def add_factors(op: Operator, graph: Graph) -> Factors:
    """Return the real factors of an addition: first input, second input, output."""
    first, second = (scale_of(required(op, graph, position)) for position in (0, 1))
    twice_max = 2 * max(first, second)
    (output,) = graph.results(op)
    result = twice_max / ((1 << ADD_LEFT_SHIFT) * scale_of(output))
    return first / twice_max, second / twice_max, result


def weighted(op: Operator, graph: Graph) -> WeightedSum | None:
    """Return the weights with which a core adds, None if it rescales each element."""
    (output,) = graph.results(op)
    tensors = (required(op, graph, 0), required(op, graph, 1), output)
    scales, zeros = tuple(map(scale_of, tensors)), tuple(map(zero_point_of, tensors))
    return _weights(add_factors(op, graph), scales, zeros, activation_range(op, output))


def tabled(op: Operator, graph: Graph) -> TabledSum | None:
    """Return the tables with which a core adds where no weights are right."""
    (output,) = graph.results(op)
    tensors = (required(op, graph, 0), required(op, graph, 1), output)
    zeros = tuple(map(zero_point_of, tensors))
    return _tables(add_factors(op, graph), zeros, activation_range(op, output))


@lru_cache(maxsize=1024)
def _weights(
    factors: Factors, scales: tuple[float, ...], zeros: tuple[int, ...], limits: tuple[int, int]
) -> WeightedSum | None:
    expected = _expected(factors, zeros, limits)
    steps = scales[0] / scales[2], scales[1] / scales[2]
    offset = zeros[2] - steps[0] * zeros[0] - steps[1] * zeros[1]
    return weighted_sum(steps, offset, expected, limits)


@lru_cache(maxsize=1024)
def _tables(factors: Factors, zeros: tuple[int, ...], limits: tuple[int, int]) -> TabledSum | None:
    *operands, result = factors
    first, second = (
        mbqm((_ALL - zero) << ADD_LEFT_SHIFT, *quantize_multiplier(factor))
        for zero, factor in zip(zeros, operands, strict=False)
    )
    return tabled_sum((first, second), result, _expected(factors, zeros, limits), limits)


def _expected(factors: Factors, zeros: tuple[int, ...], limits: tuple[int, int]) -> Integers:
    """Return the sum of each pair of values, of -128 first."""
    left, right = _ALL[:, None] - zeros[0], _ALL[None, :] - zeros[1]
    return np.clip(_rescaled(left, right, factors) + zeros[2], *limits)


def _rescaled(left: Integers, right: Integers, factors: Factors) -> Integers:
    """Return steps of the result, less its zero point, for what operands are beyond theirs."""
    *terms, result = map(quantize_multiplier, factors)
    first, second = (
        mbqm(values << ADD_LEFT_SHIFT, *term)
        for values, term in zip((left, right), terms, strict=True)
    )
    return mbqm(first + second, *result)


ADD = Add()
