# SPDX-License-Identifier: Apache-2.0
"""What operators with a sliding window accept of strides, dilations, extents and padding."""

from collections.abc import Callable, Iterator

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.window import Window

GREATEST_PADDED = 2**27

_STEPS = ("filter_h", "filter_w", "stride_h", "stride_w", "dilation_h", "dilation_w")


def steps(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require extents, strides and dilations of at least 1."""
    (output,) = graph.results(op)
    for name in _STEPS:
        if name in op.attributes and op.integer(name) < 1:
            message = f"{name} is {op.integer(name)}, the least is 1"
            yield checks.fault(op, message, tensor=output, remedy=f"set {name} to 1 or more")


def padded_size(window_of: Callable[[Operator, Graph], Window]) -> checks.Rule:
    """Bound the input with its padding, which a dilation of millions would blow up."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        x, window = require_input(op, graph, 0), window_of(op, graph)
        batch, height, width, channels = x.shape
        rows = height + window.pad_top + window.pad_bottom
        columns = width + window.pad_left + window.pad_right
        elements = batch * rows * columns * channels
        if elements > GREATEST_PADDED:
            message = f"has {elements} elements with padding, the most is {GREATEST_PADDED}"
            remedy = "use a smaller window or dilation"
            yield checks.fault(op, message, tensor=x, remedy=remedy)

    return rule
