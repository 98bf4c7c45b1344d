"""What CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED accept."""

from collections.abc import Iterator

from atoll.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import checks, window_rules
from atoll.ops import convolution_geometry as geometry
from atoll.ops.quantization import channel_factors
from atoll.ops.window import Window


def _weights(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require weights with zero point 0, quantised as a whole or per output channel."""
    _, weights, _ = geometry.tensors(op, graph)
    quantization = weights.quantization
    dimensions = 2 if op.kind == "fully_connected" else 4
    if len(weights.shape) != dimensions:
        message = f"has shape {list(weights.shape)} instead of {dimensions} dimensions"
        yield checks.fault(op, message, tensor=weights)
    elif quantization is None:
        yield checks.fault(op, "has no quantisation parameters", tensor=weights)
    elif any(quantization.zero_points):
        remedy = "quantise the weights symmetrically, as the TFLite int8 specification demands"
        yield checks.fault(op, "has a zero point other than 0", tensor=weights, remedy=remedy)
    elif len(quantization.scales) > 1 and quantization.axis != geometry.channel_axis(op):
        message = f"is quantised along dimension {quantization.axis}"
        remedy = f"quantise it along dimension {geometry.channel_axis(op)}, the output channels"
        yield checks.fault(op, message, tensor=weights, remedy=remedy)


def _bias(op: Operator, graph: Graph) -> Iterator[Fault]:
    _, weights, _ = geometry.tensors(op, graph)
    bias, channels = checks.operand(op, graph, 2), geometry.channels(op, weights)
    if bias is not None and bias.elements != channels:
        message = f"has {bias.elements} elements for {channels} output channels"
        yield checks.fault(op, message, tensor=bias)


def _window(op: Operator, graph: Graph) -> Window:
    return geometry.window(op, geometry.tensors(op, graph)[1])


def _depth(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require weights that cover the input's channels."""
    x, weights, _ = geometry.tensors(op, graph)
    if not _covers(op, x, weights):
        message = f"has shape {list(weights.shape)}, which does not fit the input {list(x.shape)}"
        yield checks.fault(op, message, tensor=weights)


def _covers(op: Operator, x: Tensor, weights: Tensor) -> bool:
    match op.kind:
        case "fully_connected":
            return x.elements % weights.shape[1] == 0
        case "conv_2d":
            return x.shape[3] == weights.shape[3]
        case _:
            outputs = x.shape[3] * geometry.depth_multiplier(op)
            return (weights.shape[0], weights.shape[3]) == (1, outputs)


_OPERANDS: tuple[checks.Rule, ...] = (
    checks.operands(2, 3),
    checks.int8_activations(0),
    checks.constant(1, "int8"),
    checks.constant(2, "int32"),
    checks.activation,
    _weights,
    _bias,
)
_RESULT: tuple[checks.Rule, ...] = (
    _depth,
    checks.output_shape(geometry.output_shape),
    checks.factors(channel_factors),
)

DENSE = (*_OPERANDS, *_RESULT)
SPATIAL = (
    *_OPERANDS,
    checks.rank(0, dimensions=4),
    window_rules.steps,
    window_rules.padded_size(_window),
    *_RESULT,
)
