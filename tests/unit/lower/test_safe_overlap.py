# SPDX-License-Identifier: Apache-2.0
"""Declared distances between operand and result are safe, and no smaller ones are.

The interpreter records every read and write of a kernel in its order. A byte of the result that
is written before a byte of an operand is read rules one distance out. The least distance above all
of these is what the kernel needs: the declared one equals it, or keeps the current window besides.
"""

from collections.abc import Callable, Iterator, MutableSequence, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any, overload

import numpy as np
import pytest
from tests.differential.moves import strided_slice_of
from tests.differential.picks import DRAWS
from tests.effort import cases
from tests.ir.interpreter import interpret

from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.graph import Graph, Tensor
from atoll.ir.tir import Entry, IRModule, KernelCall, SafeOverlap, Step
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import with_callees
from atoll.ops.moves.pad import MODES
from atoll.ops.overlap import NEVER, NONE, read_from
from atoll.ops.registry import kind_of

SEEDS = range(cases(12, least=2))
STACK = SpecializeStorage(max_alloca=1 << 20, max_stack=1 << 20, pools=())
Make = Callable[[int], Any]


@dataclass
class Recorder(MutableSequence[int | None]):
    """A buffer that appends (buffer, index, writes) to a log at every access."""

    name: str
    values: list[int | None]
    log: list[tuple[str, int, bool]] = field(default_factory=list)

    @overload
    def __getitem__(self, index: int) -> int | None: ...
    @overload
    def __getitem__(self, index: slice) -> MutableSequence[int | None]: ...
    def __getitem__(self, index: Any) -> Any:
        self.log.append((self.name, index, False))
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.log.append((self.name, index, True))
        self.values[index] = value

    def __delitem__(self, index: Any) -> None:
        raise AssertionError

    def insert(self, index: int, value: int | None) -> None:
        raise AssertionError

    def __len__(self) -> int:
        return len(self.values)


def convolution(make: Any, kind: str) -> Graph:
    rng = make.rng
    height, width, depth, outputs = (int(n) for n in rng.integers(1, 6, 4))
    kernel = [int(n) for n in rng.integers(1, 4, 2)]
    depthwise = kind == "depthwise_conv_2d"
    multiplier = int(rng.integers(1, 4))
    channels = depth * multiplier if depthwise else outputs
    shape = (1, *kernel, channels) if depthwise else (channels, *kernel, depth)
    axis = 3 if depthwise else 0
    options, places = window(rng, kernel, (height, width))
    if depthwise:
        options["depth_multiplier"] = multiplier
    batch = int(rng.integers(1, 3))
    x = make.activation("x", (batch, height, width, depth))
    weights = make.constant(
        "w", rng.integers(-127, 128, shape).astype(np.int8), [0.01] * channels, axis
    )
    y = make.activation("y", (batch, *places, channels))
    return graph_of(make, kind, [x, weights], y, options)


def window(
    rng: np.random.Generator, kernel: Sequence[int], size: Sequence[int]
) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Draw strides, dilations and pads with which the window fits, and count its places."""
    options: dict[str, Any] = {"activation": "none"}
    places = []
    sides = zip("hw", kernel, size, (("top", "bottom"), ("left", "right")), strict=True)
    for side, taps, extent, (before, after) in sides:
        dilation = int(rng.integers(1, 3))
        reach = (taps - 1) * dilation + 1
        stride = int(rng.integers(1, 4))
        pads = [int(n) for n in rng.integers(0, reach, 2)]
        pads[1] = max(pads[1], reach - extent - pads[0])
        options |= {f"stride_{side}": stride, f"dilation_{side}": dilation}
        options |= {f"pad_{before}": pads[0], f"pad_{after}": pads[1]}
        places.append((extent + sum(pads) - reach) // stride + 1)
    return options, tuple(places)


def graph_of(
    make: Any, kind: str, inputs: Sequence[Tensor], output: Tensor, options: dict[str, Any]
) -> Graph:
    graph: Graph = make.graph(kind, inputs, output, **options)
    return graph


def dense(make: Any, kind: str) -> Graph:
    rows, inputs, outputs = (int(n) for n in make.rng.integers(1, 7, 3))
    weights = make.rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    x, y = make.activation("x", (rows, inputs)), make.activation("y", (rows, outputs))
    return graph_of(make, kind, [x, make.constant("w", weights, [0.02])], y, {"activation": "none"})


def pooling(make: Any, kind: str) -> Graph:
    rng = make.rng
    height, width, depth = (int(n) for n in rng.integers(1, 7, 3))
    kernel = [int(n) for n in rng.integers(1, 4, 2)]
    options, places = window(rng, kernel, (height, width))
    for side in "hw":
        taps, extent = kernel["hw".index(side)], (height, width)["hw".index(side)]
        del options[f"dilation_{side}"]
        before, after = {"h": ("top", "bottom"), "w": ("left", "right")}[side]
        options[f"pad_{before}"] = min(options[f"pad_{before}"], taps - 1)
        options[f"pad_{after}"] = max(0, taps - extent - options[f"pad_{before}"])
        total = extent + options[f"pad_{before}"] + options[f"pad_{after}"]
        places = (*places, (total - taps) // options[f"stride_{side}"] + 1)
    options |= {"filter_h": kernel[0], "filter_w": kernel[1]}
    x = make.activation("x", (1, height, width, depth), scale=0.05, zero=3)
    y = make.activation("y", (1, *places[2:], depth), scale=0.05, zero=3)
    return graph_of(make, kind, [x], y, options)


def elementwise(make: Any, kind: str) -> Graph:
    shape = tuple(int(n) for n in make.rng.integers(1, 5, 3))
    other = tuple(n if make.rng.integers(2) else 1 for n in shape)
    inputs = [make.activation("a", shape, scale=0.03), make.activation("b", other, scale=0.04)]
    if kind == "quantize":
        inputs.pop()
    options = {} if kind == "quantize" else {"activation": "none"}
    return graph_of(make, kind, inputs, make.activation("y", shape, scale=0.05), options)


def softmax(make: Any, kind: str) -> Graph:
    shape = tuple(int(n) for n in make.rng.integers(1, 6, 2))
    y = make.activation("y", shape, scale=1 / 256, zero=-128)
    return graph_of(make, kind, [make.activation("x", shape, scale=0.1)], y, {"beta": 1.0})


def mean(make: Any, kind: str) -> Graph:
    shape = tuple(int(n) for n in make.rng.integers(1, 5, 4))
    axes = np.flatnonzero(make.rng.integers(0, 2, 4)).astype(np.int32)
    axes = axes if axes.size else np.array([1], np.int32)
    kept = tuple(1 if axis in axes else extent for axis, extent in enumerate(shape))
    x, y = make.activation("x", shape, scale=0.1), make.activation("y", kept, scale=0.1)
    return graph_of(make, kind, [x, make.constant("axes", axes)], y, {"keep_dims": True})


def moved(make: Any, kind: str) -> Graph:
    shape = tuple(int(n) for n in make.rng.integers(1, 5, 3))
    x = make.activation("x", shape, scale=0.1, zero=1)
    result = (shape[0] * shape[1], shape[2]) if kind == "reshape" else shape
    return graph_of(make, kind, [x], make.activation("y", result, scale=0.1, zero=1), {})


def transposed(make: Any, kind: str) -> Graph:
    shape = make.rng.integers(1, 5, int(make.rng.integers(2, 5)))
    order = make.rng.permutation(shape.size).astype(np.int32)
    x, y = (
        make.activation(name, tuple(extents.tolist()), scale=0.1, zero=1)
        for name, extents in (("x", shape), ("y", shape[order]))
    )
    return graph_of(make, kind, [x, make.constant("order", order)], y, {})


def sliced(make: Any, kind: str) -> Graph:
    shape = tuple(make.rng.integers(1, 6, int(make.rng.integers(1, 5))).tolist())
    tables, masks, result = strided_slice_of(Random(int(make.rng.integers(2**30))), shape)
    names = {"BeginMask": "begin_mask", "EndMask": "end_mask", "ShrinkAxisMask": "shrink_axis_mask"}
    constants = [
        make.constant(f"c{at}", np.array(table, np.int32)) for at, table in enumerate(tables)
    ]
    x, y = (
        make.activation(name, size, scale=0.1, zero=1)
        for name, size in (("x", shape), ("y", result))
    )
    return graph_of(make, kind, [x, *constants], y, {names[each]: masks[each] for each in names})


APART = ("GATHER", "GATHER_ND", "PADV2")
ATTRIBUTES = {
    "AlignCorners": "align_corners",
    "BlockSize": "block_size",
    "HalfPixelCenters": "half_pixel_centers",
    "Mode": "mode",
}


def picked(make: Any, kind: str) -> Graph:
    images = ("depth_to_space", "resize_nearest_neighbor", "space_to_depth")
    shape = tuple(make.rng.integers(1, 5, 4 if kind in images else 3).tolist())
    move = DRAWS[kind.upper()](Random(int(make.rng.integers(2**30))), shape)
    assert move is not None
    stated = kind in ("resize_nearest_neighbor", "broadcast_to")
    constants = [
        make.constant(f"c{at}", table) for at, table in enumerate(move.constants) if not stated
    ]
    x, y = (
        make.activation(name, size, scale=0.1, zero=1)
        for name, size in (("x", shape), ("y", move.result))
    )
    options: dict[str, Any] = {ATTRIBUTES[name]: value for name, value in move.options.items()}
    if "mode" in options:
        options["mode"] = MODES[int(options["mode"])]
    return graph_of(make, kind, [x, *constants], y, options)


def joined(make: Any, kind: str) -> Graph:
    rng = make.rng
    shape = [int(n) for n in rng.integers(1, 5, 3)]
    axis, count = int(rng.integers(3)), int(rng.integers(1, 4))
    extents = [int(n) for n in rng.integers(1, 5, count)]
    inputs = [
        make.activation(f"x{n}", (*shape[:axis], extent, *shape[axis + 1 :]), scale=0.1, zero=0)
        for n, extent in enumerate(extents)
    ]
    total = (*shape[:axis], sum(extents), *shape[axis + 1 :])
    y = make.activation("y", total, scale=0.1, zero=0)
    return graph_of(make, kind, inputs, y, {"axis": axis, "activation": "none"})


MAKERS: dict[str, Callable[[Any, str], Graph]] = {
    "conv_2d": convolution,
    "depthwise_conv_2d": convolution,
    "fully_connected": dense,
    "average_pool_2d": pooling,
    "max_pool_2d": pooling,
    "add": elementwise,
    "mul": elementwise,
    "quantize": elementwise,
    "softmax": softmax,
    "mean": mean,
    "reshape": moved,
    "concatenation": joined,
    "transpose": transposed,
    "strided_slice": sliced,
    **dict.fromkeys((code.lower() for code in DRAWS if code not in APART), picked),
}
PIXELS = ("conv_2d", "depthwise_conv_2d", "fully_connected", "average_pool_2d", "max_pool_2d")


def together(kind: str, output: Tensor) -> int:
    """Return how many pixels are read before the first of them is written."""
    kinds = {"conv_2d": 4, "depthwise_conv_2d": output.elements // output.shape[-1]}
    return kinds.get(kind, 1)


@dataclass
class Kernel:
    """One operator's kernel with values for its buffers, the output last."""

    graph: Graph
    module: IRModule
    names: tuple[str, ...]
    values: dict[str, Any]
    expected: Any

    @classmethod
    def of(cls, graph: Graph, rng: np.random.Generator) -> "Kernel":
        (op,) = graph.operators
        kind = kind_of(op)
        kind.check(op, graph)
        values = {
            tensor.name: np.array(tensor.array)
            if tensor.data is not None
            else rng.integers(-128, 128, tensor.shape).astype(tensor.dtype)
            for tensor in graph.tensors
        }
        (expected,) = kind.reference(op, graph, [values[name] for name in op.inputs])
        lowered = kind.lower(op, graph)
        values |= {tensor.name: np.array(tensor.array) for tensor in lowered.constants}
        overlaps = tuple(
            SafeOverlap("y", name, distance)
            for name, distance in distances(graph).items()
            if distance is not None
        )
        step = Step(
            operator=op.name,
            number=0,
            device="cpu",
            reads=op.inputs,
            writes=op.outputs,
            action=KernelCall(lowered.function.name, lowered.arguments),
            overlaps=overlaps,
        )
        entry = Entry((), (), (), (), (step,))
        module = IRModule("m", with_callees([lowered.function], lowered.library), entry)
        return cls(graph, module, lowered.arguments, values, expected.reshape(-1))

    @property
    def function(self) -> str:
        return self.module.functions[-1].name

    def log(self) -> list[tuple[str, int, bool]]:
        """Interpret the kernel and return its accesses."""
        log: list[tuple[str, int, bool]] = []
        memory: list[Any] = [
            Recorder(name, self.values[name].reshape(-1).tolist(), log) for name in self.names
        ]
        memory[-1].values = [None] * len(memory[-1])
        interpret(self.module, self.function, memory)
        assert memory[-1].values == self.expected.tolist()
        return log

    def run_over(self, read: str, distance: int) -> Any:
        """Run the compiled kernel with its output `distance` bytes below an operand."""
        value, size = self.values[read].reshape(-1), self.expected.size
        shared = np.zeros(max(size, distance + value.size), np.int8)
        shared[distance : distance + value.size] = value
        pointers = {name: np.ascontiguousarray(self.values[name]) for name in self.names[:-1]}
        places = {name: array.ctypes.data for name, array in pointers.items()}
        base = shared.ctypes.data
        places |= {read: base + distance, self.names[-1]: base}
        program = NativeProgram(STACK.run(self.module))
        program.call(self.function, [places[name] for name in self.names])
        return shared[:size]


def distances(graph: Graph) -> dict[str, int | None]:
    (op,) = graph.operators
    return dict(zip(op.inputs, kind_of(op).overlap(op, graph), strict=True))


def ruled_out(log: list[tuple[str, int, bool]], read: str) -> int:
    """Return the greatest distance with which a byte is written before it is read."""
    greatest, written = -(1 << 40), -(1 << 40)
    for name, index, writes in log:
        if writes and name == "y":
            written = max(written, index)
        elif not writes and name == read:
            greatest = max(greatest, written - index)
    return greatest


def kernel_of(kind: str, maker: Any) -> Kernel:
    return Kernel.of(MAKERS[kind](maker, kind), maker.rng)


@pytest.mark.parametrize(("kind", "seed"), [*product(MAKERS, SEEDS)])
def test_m2_distances_are_safe_and_tight(kind: str, seed: int, make: Make) -> None:
    kernel = kernel_of(kind, make(seed))
    log, output = kernel.log(), kernel.graph.tensor("y")
    window = output.shape[-1] * together(kind, output) if kind in PIXELS else 0
    for read, distance in activations(kernel):
        least = max(0, ruled_out(log, read) + 1)
        if distance is not None:
            assert least <= distance <= least + window
        elif kind in ("add", "mul"):
            assert kernel.graph.tensor(read).elements < output.elements, "it is broadcast"
        else:
            assert least + window >= output.size, "they may as well be apart"


@pytest.mark.parametrize(("kind", "seed"), [*product(MAKERS, SEEDS)])
def test_m2_compiled_kernels_keep_the_order(kind: str, seed: int, make: Make) -> None:
    maker = make(seed)
    kernel, rng = kernel_of(kind, maker), maker.rng
    for read, distance in activations(kernel):
        if distance is not None:
            further = distance + int(rng.integers(0, 9))
            for chosen in (distance, further):
                np.testing.assert_array_equal(kernel.run_over(read, chosen), kernel.expected)


def activations(kernel: Kernel) -> Iterator[tuple[str, int | None]]:
    for name, distance in distances(kernel.graph).items():
        if kernel.graph.tensor(name).data is None:
            yield name, distance


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 6, 8, 16])
def test_pixels_that_read_nothing_are_never_too_early(channels: int) -> None:
    """In every image of a batch, however many bytes a pixel has."""
    rows, columns = np.array([0, NONE, 1]), np.array([0, NONE])
    lowest = read_from((2, 2, 1, channels), rows, columns)
    pixels = (0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3)
    assert lowest.tolist() == [*(pixel * channels for pixel in pixels), NEVER]
