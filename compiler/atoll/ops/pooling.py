"""AVERAGE_POOL_2D and MAX_POOL_2D: one value per window and channel; padding does not count."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from atoll.ir.graph import Graph, Operator
from atoll.ops import checks, window_rules
from atoll.ops.checks import required
from atoll.ops.overlap import Distances, window_distance
from atoll.ops.quantization import INT8_MIN, Integers, activation_range
from atoll.ops.registry import Array
from atoll.ops.window import Window

if TYPE_CHECKING:
    from atoll.ir.tir import Lowered


class Pooling:
    """What the two kinds share; a subclass says how a window becomes one value."""

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept int8 [N, H, W, C] with input and output quantised alike."""
        checks.apply(_RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the window and the extents; there are no multiply-accumulates."""
        _, in_height, in_width, channels = required(op, graph, 0).shape
        _, out_height, out_width, _ = graph.results(op)[0].shape
        return {
            **_window(op).features(),
            "in_height": in_height,
            "in_width": in_width,
            "in_channels": channels,
            "out_height": out_height,
            "out_width": out_width,
            "out_channels": channels,
            "macs": 0,
        }

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Pool every window."""
        (output,) = graph.results(op)
        pooled = self.pooled(np.asarray(inputs[0], np.int64), _window(op))
        return (np.clip(pooled, *activation_range(op, output)).astype(np.int8),)

    def overlap(self, op: Operator, graph: Graph) -> Distances:
        """Keep the window of the current pixel until it is done."""
        shape = required(op, graph, 0).shape
        return (window_distance(shape, _window(op), shape[-1]),)

    def pooled(self, image: Integers, window: Window) -> Integers:
        """Return one value for each window and channel [N, OH, OW, C]."""
        raise NotImplementedError


class AveragePool2D(Pooling):
    """AVERAGE_POOL_2D: the mean of the taps inside the image, halves away from zero."""

    def pooled(self, image: Integers, window: Window) -> Integers:
        """Divide sums as C does, after adding half the divisor to the magnitude."""
        sums = window.patches(image, 0).sum(axis=(4, 5))
        taps = window.patches(np.ones_like(image), 0).sum(axis=(4, 5))
        means: Integers = np.sign(sums) * ((np.abs(sums) + taps // 2) // taps)
        return means

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.pooling_loops import lower_average_pool_2d

        return lower_average_pool_2d(op, graph)


class MaxPool2D(Pooling):
    """MAX_POOL_2D: the greatest of the taps inside the image."""

    def pooled(self, image: Integers, window: Window) -> Integers:
        """Let padding lose against every value."""
        greatest: Integers = window.patches(image, INT8_MIN).max(axis=(4, 5))
        return greatest

    def lower(self, op: Operator, graph: Graph) -> "Lowered":
        """Return the loop program."""
        from atoll.ops.pooling_loops import lower_max_pool_2d

        return lower_max_pool_2d(op, graph)


def _window(op: Operator) -> Window:
    return Window.of(op, op.integer("filter_h"), op.integer("filter_w"))


def _output_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    batch, height, width, channels = required(op, graph, 0).shape
    rows, columns = _window(op).positions(height, width)
    return (batch, rows, columns, channels) if min(rows, columns) > 0 else None


_RULES: tuple[checks.Rule, ...] = (
    checks.operands(1, 1),
    checks.int8_activations(),
    checks.same_quantization,
    checks.rank(0, dimensions=4),
    checks.activation,
    window_rules.steps,
    window_rules.padded_size(lambda op, graph: _window(op)),
    checks.output_shape(_output_shape),
)

AVERAGE_POOL_2D = AveragePool2D()
MAX_POOL_2D = MaxPool2D()
