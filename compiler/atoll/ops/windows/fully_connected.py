# SPDX-License-Identifier: Apache-2.0
"""FULLY_CONNECTED: a 1x1 convolution over the rows of the input."""

from dataclasses import replace
from typing import Any

from atoll.ir.expressions import add, multiply
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import Lowered
from atoll.isa.instruction_set import SCALAR, Arithmetic, Vectors
from atoll.ops import checks
from atoll.ops.kind import Parts
from atoll.ops.loops.channel_loops import ChannelSums, block_width
from atoll.ops.loops.lane_loops import lane_loops, lanes_of
from atoll.ops.loops.register_tiles import block_for
from atoll.ops.loops.wide_sums import WideSums, is_wide
from atoll.ops.quantization import channel_factors
from atoll.ops.tflite_form import Attributes, OptionError, Shapes, TfliteForm, activation
from atoll.ops.window import Window
from atoll.ops.windows.computed_filter import is_computed, product
from atoll.ops.windows.computed_filter import rules as computed_filter_rules
from atoll.ops.windows.convolution import WEIGHTS, Convolution, Sums, bias_type, tensors

ONE_BY_ONE = Window(kernel_h=1, kernel_w=1, stride_h=1, stride_w=1)


def _options(options: Any, shapes: Shapes) -> Attributes:
    if options.WeightsFormat():
        raise OptionError(f"has weights in shuffled format {options.WeightsFormat()}")
    keep = bool(options.KeepNumDims())
    return {"activation": activation(options), "keep_num_dims": keep, **bias_type(options)}


class FullyConnected(Convolution):
    """FULLY_CONNECTED with weights [O, K]."""

    tflite = TfliteForm(
        code="FULLY_CONNECTED",
        table="FullyConnectedOptions",
        may_lack_table=True,
        fields={0: 1, 1: 1, 2: 1, 4: 1},
        read=_options,
        constants=WEIGHTS,
    )
    parallel = ("row", "block", "lane")
    weight_dimensions = 2

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16 activations, int8 weights, constant or computed, and a bias."""
        if not is_computed(op, graph):
            super().check(op, graph)
            return
        result = (checks.output_shape(self.output_shape), checks.factors(channel_factors))
        checks.apply((*_COMPUTED, self._depth, *result), op, graph)

    def parts(self, op: Operator, graph: Graph) -> Parts | None:
        """Return a product of matrices, of a filter that is computed."""
        return product(op, graph) if is_computed(op, graph) else None

    def window(self, op: Operator, weights: Tensor) -> Window:
        """Return one pixel."""
        return ONE_BY_ONE

    def image(self, x: Tensor, weights: Tensor) -> tuple[int, ...]:
        """Lay the rows of the input across."""
        return (1, 1, x.elements // weights.shape[1], weights.shape[1])

    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Require whole rows."""
        return x.elements % weights.shape[1] == 0

    def extents(self) -> tuple[checks.Rule, ...]:
        """Accept any rank."""
        return ()

    def output_shape(self, op: Operator, graph: Graph) -> tuple[int, ...]:
        """Accept every shape of as many rows."""
        x, weights, output = tensors(op, graph)
        outputs, inputs = weights.shape
        rows = x.elements // inputs
        fits = output.shape[-1:] == (outputs,) and output.elements == rows * outputs
        return output.shape if fits else (rows, outputs)

    def sums(self, op: Operator, graph: Graph, image: Sums, weights: Sums) -> Sums:
        """Multiply each row with every filter."""
        product: Sums = image @ weights.T
        return product

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Return the loop program of cores without vectors."""
        return self.lower_for(op, graph, SCALAR)

    def lower_for(self, op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
        """Loop over all rows of the input and blocks of output channels."""
        _, weights, y = tensors(op, graph)
        outputs, inputs = weights.shape
        if arithmetic.vectors is Vectors.UNIT and inputs % block_for(arithmetic).align:
            arithmetic = replace(
                arithmetic, vectors=Vectors.NONE
            )  # rows of the input are no whole words
        if block_for(arithmetic).strips and not is_wide(op, graph):
            return _lower_in_lanes(op, graph, arithmetic)
        kernel: ChannelSums | WideSums = (
            WideSums(op, graph)
            if is_wide(op, graph)
            else ChannelSums(op, graph, folds=True, arithmetic=arithmetic)
        )
        builder, lanes = kernel.builder, block_width(outputs)
        with (
            builder.loop("row", 0, y.elements // outputs) as row,
            builder.loop("block", 0, outputs // lanes) as block,
        ):
            first = builder.let("channel", multiply(block, lanes))
            with kernel.block(first, lanes, [add(multiply(row, outputs), first)]) as sums:
                rows = [multiply(add(first, lane), inputs) for lane in range(lanes)]
                kernel.dot(sums, kernel.x, [multiply(row, inputs)], rows, inputs)
        return kernel.lowered()


def _lower_in_lanes(op: Operator, graph: Graph, arithmetic: Arithmetic) -> Lowered:
    """Loop over all rows of the input, a channel in each lane."""
    _, weights, y = tensors(op, graph)
    outputs, inputs = weights.shape
    lanes = lanes_of(op, graph, block_for(arithmetic), outputs)
    kernel = ChannelSums(op, graph, folds=True, arithmetic=arithmetic, lanes=lanes, across=True)
    with kernel.builder.loop("row", 0, y.elements // outputs) as row:
        for channel in lane_loops(kernel.builder, kernel.registers, outputs, lanes):
            with kernel.block(channel, 1, [add(multiply(row, outputs), channel)]) as sums:
                kernel.dot(sums, kernel.x, [multiply(row, inputs)], [channel], inputs)
    return kernel.lowered()


_COMPUTED: tuple[checks.Rule, ...] = (
    checks.operands(2, 3),
    checks.int8_activations(0, 1),
    computed_filter_rules,
)

FULLY_CONNECTED = FullyConnected()
