"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: int8 sums of products per output channel."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph, Operator
from atoll.ops import checks, convolution_rules
from atoll.ops import convolution_geometry as geometry
from atoll.ops.overlap import Distances, window_distance
from atoll.ops.quantization import activation_range, channel_scaling, mbqm, zero_point_of
from atoll.ops.registry import Array
from atoll.ops.window import Window

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered

Sums = NDArray[np.float64]


class Convolution:
    """What the three kinds share; a subclass says how the sums are made."""

    rules: ClassVar[tuple[checks.Rule, ...]] = convolution_rules.SPATIAL

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 activations, weights with zero point 0 and an int32 bias."""
        checks.apply(self.rules, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the window, the extents and the work; docs/operators.md lists the names."""
        x, weights, output = geometry.tensors(op, graph)
        window = geometry.window(op, weights)
        _, in_height, in_width, in_channels = geometry.image(op, x, weights)
        out_height, out_width = window.positions(in_height, in_width)
        assert weights.quantization is not None
        types = {x.dtype, weights.dtype, output.dtype}
        return {
            **window.features(),
            "in_height": in_height,
            "in_width": in_width,
            "in_channels": in_channels,
            "out_height": out_height,
            "out_width": out_width,
            "out_channels": output.shape[-1],
            "depth_multiplier": geometry.depth_multiplier(op),
            "macs": output.elements * (weights.elements // output.shape[-1]),
            "int8": int(types == {"int8"} and not any(weights.quantization.zero_points)),
        }

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Compute the output from x and weights; the bias is a constant of the graph."""
        x, weights, output = geometry.tensors(op, graph)
        values, kernel = inputs[0], inputs[1]
        assert values is not None
        assert kernel is not None
        image = values.reshape(geometry.image(op, x, weights)).astype(np.float64)
        window = geometry.window(op, weights)
        sums = self.sums(image - zero_point_of(x), kernel.astype(np.float64), window)
        bias, multiplier, shift = channel_scaling(op, graph)
        scaled = mbqm(sums.astype(np.int64) + bias, multiplier, shift) + zero_point_of(output)
        result = np.clip(scaled, *activation_range(op, output))
        return (result.astype(np.int8).reshape(output.shape),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep the window of the current pixel, or the row of a dense layer, until it is done."""
        x, weights, output = geometry.tensors(op, graph)
        image, window = geometry.image(op, x, weights), geometry.window(op, weights)
        constants = (None,) * (len(op.inputs) - 1)
        return (window_distance(image, window, output.shape[-1]), *constants)

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Return the sums of products [N, OH, OW, O]: whole numbers, exact in float64."""
        raise NotImplementedError


class Conv2D(Convolution):
    """CONV_2D with weights [O, kernel_h, kernel_w, I]."""

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Multiply every patch with every filter as one matrix product."""
        patches = window.patches(image, 0).transpose(0, 1, 2, 4, 5, 3)
        rows = patches.reshape(*patches.shape[:3], -1)
        product: Sums = rows @ weights.reshape(len(weights), -1).T
        return product

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.convolution_loops import lower_conv_2d

        return lower_conv_2d(op, graph)


class DepthwiseConv2D(Convolution):
    """DEPTHWISE_CONV_2D with weights [1, kernel_h, kernel_w, C * depth_multiplier]."""

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Add up tap by tap; channel c makes the outputs from c * depth_multiplier on."""
        patches = window.patches(image, 0)
        batch, rows, columns, channels = patches.shape[:4]
        taps = weights.reshape(window.kernel_h, window.kernel_w, channels, -1)
        total = np.zeros((batch, rows, columns, channels, taps.shape[-1]))
        for row, column in np.ndindex(window.kernel_h, window.kernel_w):
            total += patches[..., row, column, np.newaxis] * taps[row, column]
        return total.reshape(batch, rows, columns, -1)

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.convolution_loops import lower_depthwise_conv_2d

        return lower_depthwise_conv_2d(op, graph)


class FullyConnected(Convolution):
    """FULLY_CONNECTED with weights [O, K]: a 1x1 convolution over the rows of the input."""

    rules = convolution_rules.DENSE

    def sums(self, image: Sums, weights: Sums, window: Window) -> Sums:
        """Multiply each row with every filter."""
        product: Sums = image @ weights.T
        return product

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.convolution_loops import lower_fully_connected

        return lower_fully_connected(op, graph)


CONV_2D = Conv2D()
DEPTHWISE_CONV_2D = DepthwiseConv2D()
FULLY_CONNECTED = FullyConnected()
