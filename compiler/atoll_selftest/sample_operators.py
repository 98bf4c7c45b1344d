# SPDX-License-Identifier: Apache-2.0
"""A small operator of each kind with exact results, for known-answer tests of engines."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.ops.kind import Array
from atoll.ops.reference import run
from atoll.ops.registry import COPY, kind_of
from atoll.place.capabilities import obstacles
from atoll.records import dataclass
from atoll.resolve.soc import Dma, Engine, ResolvedSoc

SIDES, CHANNELS, KERNELS = (4, 8, 1, 2, 16), (8, 16, 4, 32, 64, 1, 3), (3, 1, 2)
"""What shapes are tried, the first first."""

_SEED = 2015
_SCALE = 0.05
_WINDOW = ("stride_h", "stride_w", "dilation_h", "dilation_w")
_PADS = ("pad_top", "pad_left", "pad_bottom", "pad_right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An operator whose results are known.

    Attributes:
        graph: the operator alone.
        operator: it.
        inputs: bytes of each activation that it reads, by name.
        outputs: bytes of each that it writes.
    """

    graph: Graph
    operator: Operator
    inputs: Mapping[str, bytes]
    outputs: Mapping[str, bytes]


def answers(engine: Engine, soc: ResolvedSoc) -> Iterator[Answer]:
    """Yield one operator of each kind that `engine` runs, if any shape that is tried suits it."""
    for kind in (COPY,) if isinstance(engine, Dma) else engine.runs:
        if (found := _answer(kind, engine, soc)) is not None:
            yield found


def copy_of(size: int) -> Answer:
    """Return a copy of `size` bytes; the bytes do not matter."""
    tensors = (_activation("x", (size,)), _activation("y", (size,)))
    return _compute_answer(_graph(COPY, tensors, {}))


def _answer(kind: str, engine: Engine, soc: ResolvedSoc) -> Answer | None:
    make = _MAKERS.get(kind)
    if make is None:
        return None
    for side, channels, kernel in product(SIDES, CHANNELS, KERNELS):
        if kernel > side:
            continue
        graph = make(kind, side, channels, kernel)
        op = graph.operators[0]
        try:
            kind_of(op).check(op, graph)
        except ModelError:
            continue
        if isinstance(engine, Dma) or not any(obstacles(op, graph, engine, soc)):
            return _compute_answer(graph)
    return None


def _compute_answer(graph: Graph) -> Answer:
    """Draw the inputs and compute the results."""
    random = np.random.default_rng(_SEED)

    def draw(tensor: Tensor) -> Array:
        values: Array = random.integers(-128, 128, tensor.shape).astype(tensor.dtype)
        return values

    inputs = {name: draw(graph.tensor(name)) for name in graph.inputs}
    values = run(graph, inputs)
    return Answer(
        graph=graph,
        operator=graph.operators[0],
        inputs={name: inputs[name].tobytes() for name in graph.inputs},
        outputs={name: values[name].tobytes() for name in graph.outputs},
    )


def _activation(name: str, shape: Sequence[int], scale: float = _SCALE, zero: int = 0) -> Tensor:
    quantization = Quantization(scales=(scale,), zero_points=(zero,))
    return Tensor(name=name, shape=tuple(shape), dtype="int8", quantization=quantization)


def _constant(name: str, values: Array, scales: int = 1, axis: int = 0) -> Tensor:
    quantization = Quantization(scales=(_SCALE,) * scales, zero_points=(0,) * scales, axis=axis)
    data, dtype = values.tobytes(), str(values.dtype)
    return Tensor(name=name, shape=values.shape, dtype=dtype, quantization=quantization, data=data)


def _graph(kind: str, tensors: Sequence[Tensor], attributes: Mapping[str, Attribute]) -> Graph:
    """Return a graph of one operator: the last tensor is its result, the others its operands."""
    *operands, result = (tensor.name for tensor in tensors)
    op = Operator(
        name="known_0",
        kind=kind,
        inputs=tuple(operands),
        outputs=(result,),
        attributes=attributes,
    )
    inputs = tuple(tensor.name for tensor in tensors[:-1] if tensor.data is None)
    return Graph("selftest", tuple(tensors), (op,), inputs, (result,))


def _window() -> dict[str, Attribute]:
    return {**dict.fromkeys(_WINDOW, 1), **dict.fromkeys(_PADS, 0), "activation": "none"}


def _draw(*shape: int) -> Array:
    values: Array = np.random.default_rng(_SEED).integers(-127, 128, shape).astype(np.int8)
    return values


def _bias(outputs: int) -> Tensor:
    quantization = Quantization(scales=(_SCALE**2,) * outputs, zero_points=(0,) * outputs)
    data = (np.arange(outputs, dtype=np.int32) * 100).tobytes()
    return Tensor(
        name="bias", shape=(outputs,), dtype="int32", quantization=quantization, data=data
    )


def _sums(taps: int) -> float:
    """Return the scale of a result that spreads sums of `taps` products over 8 bits."""
    return _SCALE**2 * 60.0 * math.sqrt(max(taps, 1))


def _convolution(kind: str, side: int, channels: int, kernel: int) -> Graph:
    depthwise = kind == "depthwise_conv_2d"
    shape = (1, kernel, kernel, channels) if depthwise else (channels, kernel, kernel, channels)
    left = side - kernel + 1
    taps = kernel * kernel * (1 if depthwise else channels)
    tensors = (
        _activation("x", (1, side, side, channels)),
        _constant("filter", _draw(*shape), channels, 3 if depthwise else 0),
        _bias(channels),
        _activation("y", (1, left, left, channels), _sums(taps)),
    )
    more: dict[str, Attribute] = {"depth_multiplier": 1} if depthwise else {}
    return _graph(kind, tensors, _window() | more)


def _dense(kind: str, side: int, channels: int, kernel: int) -> Graph:
    inputs = side * channels
    tensors = (
        _activation("x", (1, inputs)),
        _constant("filter", _draw(channels, inputs), channels),
        _bias(channels),
        _activation("y", (1, channels), _sums(inputs)),
    )
    return _graph(kind, tensors, {"activation": "none", "keep_num_dims": False})


def _make_pooling(kind: str, side: int, channels: int, kernel: int) -> Graph:
    left = side - kernel + 1
    tensors = (
        _activation("x", (1, side, side, channels)),
        _activation("y", (1, left, left, channels)),
    )
    options = {name: value for name, value in _window().items() if "dilation" not in name}
    return _graph(kind, tensors, options | {"filter_h": kernel, "filter_w": kernel})


def _two(kind: str, side: int, channels: int, kernel: int) -> Graph:
    shape = (1, side, side, channels)
    scale = 2 * _SCALE if kind == "add" else 128 * _SCALE**2
    tensors = (_activation("a", shape), _activation("b", shape), _activation("y", shape, scale))
    return _graph(kind, tensors, {"activation": "none"})


def _make_concatenation(kind: str, side: int, channels: int, kernel: int) -> Graph:
    shape = (1, side, side, channels)
    joined = (1, side, side, 2 * channels)
    tensors = (_activation("a", shape), _activation("b", shape), _activation("y", joined))
    return _graph(kind, tensors, {"axis": 3, "activation": "none"})


def _make_move(kind: str, side: int, channels: int, kernel: int) -> Graph:
    size = side * side * channels
    shape = (1, size) if kind == "reshape" else (size,)
    return _graph(kind, (_activation("x", (size,)), _activation("y", shape)), {})


def _make_rescaling(kind: str, side: int, channels: int, kernel: int) -> Graph:
    shape = (1, side, side, channels)
    tensors = (_activation("x", shape), _activation("y", shape, 2 * _SCALE, 3))
    return _graph(kind, tensors, {})


def _likely(kind: str, side: int, channels: int, kernel: int) -> Graph:
    tensors = (_activation("x", (1, channels)), _activation("y", (1, channels), 1 / 256, -128))
    return _graph(kind, tensors, {"beta": 1.0})


_MAKERS: Mapping[str, Callable[[str, int, int, int], Graph]] = {
    "add": _two,
    "average_pool_2d": _make_pooling,
    "concatenation": _make_concatenation,
    "conv_2d": _convolution,
    COPY: _make_move,
    "depthwise_conv_2d": _convolution,
    "fully_connected": _dense,
    "max_pool_2d": _make_pooling,
    "mul": _two,
    "quantize": _make_rescaling,
    "reshape": _make_move,
    "softmax": _likely,
}
"""Who makes a graph of a kind, from a side, channels and a kernel's side."""
