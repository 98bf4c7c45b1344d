# SPDX-License-Identifier: Apache-2.0
"""What convolutions and dense layers share: sums of products per output channel."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from tflite.TensorType import TensorType

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.bias import of_products
from atoll.ops.by_rows import RowWork, Span, window_rows
from atoll.ops.checks import require_input
from atoll.ops.kind import Array, Distances, OperatorKind
from atoll.ops.loops.wide_sums import adds_in_32_bits, factors, is_wide
from atoll.ops.overlap import window_distance
from atoll.ops.quantization import (
    activation_range,
    bounds_of,
    channel_factors,
    channel_scaling,
    scaling_of,
    wide_scaling_of,
    zero_point_of,
)
from atoll.ops.rounding import rounding_feature
from atoll.ops.tflite_form import Attributes, Shapes, activation, height_and_width, steps
from atoll.ops.window import Window
from atoll.ops.windows import window_rules

Sums = NDArray[np.float64]

WEIGHTS: Mapping[int, str] = {1: "filter", 2: "bias"}
"""What the constants are called."""


class Convolution(OperatorKind):
    """What the kinds share; a subclass says how the sums are made.

    Attributes:
        weight_dimensions: how many the weights have.
        channel_axis: dimension of the weights that runs over output channels.
        wide_biases: types of the bias where activations have 16 bits.
    """

    weight_dimensions: ClassVar[int] = 4
    channel_axis: ClassVar[int] = 0
    wide_biases: ClassVar[tuple[str, ...]] = ("int32", "int64")

    @abstractmethod
    def sums(self, op: Operator, graph: Graph, image: Sums, weights: Sums) -> Sums:
        """Return the sums of products [N, OH, OW, O]: whole numbers, exact in float64."""

    @abstractmethod
    def covers(self, op: Operator, x: Tensor, weights: Tensor) -> bool:
        """Tell whether the weights fit the input's channels."""

    def window(self, op: Operator, weights: Tensor) -> Window:
        """Return what one output pixel reads."""
        return Window.of(op, weights.shape[1], weights.shape[2])

    def image(self, x: Tensor, weights: Tensor) -> tuple[int, ...]:
        """Return the input's shape as [N, H, W, C]."""
        return x.shape

    def groups(self, x: Tensor, weights: Tensor) -> int:
        """Return into how many groups channels are parted, none of which sees another's."""
        return 1

    def depth_multiplier(self, op: Operator) -> int:
        """Return how many outputs each input channel makes in a depthwise convolution, else 1."""
        return 1

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 or int16 activations, int8 weights with zero point 0, and a bias."""
        rules = (*_OPERANDS, self._types, self._weights, self._bias, *self.extents(), self._depth)
        result = (checks.output_shape(self.output_shape), factors(channel_factors))
        checks.apply((*rules, *result), op, graph)

    def extents(self) -> tuple[checks.Rule, ...]:
        """Return what is asked of image and window."""
        size = window_rules.padded_size(
            lambda op, graph: self.window(op, require_input(op, graph, 1))
        )
        return (checks.rank(0, dimensions=4), window_rules.steps, size)

    def output_shape(self, op: Operator, graph: Graph) -> tuple[int, ...] | None:
        """Derive the output's shape; None if the window does not fit the padded input."""
        x, weights, _ = tensors(op, graph)
        height, width = self.window(op, weights).positions(x.shape[1], x.shape[2])
        outputs = weights.shape[self.channel_axis]
        return (x.shape[0], height, width, outputs) if min(height, width) > 0 else None

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the window, the extents and the work; docs/operators.md lists the names."""
        x, weights, output = tensors(op, graph)
        window = self.window(op, weights)
        batches, in_height, in_width, in_channels = self.image(x, weights)
        out_height, out_width = window.positions(in_height, in_width)
        assert weights.quantization is not None
        types = {x.dtype, weights.dtype, output.dtype}
        return {
            **window.features(),
            "batches": batches,
            "in_height": in_height,
            "in_width": in_width,
            "in_channels": in_channels,
            "out_height": out_height,
            "out_width": out_width,
            "out_channels": output.shape[-1],
            "depth_multiplier": self.depth_multiplier(op),
            "groups": self.groups(x, weights),
            "macs": output.elements * (weights.elements // output.shape[-1]),
            "int8": int(types == {"int8"} and not any(weights.quantization.zero_points)),
            **rounding_feature(op),
        }

    def quantities(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the least and the greatest value of the result."""
        return bounds_of(op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the output from x and weights; the bias is a constant of the graph."""
        x, weights, output = tensors(op, graph)
        values, kernel = inputs[0], inputs[1]
        assert values is not None
        assert kernel is not None
        image = values.reshape(self.image(x, weights)).astype(np.float64)
        sums = self.sums(op, graph, image - zero_point_of(x), kernel.astype(np.float64))
        bias, multiplier, shift = channel_scaling(op, graph)
        wide = is_wide(op, graph) and not adds_in_32_bits(op, graph)
        scale = (wide_scaling_of if wide else scaling_of)(op)
        scaled = scale(sums.astype(np.int64) + bias, multiplier, shift) + zero_point_of(output)
        result = np.clip(scaled, *activation_range(op, output))
        return (result.astype(output.dtype).reshape(output.shape),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep the window of the current pixel, or the row of a dense layer, until it is done."""
        x, weights, output = tensors(op, graph)
        (*extents, channels), window = self.image(x, weights), self.window(op, weights)
        constants, item = (None,) * (len(op.inputs) - 1), ITEM_BYTES[x.dtype]
        image = (*extents, channels * item)
        return (window_distance(image, window, output.shape[-1] * item), *constants)

    def by_rows(self, op: Operator, graph: Graph, rows: Span) -> RowWork | None:
        """Read the windows of those rows, if it slides one."""
        x, weights, output = tensors(op, graph)
        if len(x.shape) != 4 or len(output.shape) != 4 or x.dtype != "int8":
            return None
        return window_rows(op, self.window(op, weights), x.shape[1], rows)

    def _weights(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require weights with zero point 0, quantised as a whole or per output channel."""
        weights = require_input(op, graph, 1)
        quantization = weights.quantization
        if len(weights.shape) != self.weight_dimensions:
            shape = list(weights.shape)
            message = f"has shape {shape} instead of {self.weight_dimensions} dimensions"
            yield checks.fault(op, message, tensor=weights)
        elif quantization is None:
            yield checks.fault(op, "has no quantisation parameters", tensor=weights)
        elif any(quantization.zero_points):
            remedy = "quantise the weights symmetrically, as the TFLite int8 specification demands"
            yield checks.fault(op, "has a zero point other than 0", tensor=weights, remedy=remedy)
        elif len(quantization.scales) > 1 and quantization.axis != self.channel_axis:
            message = f"is quantised along dimension {quantization.axis}"
            remedy = f"quantise it along dimension {self.channel_axis}, the output channels"
            yield checks.fault(op, message, tensor=weights, remedy=remedy)

    def _types(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require zero points of 0 where activations have 16 bits, and a bias as TFLM has it."""
        x, (output,), bias = (
            require_input(op, graph, 0),
            graph.results(op),
            checks.operand(op, graph, 2),
        )
        wide = x.dtype == "int16"
        allowed = self.wide_biases if wide else ("int32",)
        if bias is not None and bias.dtype not in allowed:
            message = f"has type {bias.dtype} instead of {' or '.join(allowed)}"
            yield checks.fault(op, message, tensor=bias)
        if bias is not None and wide and np.abs(bias.array.astype(np.float64)).max() >= 2.0**46:
            yield checks.fault(op, "has values of 2^46 or more in magnitude", tensor=bias)
        for tensor in (x, output):
            if wide and zero_point_of(tensor):
                message = f"has zero point {zero_point_of(tensor)} instead of 0"
                remedy = "quantise 16-bit activations symmetrically, as the specification demands"
                yield checks.fault(op, message, tensor=tensor, remedy=remedy)

    def _bias(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        bias = checks.operand(op, graph, 2)
        channels = require_input(op, graph, 1).shape[self.channel_axis]
        if bias is not None and bias.elements != channels:
            message = f"has {bias.elements} elements for {channels} output channels"
            yield checks.fault(op, message, tensor=bias)
        else:
            yield from of_products(op, graph)

    def _depth(self, op: Operator, graph: Graph) -> Iterator[Fault]:
        """Require weights that cover the input's channels."""
        x, weights, _ = tensors(op, graph)
        if not self.covers(op, x, weights):
            shapes = f"{list(weights.shape)}, which does not fit the input {list(x.shape)}"
            yield checks.fault(op, f"has shape {shapes}", tensor=weights)


def tensors(op: Operator, graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """Return input, weights and output."""
    (output,) = graph.results(op)
    return require_input(op, graph, 0), require_input(op, graph, 1), output


def bias_type(options: Any) -> Attributes:
    """Return the type of sums of 16-bit activations without a bias, if it is said to be int32."""
    return {"bias_type": "int32"} if options.QuantizedBiasType() == TensorType.INT32 else {}


def window_options(options: Any, shapes: Shapes) -> Attributes:
    """Return the attributes of a convolution that slides a window."""
    dilations = (options.DilationHFactor(), options.DilationWFactor())
    image, kernel = (height_and_width(shapes, position) for position in (0, 1))
    return {
        **steps(options, image, kernel, dilations),
        "dilation_h": dilations[0],
        "dilation_w": dilations[1],
        "activation": activation(options),
    }


_OPERANDS: tuple[checks.Rule, ...] = (
    checks.operands(2, 3),
    checks.activations(0, types=checks.QUANTIZED),
    checks.same_type(),
    checks.constant(1, "int8"),
    checks.constant(2, "int32", "int64"),
    checks.activation,
)
