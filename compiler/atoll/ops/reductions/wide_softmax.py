# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX of int16: exponentials and the inverse of their sum lie between entries of two tables."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, binary, clamp, minimum, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Call, Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, Distances
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    LIMITS,
    Integers,
    mbqm,
    near,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.reductions.by_row import greatest_of
from atoll.ops.reductions.softmax import LIBRARY, Softmax, leading_zeros
from atoll.resolve.storage_scope import GLOBAL

ENTRIES, PLACES = 512, 7
"""Steps of a table, and the bits of an input between two entries."""

RANGE = 10.0
"""Exponents down to minus this are told apart."""

GREATEST_FACTOR = 2.0**15
"""Of a distance, so that 65535 times it fits an int32."""

GREATEST_DEPTH = 2**16
"""Elements of a row whose exponentials have a sum of int32."""

OUTPUT_SCALE = 1 / 32768
_LOW, _HIGH = LIMITS["int16"]
_SPAN = _HIGH - _LOW

Reals = NDArray[np.float32]


class WideSoftmax(Softmax):
    """SOFTMAX of int8 and of int16 (TFLM: `SoftmaxInt16`, `LUTPopulate`, `LUTLookup`)."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16, and an output quantised as the specification demands."""
        checks.apply(_TYPES, op, graph)
        if _is_wide(op, graph):
            checks.apply(_RULES, op, graph)
        else:
            super().check(op, graph)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Let the output take the input's place: an element is read before it is written."""
        return (0,) if _is_wide(op, graph) else super().overlap(op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the softmax of each row."""
        if not _is_wide(op, graph):
            return super().reference(op, graph, inputs)
        values = np.asarray(inputs[0], np.int64)
        distances = values - values.max(axis=-1, keepdims=True)
        scaled = mbqm(distances, *quantize_multiplier(_factor(op, graph))) + _HIGH
        powers = _interpolate(exponentials(), np.clip(scaled, _LOW, _HIGH))
        total = powers.sum(axis=-1, keepdims=True)
        zeros = leading_zeros(total)
        share = ((total << (zeros - 1)) + (1 << 13)) >> 14
        inverse = _interpolate(inverses(), np.clip(share - (3 << 15), _LOW, _HIGH))
        right = 31 - zeros
        made = (powers * inverse + (1 << (right - 1))) >> right
        return (np.clip(made, 0, _HIGH).astype(np.int16),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Compute each exponential once and keep it."""
        if not _is_wide(op, graph):
            return super().lower(op, graph)
        source, factor = require_input(op, graph, 0), quantize_multiplier(_factor(op, graph))
        depth, builder = source.shape[-1], KernelBuilder(op, graph)
        x = builder.input(0, "x")
        curve = builder.table("exponentials", exponentials(), Type.I16)
        inverse_of = builder.table("inverses", inverses(), Type.I16)
        y = builder.output()
        powers = builder.allocate("powers", Type.I16, depth, scope=GLOBAL)
        with builder.loop("row", 0, source.elements // depth) as row:
            base = builder.let("base", multiply(row, depth))
            greatest = greatest_of(builder, x, base, depth, _LOW)
            total = builder.allocate("total", Type.I32, 1)
            total[0] = 0
            with builder.loop("i", 0, depth) as i:
                distance = subtract(x.wide(add(base, i)), greatest[0])
                scaled = clamp(add(loops.mbqm(distance, *factor), _HIGH), _LOW, _HIGH)
                power = builder.let("power", _between(builder, curve, scaled))
                powers[i] = power
                total[0] = add(total[0], power)
            zeros = builder.let("zeros", Call("headroom", (total[0],), Type.I32))
            raised = binary(Operation.SHL, total[0], subtract(zeros, 1))
            share = binary(Operation.SHR, add(binary(Operation.SHR, raised, 13), 1), 1)
            moved = clamp(subtract(share, 3 << 15), _LOW, _HIGH)
            inverse = builder.let("inverse", _between(builder, inverse_of, moved))
            doubled = builder.let("doubled", subtract(30, zeros))
            with builder.loop("i", 0, depth) as i:
                product = binary(Operation.SHR, multiply(powers.wide(i), inverse), doubled)
                y[add(base, i)] = minimum(binary(Operation.SHR, add(product, 1), 1), _HIGH)
        return builder.lowered(LIBRARY)


def exponentials() -> Integers:
    """Return e**x of 513 x from -10 up to 0, in Q0.15."""
    return _table(RANGE, _HIGH, np.exp)


def inverses() -> Integers:
    """Return 1 / (1 + x) of 513 x from 0 up to 1, in Q0.15."""
    return _table(1.0, _LOW, lambda x: 1 / (1 + x))


def _table(
    reach: float, zero_point: int, function: Callable[[NDArray[np.float64]], Array]
) -> Integers:
    """Return entries, moved by half of what a line to the next is off in the middle, as float32."""

    def evaluate(x: Reals) -> Reals:
        return function(x.astype(np.float64)).astype(np.float32)

    one = np.float32
    scale = one(reach) / one(_SPAN)
    first, last = (scale * one(end - zero_point) for end in (_LOW, _HIGH))
    step = (last - first) / one(ENTRIES)
    unit = one(2) / one(_SPAN)
    steepness = one(_SPAN + 1) / (unit * one(_HIGH) - unit * one(_LOW))
    at = np.arange(ENTRIES, dtype=np.float32)
    here, middle, there = (
        evaluate(places) * steepness
        for places in (
            first + at * step,
            first + at * step + step / one(2),
            first + (at + 1) * step,
        )
    )
    entries = _round(here)
    off = _round((there + entries) / one(2)) - _round(middle)
    end = _round(evaluate(np.array([last])) * steepness)
    every = np.append(entries - _round(off / one(2)), end)
    return np.clip(every.astype(np.int64), _LOW, _HIGH)


def _round(x: Reals) -> Reals:
    """Round halves away from 0."""
    return np.trunc(x.astype(np.float64) + np.copysign(0.5, x)).astype(np.float32)


def _interpolate(table: Integers, values: Integers) -> Integers:
    """Return what lies between two entries."""
    at, rest = (values >> PLACES) + ENTRIES // 2, values & ((1 << PLACES) - 1)
    result: Integers = table[at] + (((table[at + 1] - table[at]) * rest + 64) >> PLACES)
    return result


def _between(builder: KernelBuilder, table: Buffer, value: Expr) -> Expr:
    """Return the same for an expression."""
    value = builder.let("value", value)
    at = builder.let("at", add(binary(Operation.SHR, value, PLACES), ENTRIES // 2))
    rest = binary(Operation.AND, value, (1 << PLACES) - 1)
    here = builder.let("here", table.wide(at))
    slope = subtract(table.wide(add(at, 1)), here)
    return add(here, binary(Operation.SHR, add(multiply(slope, rest), 64), PLACES))


def _is_wide(op: Operator, graph: Graph) -> bool:
    return require_input(op, graph, 0).dtype == "int16"


def _factor(op: Operator, graph: Graph) -> float:
    """Return what brings distances to steps of 10 / 65535."""
    beta = op.attributes["beta"]
    assert isinstance(beta, float)
    return scale_of(require_input(op, graph, 0)) * beta / (RANGE / _SPAN)


def _depth(op: Operator, graph: Graph) -> Iterator[Fault]:
    x = require_input(op, graph, 0)
    if not 1 <= (x.shape or (0,))[-1] <= GREATEST_DEPTH:
        message = f"has shape {list(x.shape)}; the last dimension may be 1 to {GREATEST_DEPTH}"
        yield checks.fault(op, message, tensor=x)


def _check_scaling(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, (output,) = require_input(op, graph, 0), graph.results(op)
    if not 0 <= _factor(op, graph) < GREATEST_FACTOR:
        message = f"beta {op.attributes['beta']} times scale {scale_of(x):g} is not of 0 up to 5"
        yield checks.fault(op, message, tensor=x)
    if zero_point_of(x):
        yield checks.fault(op, f"has zero point {zero_point_of(x)}; that of int16 is 0", tensor=x)
    if not near(scale_of(output), OUTPUT_SCALE) or zero_point_of(output):
        message = f"has scale {scale_of(output):g} and zero point {zero_point_of(output)}"
        remedy = "quantise the output with scale 1/32768 and zero point 0"
        yield checks.fault(op, message, tensor=output, remedy=remedy)


_TYPES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.activations(types=("int8", "int16")),
)
_RULES: tuple[checks.Rule, ...] = (
    checks.same_type(),
    checks.output_shape(lambda op, graph: require_input(op, graph, 0).shape),
    _depth,
    _check_scaling,
)

SOFTMAX = WideSoftmax()
