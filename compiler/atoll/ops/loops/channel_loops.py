# SPDX-License-Identifier: Apache-2.0
"""Blocks of output channels: sums in registers, then requantised and stored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from atoll.ir.builder import Buffer
from atoll.ir.expressions import Operand, add, binary, clamp, maximum, multiply, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Const, Dot, Expr, Lowered, Operation, Type
from atoll.isa.instruction_set import SCALAR, Arithmetic
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.register_tiles import block_for
from atoll.ops.quantization import activation_range, channel_scaling, zero_point_of
from atoll.ops.rounding import rounds_once

_STEPS = (4, 3, 2, 1)
"""Products of one sum in one round of the loop, for a single pixel."""


WORD = 4
"""Alignment of what inputs are copied to: libraries copy words where both sides allow it."""

_LARGEST_INPUT = 255
"""Of an activation less its zero point, in magnitude."""

_LARGEST_SUM = 2**31 - 1
"""Below it, zero point and half of what is lost may be added before the shift."""


def _wrap(values: NDArray[np.integer]) -> NDArray[np.int32]:
    return values.astype(np.int64).astype(np.int32)


def _pad(rows: NDArray[np.integer], length: int) -> NDArray[np.integer]:
    """Return rows with zeros at their ends."""
    return np.pad(rows, ((0, 0), (0, length - rows.shape[1])))


def block_width(channels: int, most: int = 4) -> int:
    """Return how many of `channels` to compute at once: a small divisor."""
    return next(width for width in (4, 2, 1) if width <= most and channels % width == 0)


class Channels:
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

    Adds the parameters x, weights, start (where the sums begin: the bias; `folds` says what else)
    and multiplier and shift where channels differ, and y.

    Args:
        op: the operator.
        graph: its graph.
        folds: each sum goes over all weights of its channel, with the zero point where the window
            is outside of the image. The zero point's part is a constant then, and in start.
        axis: dimension of the weights that runs over output channels.
        arithmetic: of the core.
        lanes: channels that are computed at once, in the lanes of vectors; whose products have a
            high half.
        across: the weights of all channels for one input lie side by side.
        weights: in the order in which they are wanted, if not in the operand's.
    """

    def __init__(
        self,
        op: Operator,
        graph: Graph,
        *,
        folds: bool,
        axis: int = 0,
        arithmetic: Arithmetic = SCALAR,
        lanes: int = 1,
        across: bool = False,
        weights: NDArray[np.generic] | None = None,
    ) -> None:
        (output,) = graph.results(op)
        bias, multipliers, shifts = channel_scaling(op, graph)
        self.builder = KernelBuilder(op, graph)
        self.x = self.builder.input(0, "x")
        self.x_zero = zero_point_of(graph.tensor(op.inputs[0]))
        self.registers = block_for(arithmetic)
        self._folds = folds
        given = graph.tensor(op.inputs[1]).array if weights is None else weights
        rows = np.moveaxis(given, axis, 0).astype(np.int64).reshape(len(bias), -1)
        pitch = self.registers.padded_length(rows.shape[1])
        self._apart = len(bias) if across else 1
        if across:
            self.weights = self.builder.table("across", rows.T, Type.I8)
        elif pitch == rows.shape[1] and weights is None:
            self.weights = self.builder.input(1, "weights")
        else:
            name = "padded" if weights is None else "flipped"
            self.weights = self.builder.table(name, _pad(rows, pitch), Type.I8)
        outside = self.x_zero * rows.sum(axis=1) if folds else 0
        self._start: Buffer | Channels = (
            Channels(self.builder, "start", _wrap(bias - outside))
            if folds or not self.builder.has_input(2)
            else self.builder.input(2, "bias")
        )
        self._y_zero = zero_point_of(output)
        largest = np.abs(bias.astype(np.int64)) + _LARGEST_INPUT * np.abs(rows).sum(axis=1)
        offset = (abs(self._y_zero) + 1) * 2.0 ** np.maximum(-shifts, 0)
        self._rights = bool((shifts < 0).all() and (largest + offset < _LARGEST_SUM).all())
        self._lanes, self._once = lanes, rounds_once(op)
        if self._rights:
            shifts = -shifts
            if lanes == 1:  # as `scaled_right` takes them
                multipliers = _wrap(2 * multipliers.astype(np.int64))
        self._multiplier = Channels(self.builder, "multiplier", multipliers)
        self._shift = Channels(self.builder, "shift", shifts)
        self._y = self.builder.output()
        self._limits = activation_range(op, output)

    @property
    def pixels(self) -> int:
        """How many have their sums made together; scaling to either side takes more registers."""
        lean = self._rights or not self.registers.strips
        return self.registers.pixels if lean else min(2, self.registers.pixels)

    @contextmanager
    def block(
        self, first: Expr, width: int, targets: Sequence[Operand]
    ) -> Iterator[tuple[tuple[Buffer, ...], ...]]:
        """Yield sums of the channels from `first`, for each of some pixels.

        Their outputs are stored from y[target] on.
        """
        sums = tuple(
            tuple(self.builder.allocate(f"sum{lane}", Type.I32, 1) for lane in range(width))
            for _ in targets
        )
        for lane in range(width):
            start = self.builder.let("start", self._start[add(first, lane)])
            for pixel in sums:
                pixel[lane][0] = start
        yield sums
        for lane in range(width):
            totals = [pixel[lane][0] for pixel in sums]
            outputs = self._outputs(add(first, lane), totals)
            for target, output in zip(targets, outputs, strict=True):
                self._y[add(target, lane)] = output

    def _outputs(self, channel: Expr, totals: Sequence[Expr]) -> Iterator[Expr]:
        """Yield the output of each pixel's sum."""
        if self._lanes > 1 and self.registers.strips:
            return self._outputs_in_steps(channel, totals)
        return map(self._scale(channel), totals)

    def _outputs_in_steps(self, channel: Expr, totals: Sequence[Expr]) -> Iterator[Expr]:
        """Multiply all sums before one is shifted: registers hold multipliers or shifts."""
        builder = self.builder
        multiplier = builder.let("multiplier", self._multiplier[channel])
        if not self._rights:
            shift = builder.let("shift", self._shift[channel])
            left = builder.let("left", maximum(shift, 0))
            totals = [binary(Operation.SHL, total, left) for total in totals]
        multiplied = loops.sdhm if self._once else loops.srdhm
        highs = [builder.let("high", multiplied(total, multiplier)) for total in totals]
        if not self._rights:
            right = builder.let("right", maximum(subtract(0, shift), 0))
            for high in highs:
                yield loops.quantize(loops.rdbp(high, right), self._y_zero, self._limits)
            return
        shift = builder.let("shift", self._shift[channel])
        offset = self._offset(shift)
        for high in highs:
            if self._once:
                yield clamp(binary(Operation.SHR, add(high, offset), shift), *self._limits)
            else:
                yield clamp(loops.round_right(high, shift, offset), *self._limits)

    def _offset(self, shift: Expr) -> Expr:
        halves = binary(Operation.SHL, 2 * self._y_zero + 1, subtract(shift, 1))
        return self.builder.let("offset", halves)

    def _scale(self, channel: Expr) -> Callable[[Expr], Expr]:
        """Return what makes outputs of the sums of a channel."""
        builder = self.builder
        multiplier = builder.let("multiplier", self._multiplier[channel])
        shift = builder.let("shift", self._shift[channel])
        if not self._rights:
            scaling = loops.mbqm_once if self._once else loops.mbqm
            return lambda total: loops.quantize(
                scaling(total, multiplier, shift), self._y_zero, self._limits
            )
        offset = self._offset(shift)

        def scale_shifted(total: Expr) -> Expr:
            if self._lanes == 1:
                right = loops.scale_right_once if self._once else loops.scale_right
                return right(total, multiplier, shift, offset)
            if self._once:
                high = add(loops.sdhm(total, multiplier), offset)
                return binary(Operation.SHR, high, shift)
            return loops.round_right(loops.srdhm(total, multiplier), shift, offset)

        return lambda total: clamp(scale_shifted(total), *self._limits)

    def dot(
        self,
        sums: Sequence[Sequence[Buffer]],
        source: Buffer,
        pixels: Sequence[Operand],
        rows: Sequence[Expr],
        length: int,
    ) -> None:
        """Add to each sum the products of source[pixel...] and weights[row...].

        Args:
            sums: by pixel and channel.
            source: holds the inputs.
            pixels: where those of each pixel begin.
            rows: where the weights of each channel begin; `across`, the channel itself.
            length: products of each sum.
        """
        wide = self.registers.products
        if wide == 1:
            self._add_products(sums, source, pixels, rows, length)
            return
        for at in self._rounds(length // wide, wide, self.registers.steps):
            self._add_dots(sums, source, pixels, rows, at, wide)
        if rest := length % wide:
            self._add_dots(sums, source, pixels, rows, Const(length - rest), rest)

    def _add_dots(
        self,
        sums: Sequence[Sequence[Buffer]],
        source: Buffer,
        pixels: Sequence[Operand],
        rows: Sequence[Expr],
        at: Expr,
        length: int,
    ) -> None:
        """Add those `length` products of each sum that begin `at`."""
        for pixel, pixel_sums in zip(pixels, sums, strict=True):
            inputs = source.at(add(pixel, at))
            for row, total in zip(rows, pixel_sums, strict=True):
                weights = self.weights.at(add(row, at))
                total[0] = Dot(total[0], inputs, weights, length, self.registers.align)

    def _add_products(
        self,
        sums: Sequence[Sequence[Buffer]],
        source: Buffer,
        pixels: Sequence[Operand],
        rows: Sequence[Expr],
        length: int,
    ) -> None:
        """Add one product after the other."""
        for at in self._rounds(length, 1, _STEPS if len(pixels) == 1 else self.registers.steps):
            values = [
                self.builder.let("value", self.value(source, add(pixel, at))) for pixel in pixels
            ]
            products = (
                (pixel_sums[lane], value, weight)
                for lane, row in enumerate(rows)
                for weight in [self._weight(add(row, multiply(at, self._apart)))]
                for value, pixel_sums in zip(values, sums, strict=True)
            )
            self.add_products(products)

    def _weight(self, place: Expr) -> Expr:
        return self.builder.let("weight", self.weights.wide(place))

    def add_products(self, products: Iterable[tuple[Buffer, Expr, Expr]]) -> None:
        """Add products to their sums, two at once where registers allow it.

        A core that multiplies slowly need not wait for one of them, and where instructions may
        have two bytes, those that add come in pairs: what follows begins with a word. Vectors
        multiply and add in one instruction.

        Args:
            products: a sum, and the factors of what is added to it.
        """
        remaining = iter(products)
        ahead = self.registers.ahead if self._lanes == 1 else 1
        while pair := tuple(islice(remaining, ahead)):
            made = [self.builder.let("product", multiply(*factors)) for _, *factors in pair]
            for (total, *_), product in zip(pair, made, strict=True):
                total[0] = add(total[0], product)

    def _rounds(self, count: int, width: int, allowed: tuple[int, ...]) -> Iterator[Expr]:
        """Loop over `count` times `width`, as many as is `allowed` a round: yield their begins."""
        if not count:
            return
        steps = next(steps for steps in allowed if count % steps == 0)
        with self.builder.loop("i", 0, count // steps) as i:
            at = self.builder.let("at", multiply(i, steps * width))
            yield from (add(at, step * width) for step in range(steps))

    def lowered(self) -> Lowered:
        """Finish."""
        return self.builder.lowered()

    def add_product(self, total: Buffer, value: Expr, weight: Expr) -> None:
        """Add one product to its sum."""
        total[0] = add(total[0], multiply(value, weight))

    def value(self, source: Buffer, index: Operand) -> Expr:
        """Load what a weight multiplies, as `I32`: less the zero point, unless start has it."""
        value = source.wide(index)
        return value if self._folds else subtract(value, self.x_zero)
