# SPDX-License-Identifier: Apache-2.0
"""Makers of operators with random shapes, within limits that a description gives."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random

import numpy as np

from atoll.ir.graph import ITEM_BYTES, Attribute, Graph, Operator, Quantization, Tensor
from atoll.ops.kind import Array
from atoll.records import dataclass
from atoll.resolve.soc import OperatorSupport

MOST_BYTES = 12 * 1024
"""Of one tensor of an operator."""

TYPES = {1: "int8", 2: "int16", 4: "int32"}
"""By the bytes of an element."""

_ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")
_SMALL = (1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 24, 31, 32, 33, 64)
_FEW = (1, 1, 1, 2, 3)
_COPIED = (1, 3, 16, 17, 64, 255, 257, 1024, 4097, 8192)
_LENGTHS = (1, 3, 4, 5, 7, 8, 12)
_IMAGE_RANK = 4


class UnfitError(Exception):
    """An operator cannot read the tensor that it is given."""


class Shapes:
    """Numbers within the limits of an operator.

    Attributes:
        random: decides all.
        given: what the operator reads, if it is part of a pattern and another one makes that.
    """

    def __init__(
        self,
        support: OperatorSupport,
        random: Random,
        edge: str,
        *,
        step: str = "",
        given: Tensor | None = None,
    ) -> None:
        self.random = random
        self.given = given
        self._prefix = f"{step}_" if step else ""
        self._limits = support.limits
        self._edge = edge
        self._halves = random.random() < 0.4

    @property
    def in_pattern(self) -> bool:
        """Whether the operator is one of several."""
        return bool(self._prefix)

    def read(self, shape: tuple[int, ...], scale: float, zero: int) -> Tensor:
        """Return what the operator reads: what it is given, else a tensor ``x``."""
        return self.given or _tensor("x", shape, scale, zero)

    def image(self) -> tuple[int, int, int, int] | None:
        """Return the extents of the image that the operator is given, None if it is free."""
        if self.given is None:
            return None
        if len(self.given.shape) != _IMAGE_RANK:
            raise UnfitError
        batches, height, width, channels = self.given.shape
        return batches, height, width, channels

    def number(self, feature: str, usual: tuple[int, ...] = _SMALL, least: int = 1) -> int:
        """Return a value of a feature: at a limit now and then, and where it is the edge."""
        feature = self._prefix + feature
        low, high = self._limits.get(feature, (None, None))
        low = max(least, low if low is not None else least)
        high = high if high is not None else max(usual)
        if feature == self._edge or (high <= 64 and self.random.random() < 0.1):
            return high
        return min(high, max(low, self.random.choice(usual)))

    def tensor(self, name: str, shape: tuple[int, ...], dtype: str = "int8") -> Tensor:
        """Return a tensor of a type; numbers of int32 have no scale."""
        if dtype == "int32":
            return Tensor(name=name, shape=shape, dtype=dtype)
        made = _tensor(name, shape, self.scale(), self.zero() if dtype == "int8" else 0)
        return replace(made, dtype=dtype)

    def dtype(self) -> str:
        """Return a type whose elements are as wide as the limits let them, int8 without any."""
        limit = self._limits.get(f"{self._prefix}element_bytes")
        if limit is None:
            return TYPES[1]
        low, high = limit[0] or 1, limit[1] or max(TYPES)
        return TYPES[self.random.choice([width for width in TYPES if low <= width <= high] or [1])]

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


def _window(shapes: Shapes, *, dilated: bool) -> _Window:
    attributes: dict[str, Attribute] = {"activation": shapes.activation()}
    kernel, read, made = [], [], []
    given = shapes.image()
    for number, (axis, extent, low, high) in enumerate(
        (("h", "height", "top", "bottom"), ("w", "width", "left", "right")), start=1
    ):
        size = shapes.number(f"kernel_{axis}", (1, 2, 3, 3, 5))
        stride = shapes.number(f"stride_{axis}", _FEW)
        dilation = shapes.number(f"dilation_{axis}", (1, 1, 1, 2)) if dilated else 1
        reach = (size - 1) * dilation + 1
        before = min(shapes.number(f"pad_{low}", (0, 0, 1), 0), reach - 1)
        after = min(shapes.number(f"pad_{high}", (0, 0, 1), 0), reach - 1)
        least = max(reach - before - after, 1)
        length = given[number] if given else shapes.number(f"in_{extent}", _LENGTHS, least)
        if length < least:
            raise UnfitError
        attributes |= {f"stride_{axis}": stride, f"pad_{low}": before, f"pad_{high}": after}
        if dilated:
            attributes[f"dilation_{axis}"] = dilation
        kernel.append(size)
        read.append(length)
        made.append((length + before + after - reach) // stride + 1)
    return _Window(attributes, (kernel[0], kernel[1]), (read[0], read[1]), (made[0], made[1]))


def _convolution(kind: str, shapes: Shapes) -> Graph:
    depthwise = kind == "depthwise_conv_2d"
    window = _window(shapes, dilated=True)
    given = shapes.image()
    channels = given[3] if given else shapes.number("in_channels")
    times = shapes.number("depth_multiplier", _FEW) if depthwise else 1
    outputs = channels * times if depthwise else shapes.number("out_channels")
    filters = (1, *window.kernel, outputs) if depthwise else (outputs, *window.kernel, channels)
    batches = given[0] if given else shapes.number("batches", (1, 1, 1, 2))
    x = shapes.read((batches, *window.read, channels), shapes.scale(), shapes.zero())
    weights, bias = _weights(shapes, filters, 3 if depthwise else 0, outputs, x)
    y = _tensor("y", (batches, *window.made, outputs), shapes.scale(), shapes.zero())
    more: Mapping[str, Attribute] = {"depth_multiplier": times} if depthwise else {}
    return _alone(kind, (x, weights, bias, y), {**window.attributes, **more})


def _dense(kind: str, shapes: Shapes) -> Graph:
    inputs, outputs = shapes.number("in_channels"), shapes.number("out_channels")
    rows = shapes.number("in_width", _FEW)
    x = shapes.read((rows, inputs), shapes.scale(), shapes.zero())
    inputs, rows = x.shape[-1], x.elements // x.shape[-1]
    weights, bias = _weights(shapes, (outputs, inputs), 0, outputs, x)
    y = _tensor("y", (rows, outputs), shapes.scale(), shapes.zero())
    options: Mapping[str, Attribute] = {"activation": shapes.activation(), "keep_num_dims": False}
    return _alone(kind, (x, weights, bias, y), options)


def _weights(
    shapes: Shapes, shape: tuple[int, ...], axis: int, outputs: int, x: Tensor
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


def _make_pooling(kind: str, shapes: Shapes) -> Graph:
    window = _window(shapes, dilated=False)
    channels = shapes.number("out_channels")
    batches = shapes.number("batches", (1, 1, 1, 2))
    x = shapes.read((batches, *window.read, channels), shapes.scale(), shapes.zero())
    batches, _, _, channels = x.shape
    y = replace(x, name="y", shape=(batches, *window.made, channels))
    filters: Mapping[str, Attribute] = {"filter_h": window.kernel[0], "filter_w": window.kernel[1]}
    return _alone(kind, (x, y), {**window.attributes, **filters})


def _two(kind: str, shapes: Shapes) -> Graph:
    dtype = shapes.given.dtype if shapes.given else shapes.dtype()
    shape = _shape(shapes, dtype)
    z, y, x = (shapes.tensor(name, shape, dtype) for name in ("z", "y", "x"))
    return _alone(kind, (shapes.given or x, z, y), {"activation": shapes.activation()})


def _one(kind: str, shapes: Shapes) -> Graph:
    dtype = shapes.given.dtype if shapes.given else shapes.dtype()
    shape = _shape(shapes, dtype)
    x, y = (shapes.tensor(name, shape, dtype) for name in ("x", "y"))
    return _alone(kind, (shapes.given or x, y), {})


def _shape(shapes: Shapes, dtype: str) -> tuple[int, ...]:
    """Return a shape with as many elements as the limits let it."""
    if shapes.given:
        return shapes.given.shape
    if shapes.in_pattern:
        sides = (shapes.random.choice(_LENGTHS) for _ in range(2))
        return (1, *sides, shapes.random.choice(_SMALL))
    most = MOST_BYTES // ITEM_BYTES[dtype]
    elements = min(shapes.number("elements", (1, 3, 32, 100, 257, 1024, 2000)), most)
    for channels in shapes.random.sample((3, 4, 8, 16), 4):
        if elements % channels == 0:
            return (1, 1, elements // channels, channels)
    return (1, elements)


def _make_concatenation(kind: str, shapes: Shapes) -> Graph:
    if shapes.given:
        raise UnfitError
    rows, count = shapes.random.choice((1, 2, 5, 9, 33)), shapes.random.choice((2, 2, 3, 4))
    scale, zero = shapes.scale(), shapes.zero()
    widths = [shapes.random.choice(_SMALL) for _ in range(count)]
    parts = [_tensor(f"x{n}", (rows, width), scale, zero) for n, width in enumerate(widths)]
    y = _tensor("y", (rows, sum(widths)), scale, zero)
    return _alone(kind, (*parts, y), {"axis": 1, "activation": "none"})


def _likely(kind: str, shapes: Shapes) -> Graph:
    rows, depth = shapes.number("rows", _FEW), shapes.number("depth")
    x = shapes.read((rows, depth), shapes.scale(), shapes.zero())
    return _alone(kind, (x, _tensor("y", x.shape, 1 / 256, -128)), {"beta": 1.0})


def _make_move(kind: str, shapes: Shapes) -> Graph:
    size = min(shapes.number("bytes"), MOST_BYTES)
    x = shapes.read((size,), shapes.scale(), shapes.zero())
    return _alone(kind, (x, replace(x, name="y", shape=(1, x.elements))), {})


def _make_copy(kind: str, shapes: Shapes) -> Graph:
    size = min(shapes.number("bytes", _COPIED), MOST_BYTES)
    x = shapes.read((size,), shapes.scale(), shapes.zero())
    return _alone(kind, (x, replace(x, name="y")), {})


MAKERS: Mapping[str, Callable[[str, Shapes], Graph]] = {
    "add": _two,
    "average_pool_2d": _make_pooling,
    "concatenation": _make_concatenation,
    "copy": _make_copy,
    "conv_2d": _convolution,
    "depthwise_conv_2d": _convolution,
    "fully_connected": _dense,
    "max_pool_2d": _make_pooling,
    "mul": _two,
    "quantize": _one,
    "reshape": _make_move,
    "softmax": _likely,
}
"""Who draws an operator of a kind."""
