# SPDX-License-Identifier: Apache-2.0
"""Sums of 16-bit inputs and 8-bit weights, as `ChannelSums` has those of 8-bit inputs.

TFLM adds up in 64 bits, and in 32 where the bias has as many.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from atoll.diagnostics.errors import Fault
from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import Operand, add, binary, cast, clamp, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Call, Const, Expr, Lowered, Operation, PrimFunc, Type
from atoll.ops import checks
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.loops.channel_loops import Channels, ChannelSums
from atoll.ops.loops.fixed_point_loops import scaling_of
from atoll.ops.quantization import activation_range, channel_scaling, reduced_multiplier
from atoll.ops.rounding import rounds_once


def is_wide(op: Operator, graph: Graph) -> bool:
    """Tell whether an operator has 16-bit activations."""
    return graph.tensor(op.inputs[0]).dtype == "int16"


def factors(reals: Callable[[Operator, Graph], tuple[float, ...]]) -> checks.Rule:
    """Require factors that can be represented: fewer where sums have 64 bits."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        yield from checks.factors(reals, 7 if is_wide(op, graph) else 30)(op, graph)

    return rule


def adds_in_32_bits(op: Operator, graph: Graph) -> bool:
    """Tell whether sums of 16-bit activations have no more bits than those of 8-bit ones."""
    bias = graph.operands(op)[2] if len(op.inputs) > 2 else None
    return (bias.dtype if bias else op.attributes.get("bias_type", "int64")) == "int32"


class WideSums:
    """What `ChannelSums` is, for 16-bit inputs with zero point 0.

    Args:
        op: the operator.
        graph: its graph.
        weights: in the order in which they are wanted, if not in the operand's.
    """

    def __init__(
        self, op: Operator, graph: Graph, weights: NDArray[np.generic] | None = None
    ) -> None:
        (output,) = graph.results(op)
        _, multipliers, shifts = channel_scaling(op, graph)
        self.builder = KernelBuilder(op, graph)
        self.x = self.builder.input(0, "x")
        self.weights = (
            self.builder.input(1, "weights")
            if weights is None
            else self.builder.table("flipped", weights.astype(np.int64), Type.I8)
        )
        self._bias = self.builder.input(2, "bias") if self.builder.has_input(2) else None
        self._once = rounds_once(op)
        self._type = Type.I32 if adds_in_32_bits(op, graph) else Type.I64
        if self._type is Type.I64:
            shifts = ((31 if self._once else 15) - shifts).astype(np.int32)
            if not self._once:
                multipliers = reduced_multiplier(multipliers).astype(np.int32)
        self._scaling = scaling_of(op)
        self._multiplier = Channels(self.builder, "multiplier", multipliers)
        self._shift = Channels(self.builder, "shift", shifts)
        self._y = self.builder.output()
        self._limits = activation_range(op, output)

    @contextmanager
    def block(
        self, first: Expr, width: int, targets: Sequence[Operand]
    ) -> Iterator[tuple[tuple[Buffer, ...], ...]]:
        """Yield sums of the channels from `first`, for each of some pixels, and store them."""
        lanes = range(width)
        sums = tuple(
            tuple(self.builder.allocate(f"sum{lane}", self._type, 1) for lane in lanes)
            for _ in targets
        )
        for lane in lanes:
            start = self._bias[add(first, lane)] if self._bias else Const(0, self._type)
            for pixel in sums:
                pixel[lane][0] = start
        yield sums
        for lane in lanes:
            channel = add(first, lane)
            multiplier = self.builder.let("multiplier", self._multiplier[channel])
            shift = self.builder.let("shift", self._shift[channel])
            for pixel, target in zip(sums, targets, strict=True):
                scaled = self._scale_total(pixel[lane][0], multiplier, shift)
                self._y[add(target, lane)] = clamp(scaled, *self._limits)

    def _scale_total(self, total: Expr, multiplier: Expr, shift: Expr) -> Expr:
        if self._type is Type.I32:
            return self._scaling(total, multiplier, shift)
        return _scale(total, multiplier, shift, once=self._once)

    def dot(
        self,
        sums: Sequence[Sequence[Buffer]],
        source: Buffer,
        pixels: Sequence[Operand],
        rows: Sequence[Expr],
        length: int,
    ) -> None:
        """Add to each sum the products of source[pixel...] and weights[row...]."""
        with self.builder.loop("i", 0, length) as i:
            for pixel, pixel_sums in zip(pixels, sums, strict=True):
                value = self.builder.let("value", self.value(source, add(pixel, i)))
                for row, total in zip(rows, pixel_sums, strict=True):
                    self.add_product(total, value, self.weights.wide(add(row, i)))

    def add_product(self, total: Buffer, value: Expr, weight: Expr) -> None:
        """Add one product, which 32 bits hold, to its sum."""
        total[0] = add(total[0], cast(multiply(value, weight), self._type))

    def value(self, source: Buffer, index: Operand) -> Expr:
        """Load what a weight multiplies."""
        return source.wide(index)

    def lowered(self) -> Lowered:
        """Finish."""
        return self.builder.lowered(WIDE_LIBRARY)


def simple_sums(
    op: Operator, graph: Graph, axis: int = 0, weights: NDArray[np.generic] | None = None
) -> ChannelSums | WideSums:
    """Return the sums of a kernel that goes through taps inside the image one by one."""
    if is_wide(op, graph):
        return WideSums(op, graph, weights)
    return ChannelSums(op, graph, folds=False, axis=axis, weights=weights)


def scale_wide(total: Expr, multiplier: int, shift: int, *, once: bool = False) -> Expr:
    """Call what gives `mbqm_wide`, or `mbqm_wide_once`; a kernel has it in its library then."""
    if once:
        return _scale(total, Const(multiplier), Const(31 - shift), once=True)
    reduced = Const(int(reduced_multiplier(multiplier)))
    return _scale(total, reduced, Const(15 - shift), once=False)


def _scale(total: Expr, multiplier: Expr, places: Expr, *, once: bool) -> Expr:
    function = "scaled_wide_once" if once else "scaled_wide"
    return Call(function, (total, multiplier, places), Type.I32)


def _make_scaled_wide() -> PrimFunc:
    """`mbqm_wide`, of a multiplier that is reduced, and 15 less the shift."""
    builder = FunctionBuilder("scaled_wide")
    x = builder.scalar("x", Type.I64)
    multiplier, places = builder.scalar("multiplier"), builder.scalar("places")
    wide = cast(places, Type.I64)
    half = binary(Operation.SHL, Const(1, Type.I64), subtract(wide, 1))
    product = multiply(x, cast(multiplier, Type.I64))
    return builder.function(cast(binary(Operation.SHR, add(product, half), wide), Type.I32))


def _make_scaled_wide_once() -> PrimFunc:
    """`mbqm_wide_once`, of 31 less the shift: the sum's low 16 bits are multiplied apart."""
    builder = FunctionBuilder("scaled_wide_once")
    x = builder.scalar("x", Type.I64)
    multiplier, places = builder.scalar("multiplier"), builder.scalar("places")
    factor, wide = cast(multiplier, Type.I64), cast(places, Type.I64)
    half = binary(Operation.SHL, Const(1, Type.I64), subtract(wide, 1))
    low = add(multiply(binary(Operation.AND, x, 0xFFFF), factor), half)
    high = multiply(binary(Operation.SHR, x, 16), factor)
    total = add(high, binary(Operation.SHR, low, 16))
    return builder.function(cast(binary(Operation.SHR, total, subtract(wide, 16)), Type.I32))


WIDE_LIBRARY = (_make_scaled_wide(), _make_scaled_wide_once())
