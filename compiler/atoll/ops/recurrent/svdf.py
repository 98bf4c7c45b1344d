# SPDX-License-Identifier: Apache-2.0
"""SVDF: a filter over the last inputs, of which a state keeps what each feature made."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, cast, clamp, multiply
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Expr, Lowered, Type
from atoll.ops import checks
from atoll.ops.bias import is_that_of_sums
from atoll.ops.checks import require_input
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, OperatorKind
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    INT8_MAX,
    INT8_MIN,
    LIMITS,
    Integers,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.tflite_form import WORD, Attributes, Shapes, TfliteForm
from atoll.records import dataclass

X, FEATURES, TIMES, BIAS, STATE = range(5)
MOST_DIFFERENCE = 1e-5
"""Between the scale of the bias and that of what it is added to; TFLM: `PrepareSvdf`."""


def _options(options: Any, shapes: Shapes) -> Attributes:
    return {"rank": options.Rank()}


@dataclass(frozen=True, slots=True)
class Extents:
    """How many there are of what an SVDF has; each unit has `rank` filters."""

    batches: int
    inputs: int
    units: int
    rank: int
    steps: int

    @classmethod
    def of(cls, op: Operator, graph: Graph) -> "Extents":
        """Look at the operands, whose shapes fit each other."""
        (batches, inputs), (filters, steps) = (
            require_input(op, graph, at).shape for at in (X, TIMES)
        )
        rank = op.integer("rank")
        return cls(batches, inputs, filters // rank, rank, steps)

    @property
    def filters(self) -> int:
        """Of all units."""
        return self.units * self.rank


class Svdf(OperatorKind):
    """SVDF of a [B, I] input: result [B, U], state [B, F * T] of int8 or int16.

    Each of F filters multiplies the input with its row of `weights_feature`, keeps the result
    with those of the T - 1 runs before, and multiplies these with its row of `weights_time`. A
    unit adds what `rank` filters make. TFLM: `EvalIntegerSvdfReference`, which heeds no activation.
    """

    tflite = TfliteForm(
        code="SVDF",
        table="SVDFOptions",
        fields={0: WORD},
        read=_options,
        constants={
            FEATURES: "weights_feature",
            TIMES: "weights_time",
            BIAS: "bias",
            STATE: "state",
        },
        states=(STATE,),
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constant weights, a bias, and a state of the type of `weights_time`."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the extents and the work."""
        extents = Extents.of(op, graph)
        each = extents.inputs + extents.steps
        return {
            "macs": extents.batches * extents.filters * each,
            "batches": extents.batches,
            "in_channels": extents.inputs,
            "out_channels": extents.units,
            "rank": extents.rank,
            "steps": extents.steps,
        }

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Move the state on, then sum over it."""
        extents = Extents.of(op, graph)
        x, features, times, bias, state = (
            np.asarray(values, np.int64) for values in inputs if values is not None
        )
        kept = require_input(op, graph, STATE)
        zeros = [zero_point_of(require_input(op, graph, at)) for at in (X, STATE)]
        first, second = _factors(op, graph)
        sums = _int32((x - zeros[0]) @ features.T)
        newest = np.clip(mbqm(sums, *first), *LIMITS[kept.dtype]) + zeros[1]
        shape = (extents.batches, extents.filters, extents.steps)
        moved = np.concatenate(
            [state.reshape(shape)[:, :, 1:], newest.astype(kept.dtype)[:, :, None]], axis=2
        )
        each = ((moved - zeros[1]) * times).sum(axis=2)
        totals = each.reshape(extents.batches, extents.units, extents.rank).sum(axis=2) + bias
        (output, _) = graph.results(op)
        made = mbqm(_int32(totals), *second) + zero_point_of(output)
        return (
            np.clip(made, INT8_MIN, INT8_MAX).astype(np.int8),
            moved.astype(kept.dtype).reshape(kept.shape),
        )

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over batches and units; each filter's state is moved, then read."""
        extents, kernel = Extents.of(op, graph), _Kernel(op, graph)
        builder, output = kernel.builder, graph.results(op)[0]
        y, (_, second) = builder.output(), _factors(op, graph)
        with (
            builder.loop("batch", 0, extents.batches) as batch,
            builder.loop("unit", 0, extents.units) as unit,
        ):
            sums = builder.allocate("sums", Type.I32, 1)
            sums[0] = kernel.ends[unit]
            with builder.loop("rank", 0, extents.rank) as rank:
                number = builder.let("filter", add(multiply(unit, extents.rank), rank))
                sums[0] = kernel.advance_filter(number, batch, sums[0])
            scaled = loops.mbqm(sums[0], *second)
            limits = (INT8_MIN, INT8_MAX)
            place = add(multiply(batch, extents.units), unit)
            y[place] = loops.quantize(scaled, zero_point_of(output), limits)
        return builder.lowered()


class _Kernel:
    """The parameters of the loop program but its result, and what it does for a filter.

    Attributes:
        ends: where the sum of each unit begins.
    """

    def __init__(self, op: Operator, graph: Graph) -> None:
        self._extents = Extents.of(op, graph)
        self._kept = require_input(op, graph, STATE)
        self._factor, _ = _factors(op, graph)
        self.builder = builder = KernelBuilder(op, graph)
        self._x, self._features = builder.input(X, "x"), builder.input(FEATURES, "features")
        self._times = builder.input(TIMES, "times")
        self._starts = builder.table("starts", _starts(op, graph))
        self.ends = builder.table("ends", _ends(op, graph))
        self._state = builder.state("state", 1)

    def advance_filter(self, number: Expr, batch: Expr, total: Expr) -> Expr:
        """Move the state of a filter on; return a sum with what it makes of that."""
        builder, extents, state = self.builder, self._extents, self._state
        begin = multiply(add(multiply(batch, extents.filters), number), extents.steps)
        begin = builder.let("begin", begin)
        with builder.loop("step", 0, extents.steps - 1) as step:
            state[add(begin, step)] = state[add(begin, step, 1)]
        image = builder.let("image", multiply(batch, extents.inputs))
        row = builder.let("row", multiply(number, extents.inputs))
        rows = ((self._x, image), (self._features, row))
        made = loops.mbqm(self._dot(self._starts[number], extents.inputs, rows), *self._factor)
        newest = add(clamp(made, *LIMITS[self._kept.dtype]), zero_point_of(self._kept))
        state[add(begin, extents.steps - 1)] = cast(newest, state.type)
        times = builder.let("times_row", multiply(number, extents.steps))
        return self._dot(total, extents.steps, ((state, begin), (self._times, times)))

    def _dot(self, start: Expr, count: int, places: tuple[tuple[Buffer, Expr], ...]) -> Expr:
        """Add products of what begins at two places."""
        (one, at), (other, beside) = places
        total = self.builder.allocate("total", Type.I32, 1)
        total[0] = start
        with self.builder.loop("k", 0, count) as k:
            product = multiply(one.wide(add(at, k)), other.wide(add(beside, k)))
            total[0] = add(total[0], product)
        return total[0]


def _int32(values: Integers) -> Integers:
    """Keep the low 32 bits, as sums in a register do."""
    return np.asarray(values, np.int64).astype(np.int32).astype(np.int64)


def _starts(op: Operator, graph: Graph) -> Integers:
    """Return where the sum of each filter begins: less the input's zero point."""
    features = np.asarray(require_input(op, graph, FEATURES).array, np.int64)
    return _int32(-zero_point_of(require_input(op, graph, X)) * features.sum(axis=1))


def _ends(op: Operator, graph: Graph) -> Integers:
    """Return where the sum of each unit begins: its bias, less the state's zero point."""
    extents = Extents.of(op, graph)
    times = np.asarray(require_input(op, graph, TIMES).array, np.int64)
    each = times.sum(axis=1).reshape(extents.units, extents.rank).sum(axis=1)
    bias = np.asarray(require_input(op, graph, BIAS).array, np.int64)
    return _int32(bias - zero_point_of(require_input(op, graph, STATE)) * each)


def _factors(op: Operator, graph: Graph) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the multiplier and shift of what a filter keeps, and of a result; float32 products."""
    return tuple(map(quantize_multiplier, _reals(op, graph)))  # type: ignore[return-value]


def _reals(op: Operator, graph: Graph) -> tuple[float, float]:
    x, features, times, state = (
        np.float32(scale_of(require_input(op, graph, at))) for at in (X, FEATURES, TIMES, STATE)
    )
    output = np.float32(scale_of(graph.results(op)[0]))
    with np.errstate(over="ignore", under="ignore"):
        return float(x * features / state), float(state * times / output)


def _check_quantization(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require one scale of each, and the zero points that TFLM takes as 0."""
    for at in (FEATURES, TIMES, BIAS, STATE):
        tensor = require_input(op, graph, at)
        if tensor.quantization is None or len(tensor.quantization.scales) != 1:
            yield checks.fault(op, "is not quantised by one scale", tensor=tensor)
        elif at != STATE and zero_point_of(tensor):
            message = f"has zero point {zero_point_of(tensor)} instead of 0"
            yield checks.fault(op, message, tensor=tensor)


def _types(op: Operator, graph: Graph) -> Iterator[Fault]:
    times, state = require_input(op, graph, TIMES), require_input(op, graph, STATE)
    if state.dtype != times.dtype:
        message = f"has type {state.dtype} where weights_time has {times.dtype}"
        yield checks.fault(op, message, tensor=state)


def _shapes(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require the shapes that TFLM requires, and an int8 result."""
    if graph.results(op)[0].dtype != "int8":
        yield checks.fault(op, "makes no int8 result", tensor=graph.results(op)[0])
    x, features, times, bias, state = (require_input(op, graph, at) for at in range(5))
    output, rank = graph.results(op)[0], op.integer("rank")
    for tensor in (x, features, times, state, output):
        if len(tensor.shape) != 2:
            message = f"has shape {list(tensor.shape)} instead of 2 dimensions"
            yield checks.fault(op, message, tensor=tensor)
            return
    filters, steps = times.shape
    if rank < 1 or filters % rank:
        yield checks.fault(op, f"its {filters} filters cannot have rank {rank}", tensor=times)
        return
    wanted = (
        (features, (filters, x.shape[1])),
        (bias, (filters // rank,)),
        (state, (x.shape[0], filters * steps)),
        (output, (x.shape[0], filters // rank)),
    )
    yield from (_shape(op, each, shape) for each, shape in wanted if each.shape != shape)


def _shape(op: Operator, tensor: Tensor, wanted: tuple[int, ...]) -> Fault:
    message = f"has shape {list(tensor.shape)} instead of {list(wanted)}"
    return checks.fault(op, message, tensor=tensor)


def _scales(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require the bias's scale, and factors that can be represented."""
    bias, (_, second) = require_input(op, graph, BIAS), _reals(op, graph)
    summed = second * scale_of(graph.results(op)[0])
    if not abs(scale_of(bias) - summed) < MOST_DIFFERENCE:
        message = f"has scale {scale_of(bias):g}, what it is added to has {summed:g}"
        yield checks.fault(op, message, tensor=bias)
    else:
        yield from is_that_of_sums(op, bias, (summed,), scale_of(graph.results(op)[0]))


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(5, 5, results=True),
    checks.activations(X, types=("int8",), results=("int8", "int16")),
    checks.constant(FEATURES, "int8"),
    checks.constant(TIMES, "int8", "int16"),
    checks.constant(BIAS, "int32"),
    _types,
    _check_quantization,
    _shapes,
    checks.factors(_reals),
    _scales,
)

SVDF = Svdf()
