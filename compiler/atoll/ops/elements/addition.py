# SPDX-License-Identifier: Apache-2.0
"""ADD and SUB: both operands are brought to one scale, added and brought to the result's."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, binary, clamp, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.isa.instruction_set import SCALAR, Arithmetic
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    BINARY_RULES,
    LONG_NEIGHBOURS,
    VALUES,
    Elementwise,
    centre,
    compute_centred,
    entry_of,
    finish,
    large,
    lower_elements,
)
from atoll.ops.elements.numbers import Numbers
from atoll.ops.elements.weighted_sum import TabledSum, WeightedSum, tabled_sum, weighted_sum
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.register_tiles import block_for
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    Integers,
    activation_range,
    bounds_of,
    factor_values,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.tflite_form import TfliteForm, only_activation

ADD_LEFT_SHIFT = 20
"""Bits that int8 operands have more while they are added."""

_PLACES = {"int8": ADD_LEFT_SHIFT, "int16": 15}
_ALL = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.int64)

Factors = tuple[float, float, float]
"""Real factors of an addition: of the first input, the second one, and the sum."""

How = tuple[int, int]
"""The sign of the second operand, and the bits that both have more while they are added."""


def _sum(weights: WeightedSum, limits: tuple[int, int], values: Sequence[Expr]) -> Expr:
    terms = (multiply(values[0], weights.first), multiply(values[1], weights.second))
    total = add(*terms, weights.start)
    return clamp(binary(Operation.SHR, total, weights.places), *limits)


def _make_adder(
    tables: TabledSum, limits: tuple[int, int], builder: KernelBuilder
) -> Callable[[Sequence[Expr]], Expr]:
    """Return what adds entries of tables; those of the first one have the start if they may."""
    order = VALUES.astype(np.int64) - INT8_MIN
    folded = tables.start if tables.away is None else 0
    first = builder.table("first", np.array(tables.first)[order] + folded)
    second = builder.table("second", np.array(tables.second)[order])

    def add_entries(values: Sequence[Expr]) -> Expr:
        total = add(first[entry_of(values[0])], second[entry_of(values[1])])
        if tables.away is not None:
            total = builder.let("total", total)
            sign = binary(Operation.SHR, total, 31)
            total = add(total, binary(Operation.SHL, sign, tables.away))
        total = add(total, tables.start - folded)
        return clamp(binary(Operation.SHR, total, tables.places), *limits)

    return add_entries


class Add(Elementwise):
    """ADD with broadcasting: both inputs are brought to one scale with 20 or 15 more bits."""

    tflite = TfliteForm(
        code="ADD", table="AddOptions", may_lack_table=True, fields={0: 1}, read=only_activation
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8 or int16 that broadcast to the output."""
        rules = (*BINARY_RULES, checks.factors(lambda op, graph: (add_factors(op, graph)[2],), 0))
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add; either input may be broadcast."""
        left, right = centre(op, graph, inputs)
        return (finish(op, graph, _rescale(left, right, add_factors(op, graph), _how(op, graph))),)

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the shift of both inputs, and how each and their sum are scaled."""
        names = ("input1", "input2", "output")
        pairs = zip(names, map(quantize_multiplier, add_factors(op, graph)), strict=True)
        found = {"left_shift": _how(op, graph)[1]}
        for name, pair in pairs:
            found |= factor_values(name, pair)
        return found | bounds_of(op, graph)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the loop program of cores that multiply."""
        return self.lower_for(op, graph, SCALAR)

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike.

        A weighted sum of the operands takes the place of three rescalings where it gives the
        same bytes, and the core multiplies. Else large tensors are worth tables. Vectors make an
        element of the sum in each lane.
        """
        limits, weights = activation_range(op, graph.results(op)[0]), weighted_sum_of(op, graph)
        if weights and block_for(arithmetic).strips and _are_alike(op, graph):
            return _lower_in_lanes(op, graph, weights, limits)
        fast = weights and (arithmetic.multiplies or weights.shifts)
        if not fast and large(op, graph) and (tables := tabled_sum_of(op, graph)):
            return lower_elements(op, graph, partial(_make_adder, tables, limits))
        if weights:
            return lower_elements(op, graph, lambda builder: partial(_sum, weights, limits))
        *factors, result = (quantize_multiplier(factor) for factor in add_factors(op, graph))
        sign, places = _how(op, graph)

        def total(terms: Sequence[Expr]) -> Expr:
            shifted = (binary(Operation.SHL, term, places) for term in terms)
            first, second = (
                loops.mbqm(term, *factor) for term, factor in zip(shifted, factors, strict=True)
            )
            summed = add(first, second) if sign > 0 else subtract(first, second)
            return loops.mbqm(summed, *result)

        return lower_elements(op, graph, compute_centred(op, graph, total), LONG_NEIGHBOURS)


def _are_alike(op: Operator, graph: Graph) -> bool:
    """Tell whether nothing is broadcast."""
    (output,) = graph.results(op)
    tensors = [require_input(op, graph, position) for position in (0, 1)]
    return all((each.shape, each.layout) == (output.shape, output.layout) for each in tensors)


def _lower_in_lanes(
    op: Operator, graph: Graph, weights: WeightedSum, limits: tuple[int, int]
) -> Lowered:
    builder = KernelBuilder(op, graph)
    first, second = builder.input(0, "a"), builder.input(1, "b")
    y, (output,) = builder.output(), graph.results(op)
    with builder.loop("lane", 0, output.stored, vectorized=True) as lane:
        y[lane] = _sum(weights, limits, (first.wide(lane), second.wide(lane)))
    return builder.lowered()


def add_factors(op: Operator, graph: Graph) -> Factors:
    """Return the real factors of an addition: first input, second input, output."""
    first, second = (scale_of(require_input(op, graph, position)) for position in (0, 1))
    sign, places = _how(op, graph)
    exact: Callable[[float], float] = float if sign > 0 else _float32
    (output,) = graph.results(op)
    twice_max = exact(2 * max(first, second))
    result = exact(twice_max / exact((1 << places) * scale_of(output)))
    return exact(first / twice_max), exact(second / twice_max), result


def _float32(value: float) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(value))


def _how(op: Operator, graph: Graph) -> How:
    """Return the sign of the second operand, and the bits that both have more."""
    return (-1 if op.kind == "sub" else 1), _PLACES[graph.results(op)[0].dtype]


def weighted_sum_of(op: Operator, graph: Graph) -> WeightedSum | None:
    """Return the weights with which a core adds, None if it rescales each element."""
    (output,) = graph.results(op)
    tensors = (require_input(op, graph, 0), require_input(op, graph, 1), output)
    if output.dtype != "int8":
        return None
    scales, zeros = tuple(map(scale_of, tensors)), tuple(map(zero_point_of, tensors))
    limits, how = activation_range(op, output), _how(op, graph)
    return _weights(add_factors(op, graph), scales, zeros, limits, how)


def tabled_sum_of(op: Operator, graph: Graph) -> TabledSum | None:
    """Return the tables with which a core adds where no weights are right."""
    (output,) = graph.results(op)
    tensors = (require_input(op, graph, 0), require_input(op, graph, 1), output)
    if output.dtype != "int8":
        return None
    zeros, limits = tuple(map(zero_point_of, tensors)), activation_range(op, output)
    return _tables(add_factors(op, graph), zeros, limits, _how(op, graph))


@lru_cache(maxsize=1024)
def _weights(
    factors: Factors,
    scales: tuple[float, ...],
    zeros: tuple[int, ...],
    limits: tuple[int, int],
    how: How,
) -> WeightedSum | None:
    expected = _expected_sums(factors, zeros, limits, how)
    steps = scales[0] / scales[2], how[0] * scales[1] / scales[2]
    offset = zeros[2] - steps[0] * zeros[0] - steps[1] * zeros[1]
    return weighted_sum(steps, offset, expected, limits)


@lru_cache(maxsize=1024)
def _tables(
    factors: Factors, zeros: tuple[int, ...], limits: tuple[int, int], how: How
) -> TabledSum | None:
    *operands, result = factors
    first, second = (
        mbqm((_ALL - zero) << how[1], *quantize_multiplier(factor))
        for zero, factor in zip(zeros, operands, strict=False)
    )
    expected = _expected_sums(factors, zeros, limits, how)
    return tabled_sum((first, how[0] * second), result, expected, limits)


def _expected_sums(
    factors: Factors, zeros: tuple[int, ...], limits: tuple[int, int], how: How
) -> Integers:
    """Return the sum of each pair of values, of -128 first."""
    left, right = _ALL[:, None] - zeros[0], _ALL[None, :] - zeros[1]
    return np.clip(_rescale(left, right, factors, how) + zeros[2], *limits)


def _rescale(left: Integers, right: Integers, factors: Factors, how: How) -> Integers:
    """Return steps of the result, less its zero point, for what operands are beyond theirs."""
    *terms, result = map(quantize_multiplier, factors)
    first, second = (
        mbqm(values << how[1], *term) for values, term in zip((left, right), terms, strict=True)
    )
    return mbqm(first + how[0] * second, *result)


class Sub(Add):
    """SUB, whose factors are rounded to float32 as TFLM does."""

    tflite = TfliteForm(
        code="SUB", table="SubOptions", may_lack_table=True, fields={0: 1}, read=only_activation
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8 or int16 that broadcast, with factors that float32 holds."""
        super().check(op, graph)
        checks.apply((_above_zero,), op, graph)


def _above_zero(op: Operator, graph: Graph) -> Iterator[Fault]:
    if not min(add_factors(op, graph)) > 0:
        message = "its scales are too far apart for factors of float32"
        yield checks.fault(op, message, tensor=graph.results(op)[0])


ADD = Numbers(Add(), np.add, add, clamped=False, sums=True)
SUB = Numbers(Sub(), np.subtract, subtract, sums=True)
