"""Graphs of one operator, and the check that its loop program computes its reference."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.ir.interpreter import interpret

from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.ir.tir import Entry, IRModule, Lowered
from atoll.ir.verify import verify
from atoll.isa.instruction_set import MANY, Arithmetic, Vectors
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import with_callees
from atoll.ops.registry import kind_of

Array = NDArray[Any]
Check = Callable[..., None]
GUARD = 64
REGISTERS = (MANY, 14, 8)
"""For which blocks of sums differ."""
STACK = SpecializeStorage(max_alloca=1 << 20, max_stack=1 << 20, pools=())


class Make:
    """Makes tensors and graphs from a random generator."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def activation(
        self, name: str, shape: tuple[int, ...], scale: float = 0.0, zero: int | None = None
    ) -> Tensor:
        """Make an int8 activation with a random scale and zero point unless given."""
        scale = scale or float(np.float32(self.rng.uniform(0.01, 0.2)))
        zero = int(self.rng.integers(-128, 128)) if zero is None else zero
        quantization = Quantization(scales=(scale,), zero_points=(zero,))
        return Tensor(name=name, shape=shape, dtype="int8", quantization=quantization)

    def constant(
        self, name: str, values: Array, scales: Sequence[float] = (), axis: int = 0
    ) -> Tensor:
        """Make a constant, quantised per channel if there are scales."""
        quantization = None
        if scales:
            quantization = Quantization(
                scales=tuple(float(np.float32(scale)) for scale in scales),
                zero_points=(0,) * len(scales),
                axis=axis,
            )
        return Tensor(
            name=name,
            shape=values.shape,
            dtype=str(values.dtype),
            quantization=quantization,
            data=values.tobytes(),
        )

    def graph(
        self, kind: str, inputs: Sequence[Tensor | None], output: Tensor, **options: Attribute
    ) -> Graph:
        """Make a graph of one operator."""
        present = [tensor for tensor in inputs if tensor is not None]
        op = Operator(
            name=f"{kind}_0",
            kind=kind,
            inputs=tuple(tensor.name if tensor else "" for tensor in inputs),
            outputs=(output.name,),
            attributes=options,
        )
        sources = tuple(tensor.name for tensor in present if tensor.data is None)
        return Graph("model", (*present, output), (op,), sources, (output.name,))


@pytest.fixture
def make() -> Callable[[int], Make]:
    """Make a `Make` from a seed."""
    return lambda seed: Make(np.random.default_rng(seed))


@pytest.fixture
def equals_reference() -> Check:
    """Hold an operator's loop program against its numpy reference, compiled and interpreted."""

    def check(graph: Graph, rng: np.random.Generator, *, interpreted: bool = True) -> None:
        (op,) = graph.operators
        kind_of(op).check(op, graph)
        values = {
            tensor.name: rng.integers(-128, 128, tensor.shape).astype(tensor.dtype)
            if tensor.data is None
            else np.array(tensor.array)
            for tensor in graph.tensors
        }
        inputs = [values[name] if name else None for name in op.inputs]
        (expected,) = kind_of(op).reference(op, graph, inputs)
        cores = [Arithmetic(*each) for each in product(Vectors, REGISTERS)]
        cores.append(Arithmetic(Vectors.NONE, MANY, multiplies=False))
        programs = [kind_of(op).lower_for(op, graph, core) for core in cores]
        for lowered in dict.fromkeys(programs):
            _hold(lowered, dict(values), expected, interpreted)

    return check


def _hold(lowered: Lowered, values: dict[str, Array], expected: Array, interpreted: bool) -> None:
    """Run a loop program on values by name, constants included."""
    values |= {tensor.name: np.array(tensor.array) for tensor in lowered.constants}
    module = IRModule(
        "m", with_callees([lowered.function], lowered.library), Entry((), (), (), (), ())
    )
    verify(module)
    arguments = [values[name] for name in lowered.arguments]
    result = compiled(module, lowered.function.name, arguments)
    np.testing.assert_array_equal(result.reshape(expected.shape), expected)
    if interpreted:
        memory: list[Any] = [argument.ravel().tolist() for argument in arguments]
        memory[-1] = [None] * len(memory[-1])
        interpret(module, lowered.function.name, memory)
        np.testing.assert_array_equal(memory[-1], expected.ravel())


def compiled(module: IRModule, function: str, arguments: Sequence[Array]) -> Array:
    """Run a kernel whose last buffer is its output; bytes around the buffers must not change."""
    guarded = [np.pad(argument.ravel(), GUARD, constant_values=0x5A) for argument in arguments]
    guarded[-1][GUARD:-GUARD] = 0x33
    before = [array.copy() for array in guarded]
    item = [array.itemsize for array in guarded]
    pointers = [array.ctypes.data + GUARD * size for array, size in zip(guarded, item, strict=True)]
    NativeProgram(STACK.run(module)).call(function, pointers)
    for array, old in zip(guarded[:-1], before[:-1], strict=True):
        np.testing.assert_array_equal(array, old)
    np.testing.assert_array_equal(guarded[-1][:GUARD], before[-1][:GUARD])
    np.testing.assert_array_equal(guarded[-1][-GUARD:], before[-1][-GUARD:])
    return guarded[-1][GUARD:-GUARD]
