# SPDX-License-Identifier: Apache-2.0
"""Kinds without arithmetic: MAXIMUM, MINIMUM, SELECT_V2, comparisons, truth values and CAST."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import binary, cast, select
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, Operation, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import (
    VALUES,
    Elementwise,
    Prepare,
    Result,
    broadcast_shape,
    entry_of,
    lower_elements,
)
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array
from atoll.ops.quantization import Integers, mbqm, quantize_multiplier, scale_of, zero_point_of
from atoll.ops.tflite_form import TfliteForm

COMPARED_PLACES = 8
"""Bits that operands have more while they are compared."""

Function = Callable[[Integers, Integers], Array]
Compare = Callable[[Expr, Expr], Expr]


class Extreme(Elementwise):
    """MAXIMUM and MINIMUM of values as they are stored (TFLM: `MaximumMinimumBroadcastSlow`)."""

    def __init__(self, code: str, operation: Operation, function: Function) -> None:
        self.tflite = TfliteForm(code=code)  # type: ignore[misc]
        self._operation, self._function = operation, function

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of one type and quantisation that broadcast to the output."""
        rules = (
            checks.operands(2, 2),
            checks.activations(types=("int8", "int16", "int32", "int64")),
            checks.same_type(0, 1),
            checks.same_quantization,
            checks.output_shape(broadcast_shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Choose of each pair."""
        left, right = (np.asarray(each, np.int64) for each in inputs)
        return (self._function(left, right).astype(graph.results(op)[0].dtype),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""
        return lower_elements(op, graph, _always(lambda values: binary(self._operation, *values)))


class Comparison(Elementwise):
    """A comparison of int8, in one scale with 8 more bits, or of integers.

    TFLM: `ComparisonWithScaling`, `ComparisonImpl`. Rounding makes close values equal, there too.

    Attributes:
        numbers: integer types that are compared as they are.
    """

    def __init__(
        self, code: str, compare: Callable[[Expr, Expr], Expr], function: Function
    ) -> None:
        self.tflite = TfliteForm(code=code)  # type: ignore[misc]
        self._compare, self._function = compare, function
        more = ("bool",) if code in ("EQUAL", "NOT_EQUAL") else ()
        self.numbers = ("int32", "int64", *more)

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept two inputs of one type that broadcast to an output of truth values."""
        rules = (
            checks.operands(2, 2),
            checks.activations(0, 1, types=("int8", *self.numbers), results=("bool",)),
            _alike,
            checks.output_shape(broadcast_shape),
            _small_scales,
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compare each pair."""
        left, right = (np.asarray(each, np.int64) for each in inputs)
        if require_input(op, graph, 0).dtype == "int8":
            left, right = (
                _comparable(require_input(op, graph, at), x) for at, x in enumerate((left, right))
            )
        return (self._function(left, right).astype(np.bool_),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output; int8 of different scales is ranked by two tables."""
        return lower_elements(op, graph, self._prepare(op, graph))

    def _prepare(self, op: Operator, graph: Graph) -> Prepare:
        def compare(values: Sequence[Expr]) -> Expr:
            return cast(self._compare(values[0], values[1]), Type.I32)

        x, y = require_input(op, graph, 0), require_input(op, graph, 1)
        if x.dtype != "int8":
            return _always(compare)
        whole = [_comparable(each, VALUES.astype(np.int64)) for each in (x, y)]
        ordered = np.sort(VALUES).astype(np.int64)
        if np.array_equal(whole[0], whole[1]) and (np.diff(_comparable(x, ordered)) > 0).all():
            return _always(compare)
        ranks = np.unique(np.concatenate(whole), return_inverse=True)[1].reshape(2, -1)

        def prepare(builder: KernelBuilder) -> Result:
            first, second = (
                builder.table(name, each, Type.I16)
                for name, each in zip(("first", "second"), ranks, strict=True)
            )
            return lambda values: compare(
                (first.wide(entry_of(values[0])), second.wide(entry_of(values[1])))
            )

        return prepare


def _comparable(tensor: Tensor, values: Integers) -> Integers:
    factor = quantize_multiplier(scale_of(tensor))
    return mbqm((values - zero_point_of(tensor)) << COMPARED_PLACES, *factor)


def _small_scales(op: Operator, graph: Graph) -> Iterator[Fault]:
    for tensor in graph.operands(op):
        if tensor is not None and tensor.dtype == "int8" and scale_of(tensor) >= 1:
            message = f"has scale {scale_of(tensor):g}; only scales below 1 are compared"
            yield checks.fault(op, message, tensor=tensor)


def _alike(op: Operator, graph: Graph) -> Iterator[Fault]:
    first, *others = (require_input(op, graph, position) for position in range(len(op.inputs)))
    for other in others:
        if other.dtype != first.dtype:
            yield checks.fault(op, f"has type {other.dtype} instead of {first.dtype}", tensor=other)


class Truth(Elementwise):
    """LOGICAL_AND, LOGICAL_OR and LOGICAL_NOT of truth values, which are 0 or 1."""

    def __init__(self, code: str, count: int, operation: Operation) -> None:
        self.tflite = TfliteForm(code=code)  # type: ignore[misc]
        self._count, self._operation = count, operation

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept truth values that broadcast to the output."""
        rules = (
            checks.operands(self._count, self._count),
            checks.activations(types=("bool",)),
            checks.output_shape(broadcast_shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Combine each pair; NOT is an exclusive or with 1."""
        values: list[Integers] = [np.asarray(each, np.int64) for each in inputs]
        first, second = (*values, np.ones(1, np.int64))[:2]
        made = {
            Operation.AND: first & second,
            Operation.OR: first | second,
            Operation.XOR: first ^ second,
        }
        return (made[self._operation].reshape(graph.results(op)[0].shape).astype(np.bool_),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output."""
        return lower_elements(
            op, graph, _always(lambda values: binary(self._operation, *(*values, 1)[:2]))
        )


class Select(Elementwise):
    """SELECT_V2: of a truth value and two numbers, one of these (TFLM: `BroadcastSelect5DSlow`)."""

    tflite = TfliteForm(code="SELECT_V2")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept a condition and two inputs quantised as the output, which broadcast to it."""
        rules = (
            checks.operands(3, 3),
            checks.activations(1, 2, types=checks.MOVED),
            checks.same_type(1, 2),
            checks.same_quantization,
            _condition,
            checks.output_shape(broadcast_shape),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Choose one of two."""
        condition, x, y = (np.asarray(each) for each in inputs)
        return (np.where(condition, x, y),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output, with dimensions joined that broadcast alike."""

        def choose(values: Sequence[Expr]) -> Expr:
            return select(binary(Operation.NE, values[0], 0), values[1], values[2])

        return lower_elements(op, graph, _always(choose))


def _condition(op: Operator, graph: Graph) -> Iterator[Fault]:
    condition = require_input(op, graph, 0)
    if condition.dtype != "bool":
        yield checks.fault(op, f"has type {condition.dtype} instead of bool", tensor=condition)


class Cast(Elementwise):
    """CAST of numbers as they are stored, whose high bits may be lost (TFLM: `copyCast`)."""

    types: ClassVar[tuple[str, ...]] = ("bool", "int8", "int16", "int32")
    tflite = TfliteForm(code="CAST")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept integers and truth values, quantised or not."""
        rules = (checks.operands(1, 1), self._types, checks.output_shape(broadcast_shape))
        checks.apply(rules, op, graph)

    def _types(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        for tensor in (require_input(op, graph, 0), *graph.results(op)):
            if tensor.dtype not in self.types:
                message = f"has type {tensor.dtype} instead of one of {', '.join(self.types)}"
                yield checks.fault(op, message, tensor=tensor)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take each number in another type."""
        return (np.asarray(inputs[0]).astype(graph.results(op)[0].dtype),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over the output; what is not 0 is true."""
        if graph.results(op)[0].dtype != "bool":
            return lower_elements(op, graph, _always(lambda values: values[0]))
        return lower_elements(
            op, graph, _always(lambda v: cast(binary(Operation.NE, v[0], 0), Type.I32))
        )


def _always(result: Result) -> Prepare:
    return lambda builder: result


def _compare(operation: Operation, *, swapped: bool = False) -> Compare:
    if swapped:
        return lambda left, right: binary(operation, right, left)
    return lambda left, right: binary(operation, left, right)


MAXIMUM = Extreme("MAXIMUM", Operation.MAX, np.maximum)
MINIMUM = Extreme("MINIMUM", Operation.MIN, np.minimum)
EQUAL = Comparison("EQUAL", _compare(Operation.EQ), np.equal)
NOT_EQUAL = Comparison("NOT_EQUAL", _compare(Operation.NE), np.not_equal)
LESS = Comparison("LESS", _compare(Operation.LT), np.less)
LESS_EQUAL = Comparison("LESS_EQUAL", _compare(Operation.LE), np.less_equal)
GREATER = Comparison("GREATER", _compare(Operation.LT, swapped=True), np.greater)
GREATER_EQUAL = Comparison("GREATER_EQUAL", _compare(Operation.LE, swapped=True), np.greater_equal)
LOGICAL_AND = Truth("LOGICAL_AND", 2, Operation.AND)
LOGICAL_OR = Truth("LOGICAL_OR", 2, Operation.OR)
LOGICAL_NOT = Truth("LOGICAL_NOT", 1, Operation.XOR)
SELECT_V2, CAST = Select(), Cast()
