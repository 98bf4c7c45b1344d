# SPDX-License-Identifier: Apache-2.0
"""Sliding windows over NHWC images: which taps lie inside, and the loops over output pixels."""

from collections.abc import Iterator
from contextlib import contextmanager

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import Operand, add, binary, maximum, minimum, multiply, subtract
from atoll.ir.graph import Operator
from atoll.ir.tir import Expr, Operation
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A sliding window along one axis; all counts in elements of that axis."""

    input: int
    output: int
    kernel: int
    stride: int
    dilation: int
    pad: int

    @property
    def pointwise(self) -> bool:
        """Whether each output reads the input at its own place, and nothing else."""
        return (self.kernel, self.stride, self.pad) == (1, 1, 0)

    def origin(self, position: Operand) -> Expr:
        """Return the input coordinate of tap 0, which may lie outside the image."""
        return subtract(multiply(position, self.stride), self.pad)

    def taps(self, builder: FunctionBuilder, name: str, origin: Expr) -> tuple[Expr, Expr]:
        """Name the half-open range of taps inside the image; constants where nothing is cut."""
        begin: Operand = 0
        end: Operand = self.kernel
        if self.pad > 0:
            begin = maximum(self._steps(subtract(0, origin)), 0)
        reach = (self.output - 1) * self.stride - self.pad + (self.kernel - 1) * self.dilation
        if reach >= self.input:
            end = minimum(self._steps(subtract(self.input, origin)), self.kernel)
        return builder.let(f"{name}_begin", begin), builder.let(f"{name}_end", end)

    def _steps(self, distance: Expr) -> Expr:
        """Divide by the dilation, rounding up; what is negative stays at most 0."""
        return binary(Operation.DIV, add(distance, self.dilation - 1), self.dilation)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pixel:
    """One output pixel.

    Attributes:
        number: its place in the output tensor, counted in pixels.
        top: input row of tap 0, counted over the whole batch.
        left: input column of tap 0.
        rows: half-open range of kernel rows inside the image.
        columns: half-open range of kernel columns inside the image.
    """

    number: Expr
    top: Expr
    left: Expr
    rows: tuple[Expr, Expr]
    columns: tuple[Expr, Expr]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A two-dimensional sliding window over a batch of images."""

    batches: int
    down: Axis
    across: Axis

    @contextmanager
    def lines(self, builder: FunctionBuilder) -> Iterator["Line"]:
        """Loop over the lines of output pixels in their order in memory."""
        down, across = self.down, self.across
        with builder.loop("n", 0, self.batches) as n, builder.loop("oy", 0, down.output) as oy:
            origin = builder.let("top", down.origin(oy))
            rows = down.taps(builder, "ky", origin)
            top = builder.let("row", add(multiply(n, down.input), origin))
            first = multiply(add(multiply(n, down.output), oy), across.output)
            yield Line(window=self, number=builder.let("line", first), top=top, rows=rows)

    @contextmanager
    def pixels(self, builder: FunctionBuilder) -> Iterator[Pixel]:
        """Loop over the output pixels in their order in memory."""
        with self.lines(builder) as line, builder.loop("ox", 0, self.across.output) as ox:
            yield line.pixel(builder, ox)

    def source(self, pixel: Pixel, ky: Operand, kx: Operand) -> Expr:
        """Return the input pixel under a tap, counted in pixels from the tensor's start."""
        row = add(pixel.top, multiply(ky, self.down.dilation))
        column = add(pixel.left, multiply(kx, self.across.dilation))
        return add(multiply(row, self.across.input), column)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of output pixels.

    Attributes:
        window: what slides.
        number: the place of its first pixel in the output tensor, counted in pixels.
        top: input row of tap 0, counted over the whole batch.
        rows: half-open range of kernel rows inside the image.
    """

    window: Window
    number: Expr
    top: Expr
    rows: tuple[Expr, Expr]

    def pixel(self, builder: FunctionBuilder, ox: Expr) -> Pixel:
        """Return a pixel of the line."""
        left = builder.let("left", self.window.across.origin(ox))
        columns = self.window.across.taps(builder, "kx", left)
        number = add(self.number, ox)
        return Pixel(number=number, top=self.top, left=left, rows=self.rows, columns=columns)


def window_of(
    op: Operator, x: tuple[int, ...], y: tuple[int, ...], kernel: tuple[int, int]
) -> Window:
    """Return the window of an operator from its attributes and its NHWC shapes."""
    down, across = (
        Axis(
            input=x[dimension],
            output=y[dimension],
            kernel=kernel[dimension - 1],
            stride=op.integer(f"stride_{letter}"),
            dilation=op.integer(f"dilation_{letter}")
            if f"dilation_{letter}" in op.attributes
            else 1,
            pad=op.integer(f"pad_{side}"),
        )
        for dimension, letter, side in ((1, "h", "top"), (2, "w", "left"))
    )
    return Window(batches=x[0], down=down, across=across)
