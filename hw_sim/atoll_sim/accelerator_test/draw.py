"""Draw operators within the limits of an accelerator, edges of the limits first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

import numpy as np

from atoll.errors import ModelError
from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.ops.formulas import limited_values
from atoll.ops.kind import Array
from atoll.ops.registry import kind_of
from atoll.place.capabilities import obstacles
from atoll.resolve.soc import Engine, OperatorSupport, ResolvedSoc

MOST_BYTES = 12 * 1024
"""Of one tensor of an operator."""

TRIES = 400  # operators that are drawn until one is within the limits
_ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")
_SMALL = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 64)
_FEW = (1, 1, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class Drawn:
    """An operator and its features."""

    graph: Graph
    features: Mapping[str, int]


def draw(
    support: OperatorSupport, engine: Engine, soc: ResolvedSoc, random: Random, edge: str = ""
) -> Drawn | None:
    """Return an operator that `engine` runs, None if none of those that are drawn is.

    Args:
        support: the kind of operator.
        engine: the accelerator.
        soc: its chip.
        random: decides all.
        edge: a feature, such as ``kernel_h``, that shall be as great as its limit lets it.
    """
    make = MAKERS.get(support.kind)
    if make is None:
        return None
    for _ in range(TRIES):
        graph = make(support.kind, _Shapes(support, random, edge))
        op = graph.operators[0]
        if any(tensor.size > MOST_BYTES for tensor in graph.tensors):
            continue
        try:
            kind_of(op).check(op, graph)
        except ModelError:
            continue
        if not any(obstacles(op, graph, engine, soc)):
            return Drawn(graph, limited_values(op, graph, engine))
    return None


class _Shapes:
    """Numbers within the limits of an operator."""

    def __init__(self, support: OperatorSupport, random: Random, edge: str) -> None:
        self.random = random
        self._limits = support.limits
        self._edge = edge
        self._halves = random.random() < 0.4

    def number(self, feature: str, usual: tuple[int, ...] = _SMALL, least: int = 1) -> int:
        """Return a value of a feature: at a limit now and then, and where it is the edge."""
        low, high = self._limits.get(feature, (None, None))
        low = max(least, low if low is not None else least)
        high = high if high is not None else max(usual)
        if feature == self._edge or (high <= 64 and self.random.random() < 0.1):
            return high
        return min(high, max(low, self.random.choice(usual)))

    def scale(self) -> float:
        """Return a scale as networks have them, or a power of two: sums then meet exact halves."""
        if self._halves:
            return 2.0 ** self.random.randint(-7, -4)
        return float(np.float32(2.0 ** self.random.uniform(-9, -3)))

    def zero(self) -> int:
        """Return a zero point, at an end of int8 as often as not."""
        return self.random.choice((-128, 127, 0, self.random.randint(-128, 127)))

    def activation(self) -> str:
        """Return a fused activation."""
        return self.random.choice(_ACTIVATIONS)

    def values(self, *shape: int) -> Array:
        """Return random int8."""
        generator = np.random.default_rng(self.random.getrandbits(32))
        drawn: Array = generator.integers(-127, 128, shape).astype(np.int8)
        return drawn


def _tensor(name: str, shape: tuple[int, ...], scale: float, zero: int) -> Tensor:
    quantization = Quantization(scales=(scale,), zero_points=(zero,))
    return Tensor(name=name, shape=shape, dtype="int8", quantization=quantization)


def _alone(kind: str, tensors: tuple[Tensor, ...], attributes: Mapping[str, Attribute]) -> Graph:
    *operands, result = tensors
    op = Operator(
        name="drawn",
        kind=kind,
        inputs=tuple(tensor.name for tensor in operands),
        outputs=(result.name,),
        attributes=attributes,
    )
    inputs = tuple(tensor.name for tensor in operands if tensor.data is None)
    return Graph("drawn", tensors, (op,), inputs, (result.name,))


@dataclass(frozen=True, slots=True)
class _Window:
    """What windowed operators have in common: attributes, and extents along each axis."""

    attributes: Mapping[str, Attribute]
    kernel: tuple[int, int]
    read: tuple[int, int]
    made: tuple[int, int]


def _window(shapes: _Shapes, *, dilated: bool) -> _Window:
    attributes: dict[str, Attribute] = {"activation": shapes.activation()}
    kernel, read, made = [], [], []
    for axis, extent, low, high in (
        ("h", "height", "top", "bottom"),
        ("w", "width", "left", "right"),
    ):
        size = shapes.number(f"kernel_{axis}", (1, 2, 3, 3, 5))
        stride = shapes.number(f"stride_{axis}", _FEW)
        dilation = shapes.number(f"dilation_{axis}", (1, 1, 1, 2)) if dilated else 1
        reach = (size - 1) * dilation + 1
        before = min(shapes.number(f"pad_{low}", (0, 0, 1), 0), reach - 1)
        after = min(shapes.number(f"pad_{high}", (0, 0, 1), 0), reach - 1)
        length = max(
            shapes.number(f"in_{extent}", (1, 3, 4, 5, 7, 8, 12)), reach - before - after, 1
        )
        attributes |= {f"stride_{axis}": stride, f"pad_{low}": before, f"pad_{high}": after}
        if dilated:
            attributes[f"dilation_{axis}"] = dilation
        kernel.append(size)
        read.append(length)
        made.append((length + before + after - reach) // stride + 1)
    return _Window(attributes, (kernel[0], kernel[1]), (read[0], read[1]), (made[0], made[1]))


def _convolution(kind: str, shapes: _Shapes) -> Graph:
    depthwise = kind == "depthwise_conv_2d"
    window = _window(shapes, dilated=True)
    channels = shapes.number("in_channels")
    times = shapes.number("depth_multiplier", _FEW) if depthwise else 1
    outputs = channels * times if depthwise else shapes.number("out_channels")
    filters = (1, *window.kernel, outputs) if depthwise else (outputs, *window.kernel, channels)
    batches = shapes.number("batches", (1, 1, 1, 2))
    x = _tensor("x", (batches, *window.read, channels), shapes.scale(), shapes.zero())
    weights, bias = _weights(shapes, filters, 3 if depthwise else 0, outputs, x)
    y = _tensor("y", (batches, *window.made, outputs), shapes.scale(), shapes.zero())
    more: Mapping[str, Attribute] = {"depth_multiplier": times} if depthwise else {}
    return _alone(kind, (x, weights, bias, y), {**window.attributes, **more})


def _dense(kind: str, shapes: _Shapes) -> Graph:
    inputs, outputs = shapes.number("in_channels"), shapes.number("out_channels")
    rows = shapes.number("in_width", _FEW)
    x = _tensor("x", (rows, inputs), shapes.scale(), shapes.zero())
    weights, bias = _weights(shapes, (outputs, inputs), 0, outputs, x)
    y = _tensor("y", (rows, outputs), shapes.scale(), shapes.zero())
    options: Mapping[str, Attribute] = {"activation": shapes.activation(), "keep_num_dims": False}
    return _alone(kind, (x, weights, bias, y), options)


def _weights(
    shapes: _Shapes, shape: tuple[int, ...], axis: int, outputs: int, x: Tensor
) -> tuple[Tensor, Tensor]:
    assert x.quantization
    scales = tuple(shapes.scale() for _ in range(outputs))
    zeros = (0,) * outputs
    values = shapes.values(*shape)
    weights = Tensor(
        name="w",
        shape=shape,
        dtype="int8",
        data=values.tobytes(),
        quantization=Quantization(scales=scales, zero_points=zeros, axis=axis),
    )
    generator = np.random.default_rng(shapes.random.getrandbits(32))
    made = generator.integers(-20_000, 20_000, outputs).astype(np.int32)
    products = tuple(x.quantization.scales[0] * scale for scale in scales)
    bias = Tensor(
        name="b",
        shape=(outputs,),
        dtype="int32",
        data=made.tobytes(),
        quantization=Quantization(scales=products, zero_points=zeros),
    )
    return weights, bias


def _pooling(kind: str, shapes: _Shapes) -> Graph:
    window = _window(shapes, dilated=False)
    channels = shapes.number("out_channels")
    batches = shapes.number("batches", (1, 1, 1, 2))
    scale, zero = shapes.scale(), shapes.zero()
    x = _tensor("x", (batches, *window.read, channels), scale, zero)
    y = _tensor("y", (batches, *window.made, channels), scale, zero)
    filters: Mapping[str, Attribute] = {"filter_h": window.kernel[0], "filter_w": window.kernel[1]}
    return _alone(kind, (x, y), {**window.attributes, **filters})


def _two(kind: str, shapes: _Shapes) -> Graph:
    shape = _shape(shapes)
    tensors = tuple(_tensor(name, shape, shapes.scale(), shapes.zero()) for name in ("x", "z", "y"))
    return _alone(kind, tensors, {"activation": shapes.activation()})


def _one(kind: str, shapes: _Shapes) -> Graph:
    shape = _shape(shapes)
    x, y = (_tensor(name, shape, shapes.scale(), shapes.zero()) for name in ("x", "y"))
    return _alone(kind, (x, y), {})


def _shape(shapes: _Shapes) -> tuple[int, ...]:
    """Return a shape with as many elements as the limits let it."""
    elements = min(shapes.number("elements", (1, 3, 32, 100, 257, 1024, 2000)), MOST_BYTES)
    for channels in shapes.random.sample((3, 4, 8, 16), 4):
        if elements % channels == 0:
            return (1, 1, elements // channels, channels)
    return (1, elements)


def _joined(kind: str, shapes: _Shapes) -> Graph:
    rows, count = shapes.number("", (1, 2, 5, 9)), shapes.random.choice((2, 2, 3, 4))
    scale, zero = shapes.scale(), shapes.zero()
    widths = [shapes.random.choice(_SMALL) for _ in range(count)]
    parts = [_tensor(f"x{n}", (rows, width), scale, zero) for n, width in enumerate(widths)]
    y = _tensor("y", (rows, sum(widths)), scale, zero)
    return _alone(kind, (*parts, y), {"axis": 1, "activation": "none"})


def _likely(kind: str, shapes: _Shapes) -> Graph:
    rows, depth = shapes.number("rows", _FEW), shapes.number("depth")
    x = _tensor("x", (rows, depth), shapes.scale(), shapes.zero())
    return _alone(kind, (x, _tensor("y", (rows, depth), 1 / 256, -128)), {"beta": 1.0})


def _moved(kind: str, shapes: _Shapes) -> Graph:
    size = min(shapes.number("bytes"), MOST_BYTES)
    scale, zero = shapes.scale(), shapes.zero()
    return _alone(
        kind, (_tensor("x", (size,), scale, zero), _tensor("y", (1, size), scale, zero)), {}
    )


MAKERS: Mapping[str, Callable[[str, _Shapes], Graph]] = {
    "add": _two,
    "average_pool_2d": _pooling,
    "concatenation": _joined,
    "conv_2d": _convolution,
    "depthwise_conv_2d": _convolution,
    "fully_connected": _dense,
    "max_pool_2d": _pooling,
    "mul": _two,
    "quantize": _one,
    "reshape": _moved,
    "softmax": _likely,
}
"""Who draws an operator of a kind."""
