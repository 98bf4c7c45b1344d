# SPDX-License-Identifier: Apache-2.0
"""DIV: quotients of int8 by an inverse of the divisor, and of int32, rounded toward zero."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, binary, cast, maximum, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    LONG_NEIGHBOURS,
    VALUES,
    Elementwise,
    Result,
    centre,
    compute_centred,
    entry_of,
    finish,
    lower_elements,
)
from atoll.ops.elements.numbers import Numbers, of_numbers
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT32_MIN,
    Integers,
    quantize_multiplier,
    rdbp,
    scale_of,
    srdhm,
    zero_point_of,
)
from atoll.ops.reductions.softmax import leading_zeros, one_over_one_plus
from atoll.ops.tflite_form import TfliteForm, only_activation

LEAST_SHIFT, GREATEST_SHIFT = 7, 23
"""Shifts of the result with which TFLM divides every pair of values by 2^0 .. 2^31 at the end."""

_GREATEST = 255
"""The greatest distance of an int8 value from a zero point."""


class Quotient(Elementwise):
    """DIV of int8 (TFLM: `DivElementwise`), where a divisor of 0 counts as one step."""

    tflite = TfliteForm(
        code="DIV", table="DivOptions", may_lack_table=True, fields={0: 1}, read=only_activation
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8 whose quotients TFLM can round."""
        checks.apply((checks.int8_activations(), _check_rounding), op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Multiply by the inverse, with as many bits as fit, then scale."""
        left, right = centre(op, graph, inputs)
        multiplier, shift = quantize_multiplier(_factor(op, graph))
        inverse, places = _inverses(right)
        signed = np.where(right < 0, -left, left)
        headroom = _sign_bits(signed)
        whole = srdhm(signed << headroom, inverse)
        return (finish(op, graph, rdbp(srdhm(whole, multiplier), headroom + places - shift)),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Look the inverse of each divisor up, and how far each dividend is shifted."""
        multiplier, shift = quantize_multiplier(_factor(op, graph))
        distances = np.arange(-_GREATEST, _GREATEST + 1)
        inverse, places = _inverses(VALUES - np.int64(zero_point_of(require_input(op, graph, 1))))

        def prepare(builder: KernelBuilder) -> Result:
            headrooms = builder.table("headroom", _sign_bits(distances), Type.I8)
            inverses = builder.table("inverse", inverse)
            rights = builder.table("places", places - shift, Type.I8)

            def divide(terms: Sequence[Expr]) -> Expr:
                left, right = terms
                negative = binary(Operation.LT, right, 0)
                signed = builder.let("dividend", select(negative, subtract(0, left), left))
                headroom = builder.let("bits", headrooms.wide(add(signed, _GREATEST)))
                entry = entry_of(add(right, zero_point_of(require_input(op, graph, 1))))
                whole = loops.srdhm(binary(Operation.SHL, signed, headroom), inverses[entry])
                high = loops.srdhm(whole, multiplier)
                return loops.rdbp(high, add(headroom, rights.wide(entry)))

            return compute_centred(op, graph, divide)(builder)

        return lower_elements(op, graph, prepare, LONG_NEIGHBOURS)


def _factor(op: Operator, graph: Graph) -> float:
    """Return the real factor of a quotient of steps."""
    first, second = (scale_of(require_input(op, graph, at)) for at in (0, 1))
    return first / (second * scale_of(graph.results(op)[0]))


def _inverses(divisors: Integers) -> tuple[Integers, Integers]:
    """Return (r, e) with 1 / |divisor| = r * 2**-(31 + e), of 0 as of 1 (TFLM: `GetReciprocal`)."""
    magnitudes = np.maximum(np.abs(divisors), 1)
    zeros = leading_zeros(magnitudes)
    return one_over_one_plus((magnitudes << zeros) - (1 << 31)), 31 - zeros


def _sign_bits(values: Integers) -> Integers:
    """Return how many bits of int32 values repeat the sign (TFLM: `CountLeadingSignBits`)."""
    magnitudes = np.where(values < 0, ~values, values)
    return 31 - np.frexp(magnitudes.astype(np.float64))[1].astype(np.int64)


def _check_rounding(op: Operator, graph: Graph) -> Iterator[Fault]:
    factor, (output,) = _factor(op, graph), graph.results(op)
    if not LEAST_SHIFT <= quantize_multiplier(factor)[1] <= GREATEST_SHIFT:
        message = f"scale {scale_of(output):g} makes one step of a quotient of 1 into {factor:g}"
        limit = f"TFLM rounds 2^{LEAST_SHIFT - 1} up to less than 2^{GREATEST_SHIFT} rightly"
        yield checks.fault(op, f"{message}; {limit}", tensor=output)


class Div(Numbers):
    """DIV, of int32 too, where a divisor of 0 counts as 1."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of int8, with factors that TFLM rounds, or of plain int32."""
        checks.apply((_plain,), op, graph)
        super().check(op, graph)


def _plain(op: Operator, graph: Graph) -> Iterator[Fault]:
    for tensor in graph.operands(op):
        if of_numbers(op, graph) and tensor is not None and tensor.quantization is not None:
            yield checks.fault(op, "is quantised; TFLM divides plain int32", tensor=tensor)


def _divide_arrays(left: Integers, right: Integers) -> Array:
    magnitudes = np.abs(left) // np.maximum(np.abs(right), 1)
    return np.where((left < 0) == (right < 0), magnitudes, -magnitudes)


def _divide(left: Expr, right: Expr) -> Expr:
    """Divide by the magnitude, which the least value lacks: its quotients are 0 and 1."""
    negative = binary(Operation.LT, right, 0)
    magnitude = maximum(select(negative, subtract(0, right), right), 1)
    quotient = binary(Operation.DIV, left, magnitude)
    signed = select(negative, subtract(0, quotient), quotient)
    least = cast(binary(Operation.EQ, left, INT32_MIN), Type.I32)
    return select(binary(Operation.EQ, right, INT32_MIN), least, signed)


DIV = Div(Quotient(), _divide_arrays, _divide, types=("int8", "int32"))
