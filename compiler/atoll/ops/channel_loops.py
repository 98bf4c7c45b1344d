"""Blocks of output channels: sums in registers, then requantised and stored."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Expr, Type
from atoll.ops.fixed_point_loops import mbqm, quantized
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.quantization import activation_range, channel_scaling, zero_point_of

_WIDTHS = (4, 2, 1)


def block_width(channels: int) -> int:
    """Return how many of `channels` to compute at once: a small divisor."""
    return next(width for width in _WIDTHS if channels % width == 0)


class _Channels:
    """One number per channel: a literal where all are equal, else a new table parameter."""

    def __init__(self, builder: KernelBuilder, name: str, values: NDArray[np.int32]) -> None:
        equal = bool((values == values[0]).all())
        self._values: Const | Buffer = (
            Const(int(values[0])) if equal else builder.table(name, values)
        )

    def __getitem__(self, channel: Expr) -> Expr:
        return self._values if isinstance(self._values, Const) else self._values[channel]


class ChannelSums:
    """Sums of products over weights, for a kernel whose output has per-channel scales.

    Adds the parameters x, weights, bias (if there is one), multiplier and shift (where channels
    differ) and y.
    """

    def __init__(self, op: Operator, graph: Graph) -> None:
        x = graph.tensor(op.inputs[0])
        (output,) = graph.results(op)
        _, multipliers, shifts = channel_scaling(op, graph)
        self.builder = KernelBuilder(op, graph)
        self.x = self.builder.input(0, "x")
        self.weights = self.builder.input(1, "weights")
        self._bias = self.builder.input(2, "bias") if self.builder.has_input(2) else None
        self._multiplier = _Channels(self.builder, "multiplier", multipliers)
        self._shift = _Channels(self.builder, "shift", shifts)
        self._y = self.builder.output()
        self._x_zero = zero_point_of(x)
        self._y_zero = zero_point_of(output)
        self._limits = activation_range(op, output)

    @contextmanager
    def block(self, first: Expr, width: int, target: Operand) -> Iterator[tuple[Buffer, ...]]:
        """Yield sums of the channels from `first`; store their outputs from y[target] on."""
        sums = tuple(self.builder.allocate(f"sum{lane}", Type.I32, 1) for lane in range(width))
        for lane, total in enumerate(sums):
            total[0] = self._bias[add(first, lane)] if self._bias else 0
        yield sums
        for lane, total in enumerate(sums):
            channel = add(first, lane)
            scaled = mbqm(total[0], self._multiplier[channel], self._shift[channel])
            self._y[add(target, lane)] = quantized(scaled, self._y_zero, self._limits)

    def input(self, index: Operand) -> Expr:
        """Load an activation less its zero point, as `I32`."""
        return subtract(self.x.wide(index), self._x_zero)

    def dot(
        self, sums: Sequence[Buffer], source: Expr, rows: Sequence[Expr], length: Operand
    ) -> None:
        """Add to each sum the product of x[source...] and its weights[row...]."""
        with self.builder.loop("i", 0, length) as i:
            value = self.builder.let("value", self.input(add(source, i)))
            for total, row in zip(sums, rows, strict=True):
                weight = self.weights.wide(add(row, i))
                total[0] = add(total[0], multiply(value, weight))
