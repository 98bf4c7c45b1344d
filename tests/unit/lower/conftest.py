# SPDX-License-Identifier: Apache-2.0
"""Graphs of one operator, and the check that its loop program computes its reference."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.kernels import hold

from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.isa.instruction_set import MANY, Arithmetic, Vectors
from atoll.lower.specialize_storage import SpecializeStorage
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


def drawn(rng: np.random.Generator, tensor: Tensor) -> Array:
    most = 2**15 if tensor.dtype == "int16" else 128
    return rng.integers(-most, most, tensor.shape).astype(tensor.dtype)


@pytest.fixture
def equals_reference() -> Check:
    """Hold an operator's loop program against its numpy reference, compiled and interpreted."""

    def check(graph: Graph, rng: np.random.Generator, *, interpreted: bool = True) -> None:
        (op,) = graph.operators
        kind_of(op).check(op, graph)
        values = {
            tensor.name: drawn(rng, tensor) if tensor.data is None else np.array(tensor.array)
            for tensor in graph.tensors
        }
        inputs = [values[name] if name else None for name in op.inputs]
        (expected,) = kind_of(op).reference(op, graph, inputs)
        cores = [Arithmetic(*each) for each in product(Vectors, REGISTERS)]
        cores.append(Arithmetic(Vectors.NONE, MANY, multiplies=False))
        programs = [kind_of(op).lower_for(op, graph, core) for core in cores]
        for lowered in dict.fromkeys(programs):
            hold(lowered, values, expected, interpreted=interpreted)

    return check
