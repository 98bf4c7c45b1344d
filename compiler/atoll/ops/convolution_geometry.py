"""Operands, windows and shapes of the operators that sum products."""

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.checks import required
from atoll.ops.window import Window


def tensors(op: Operator, graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """Return input, weights and output."""
    (output,) = graph.results(op)
    return required(op, graph, 0), required(op, graph, 1), output


def window(op: Operator, weights: Tensor) -> Window:
    """Return the window; a dense layer is a 1x1 convolution."""
    if op.kind == "fully_connected":
        return Window(kernel_h=1, kernel_w=1, stride_h=1, stride_w=1)
    return Window.of(op, weights.shape[1], weights.shape[2])


def image(op: Operator, x: Tensor, weights: Tensor) -> tuple[int, ...]:
    """Return the input's shape as [N, H, W, C]; the rows of a dense layer lie across."""
    if op.kind == "fully_connected":
        return (1, 1, x.elements // weights.shape[1], weights.shape[1])
    return x.shape


def channels(op: Operator, weights: Tensor) -> int:
    """Count the output channels."""
    return weights.shape[channel_axis(op)]


def channel_axis(op: Operator) -> int:
    """Return the dimension of the weights that runs over output channels."""
    return 3 if op.kind == "depthwise_conv_2d" else 0


def depth_multiplier(op: Operator) -> int:
    """Return how many outputs each input channel makes in a depthwise convolution, else 1."""
    return op.integer("depth_multiplier") if op.kind == "depthwise_conv_2d" else 1


def output_shape(op: Operator, graph: Graph) -> tuple[int, ...] | None:
    """Derive the output's shape; None if the window does not fit the padded input."""
    x, weights, output = tensors(op, graph)
    outputs = channels(op, weights)
    if op.kind == "fully_connected":
        rows = x.elements // weights.shape[1]
        fits = output.shape[-1:] == (outputs,) and output.elements == rows * outputs
        return output.shape if fits else (rows, outputs)
    height, width = window(op, weights).positions(x.shape[1], x.shape[2])
    return (x.shape[0], height, width, outputs) if min(height, width) > 0 else None
