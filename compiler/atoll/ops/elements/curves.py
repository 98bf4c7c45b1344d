# SPDX-License-Identifier: Apache-2.0
"""Kinds of one operand that are curves: LOGISTIC, TANH, HARD_SWISH, ELU, RSQRT.

A number "Qi" has i integer bits and 31 - i fractional bits in an int32.
"""

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, maximum, select, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import Result
from atoll.ops.elements.interpolation import Interpolation
from atoll.ops.elements.unary import Unary, finish, ratio
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    LIMITS,
    Integers,
    mbqm,
    near,
    quantize_multiplier,
    rdbp,
    scale_of,
    zero_point_of,
)
from atoll.ops.reductions.l2_normalization import INVERSE_ROOT, inverse_root, inverse_root_of
from atoll.ops.reductions.softmax import (
    LIBRARY,
    exp_on_negative_values,
    inverse_of_half,
    one_over_one_plus,
    shift_left_saturating,
)
from atoll.ops.tflite_form import TfliteForm

INPUT_BITS = 4
LEAST_SCALE, GREATEST_SCALE = 2.0**-27, 2.0**16
GREATEST_WIDE = 2.5
"""Of int16: beyond, the factor of the table's steps leaves 15 bits."""

ROOT_SHIFT = 20
LEAST_ROOT = 2.0**-12
"""Bits that RSQRT has more between its two scalings."""

_INT16 = 2**15


class Sigmoid(Unary):
    """LOGISTIC and TANH: int8 in gemmlowp's fixed point, int16 between entries of a table.

    Attributes:
        scale, zero_point: of an int8 output, as the specification demands.
        places: fractional bits of an int8 output.
        wide: how int16 is computed.
    """

    types = ("int8", "int16")
    scale: float
    zero_point: int
    places: int
    wide: Interpolation

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a quantised input, and an output quantised as the specification demands."""
        super().check(op, graph)
        checks.apply((self._scales,), op, graph)

    @abstractmethod
    def curve(self, x: Integers) -> Integers:
        """Return the results in Q0 of x in Q4."""

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Compute the curve within the range of Q4; beyond it ends."""
        x = require_input(op, graph, 0)
        if x.dtype == "int16":
            return self.wide.results(scale_of(x), values)
        multiplier, shift = quantize_multiplier(scale_of(x) * (1 << (31 - INPUT_BITS)))
        radius = math.floor(((1 << INPUT_BITS) - 1) * 2.0 ** (31 - INPUT_BITS - shift))
        centred = values - zero_point_of(x)
        inside = np.where(np.abs(centred) < radius, centred, 0)
        made = rdbp(self.curve(mbqm(inside, multiplier, min(shift, 31))), 31 - self.places)
        made = np.where(centred >= radius, INT8_MAX, made + self.zero_point)
        return np.where(centred <= -radius, INT8_MIN, made)

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Interpolate between entries of two tables."""
        return self.wide.element_expression(scale_of(require_input(op, graph, 0)), builder)

    def _scales(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        wanted = (self.scale, self.zero_point) if x.dtype == "int8" else (1 / (1 << 15), 0)
        greatest = GREATEST_SCALE if x.dtype == "int8" else GREATEST_WIDE
        if not LEAST_SCALE <= scale_of(x) <= greatest:
            message = f"has scale {scale_of(x):g}, which is outside 2^-27 .. {greatest:g}"
            yield checks.fault(op, message, tensor=x)
        found = scale_of(output)
        fits = found == wanted[0] if x.dtype == "int8" else near(found, wanted[0])
        if not fits or zero_point_of(output) != wanted[1]:
            message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
            remedy = (
                f"quantise the output with scale 1/{1 / wanted[0]:.0f} and zero point {wanted[1]}"
            )
            yield checks.fault(op, message, tensor=output, remedy=remedy)


class Logistic(Sigmoid):
    """LOGISTIC (TFLM: `reference_integer_ops::Logistic`)."""

    tflite = TfliteForm(code="LOGISTIC")
    scale, zero_point, places = 1 / 256, -128, 8
    wide = Interpolation(places=9, shifts=(0,), signed=False)

    def curve(self, x: Integers) -> Integers:
        """Return 1 / (1 + e**-x)."""
        above = one_over_one_plus(exp_on_negative_values(-np.abs(x), INPUT_BITS))
        return np.where(x == 0, 1 << 30, np.where(x > 0, above, INT32_MAX - above))


class Tanh(Sigmoid):
    """TANH (TFLM: `reference_integer_ops::Tanh`)."""

    tflite = TfliteForm(code="TANH")
    scale, zero_point, places = 1 / 128, 0, 7
    wide = Interpolation(places=8, shifts=(0, 1), signed=True)

    def curve(self, x: Integers) -> Integers:
        """Return (1 - e**-2x) / (1 + e**-2x)."""
        power = exp_on_negative_values(-np.abs(x), INPUT_BITS + 1)
        return np.sign(x) * one_minus_over_one_plus(power)


def one_minus_over_one_plus(x: Integers) -> Integers:
    """Return (1 - x) / (1 + x) in Q0, of x in Q0 from 0 on."""
    return shift_left_saturating(inverse_of_half(x) - (1 << 29), 2)


class HardSwish(Unary):
    """HARD_SWISH in 16 bits (TFLM: `reference_ops::HardSwish`)."""

    tflite = TfliteForm(code="HARD_SWISH")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept an int8 input, and an output scale of at least a 128th of its."""
        super().check(op, graph)
        checks.apply((_fine_enough,), op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Multiply x by a share of 0 to 1."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        fine = np.float32(1 / 128) * np.float32(scale_of(x))
        factor, shift = _short(float(fine / np.float32(scale_of(output))))
        share_factor, share_shift = _short(float(fine / (np.float32(3) / np.float32(32768))))
        wide = (values - zero_point_of(x)).astype(np.int64) << 7
        wide = (wide + _INT16) % (2 * _INT16) - _INT16
        share = wide
        if share_shift > 0:
            share = _saturate(share << min(share_shift - 1, 32))
        share = _high_half(share, share_factor)
        if share_shift > 0:
            share = _saturate(share << 1)
        if share_shift < 0:
            share = _short_rdbp(share, -share_shift)
        product = ((share + _INT16) >> 1) * _high_half(wide, factor)
        high = np.sign(product) * (np.abs(product) >> 15)
        return _short_rdbp(high, -shift) + zero_point_of(output)


def _short(real: float) -> tuple[int, int]:
    """Split a factor as `quantize_multiplier` does, with 15 bits."""
    multiplier, shift = quantize_multiplier(real)
    return min((multiplier + _INT16) >> 16, _INT16 - 1), shift


def _high_half(a: Integers, b: int) -> Integers:
    """Return the high half of 2 * a * b of int16, rounded; b is no least value."""
    product = a * b
    nudged = product + np.where(product >= 0, 2**14, 1 - 2**14)
    high: Integers = np.sign(nudged) * (np.abs(nudged) >> 15)
    return high


def _short_rdbp(x: Integers, exponent: int) -> Integers:
    """Divide int16 as `rdbp` does, but from 2**16 on as gemmlowp, whose mask has 16 bits there."""
    return rdbp(x, exponent) if exponent < 16 else np.where(x >= 0, 1, -1)


def _saturate(x: Integers) -> Integers:
    return np.clip(x, -_INT16, _INT16 - 1)


def _fine_enough(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    with np.errstate(over="ignore", under="ignore"):
        fine = np.float32(1 / 128) * np.float32(scale_of(x))
        factor = float(fine / np.float32(scale_of(output)))
    if not 0 < factor < 1 or quantize_multiplier(factor)[1] > 0:
        message = f"scale {scale_of(output):g} is not above 1/128 of that of the input"
        yield checks.fault(op, message, tensor=output)
    yield from _usual(op, graph)


def _usual(op: Operator, graph: Graph) -> Iterator[Fault]:
    for tensor in (require_input(op, graph, 0), *graph.results(op)):
        if not LEAST_SCALE <= scale_of(tensor) <= GREATEST_SCALE:
            message = f"has scale {scale_of(tensor):g}, which is outside 2^-27 .. 2^16"
            yield checks.fault(op, message, tensor=tensor)


class Elu(Unary):
    """ELU with a slope of 1 at 0, in float32 (TFLM: `PopulateLookupTable`)."""

    tflite = TfliteForm(code="ELU")
    rules = (_usual, checks.factors(lambda op, graph: (ratio(op, graph),), 20))

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Return e**x - 1 below 0, x from there on."""
        x, (output,) = require_input(op, graph, 0), graph.results(op)
        real = np.float32(scale_of(x)) * (values - zero_point_of(x)).astype(np.float32)
        power = np.exp(np.minimum(real, 0).astype(np.float64)).astype(np.float32)
        curve = np.where(real < 0, power - np.float32(1), real)
        scaled = curve * (np.float32(1) / np.float32(scale_of(output)))
        rounded = np.sign(scaled) * np.floor(np.abs(scaled).astype(np.float64) + 0.5)
        return rounded.astype(np.int64) + zero_point_of(output)


class Rsqrt(Unary):
    """RSQRT; below 0, where TFLM ends the run, it is as large as at 0.

    TFLM: `RsqrtEvalQuantized`, `GetInvSqrtQuantizedMultiplierExp`.
    """

    tflite = TfliteForm(code="RSQRT")
    types = ("int8", "int16")
    library = (*LIBRARY, INVERSE_ROOT)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a quantised input of the output's shape and type, with factors that fit."""
        super().check(op, graph)
        checks.apply((checks.factors(_root_factor, 31), _root_not_lost), op, graph)

    def results(self, op: Operator, graph: Graph, values: Integers) -> Integers:
        """Take the inverse root of how far values are from the zero point, then scale it."""
        centred = values - zero_point_of(require_input(op, graph, 0))
        root, right = inverse_root(np.maximum(centred, 1))
        (factor,) = _root_factor(op, graph)
        multiplier, shift = quantize_multiplier(factor)
        fine = mbqm(np.ones_like(centred), root, ROOT_SHIFT - right)
        scaled = mbqm(fine, multiplier, shift - ROOT_SHIFT)
        (output,) = graph.results(op)
        return np.where(centred > 0, scaled + zero_point_of(output), LIMITS[output.dtype][1])

    def element_expression(self, op: Operator, graph: Graph, builder: KernelBuilder) -> Result:
        """Do the same to an element of int16."""
        (factor,), (output,) = _root_factor(op, graph), graph.results(op)
        multiplier, shift = quantize_multiplier(factor)

        def result(values: Sequence[Expr]) -> Expr:
            value = builder.let("value", values[0])
            root, right = inverse_root_of(builder, maximum(value, 1))
            fine = loops.mbqm(Const(1), root, subtract(ROOT_SHIFT, right))
            scaled = finish(output, loops.mbqm(fine, multiplier, shift - ROOT_SHIFT))
            return select(binary(Operation.LT, 0, value), scaled, LIMITS[output.dtype][1])

        return result


def _root_factor(op: Operator, graph: Graph) -> tuple[float]:
    x, y = (
        np.float32(scale_of(require_input(op, graph, 0))),
        np.float32(scale_of(graph.results(op)[0])),
    )
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        return (float(np.float64(1) / np.float64(np.sqrt(x) * y)),)


def _root_not_lost(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require a shift of at most 31 to the right; TFLM's is undefined beyond."""
    (factor,), (output,) = _root_factor(op, graph), graph.results(op)
    if factor < LEAST_ROOT:
        message = f"scale {scale_of(output):g} needs a factor of {factor:g}, the least is 2^-12"
        yield checks.fault(op, message, tensor=output)


LOGISTIC, TANH, HARD_SWISH, ELU, RSQRT = Logistic(), Tanh(), HardSwish(), Elu(), Rsqrt()
