# SPDX-License-Identifier: Apache-2.0
"""A network in the making: its values, and how operands, grids and results are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tests.drawn.file import Node, Value, network_bytes

T = TypeVar("T")
LARGEST = 6000
"""Elements of a value."""
RANGES = {
    "int8": (-128, 127),
    "int16": (-32768, 32767),
    "int32": (-(2**20), 2**20),
    "int64": (-(2**20), 2**20),
    "bool": (0, 1),
}
QUANTISED = ("int8", "int16")


class UnsuitableError(Exception):
    """The operator finds no operand here: another one is drawn."""


@dataclass
class Drawing:
    """Values and operators so far; `live` are results and inputs that others may read."""

    rng: np.random.Generator
    values: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    live: list[int] = field(default_factory=list)

    def number(self, least: int, most: int) -> int:
        """Return a number, both ends included."""
        return int(self.rng.integers(least, most + 1))

    def chance(self, share: float) -> bool:
        """Return true in a share of the cases."""
        return bool(self.rng.random() < share)

    def one_of(self, choices: Sequence[T]) -> T:
        """Return one of some choices."""
        return choices[self.number(0, len(choices) - 1)]

    def add(self, value: Value) -> int:
        """Add a value, and return its number."""
        if prod(value.shape) > LARGEST or 0 in value.shape:
            raise UnsuitableError
        self.values.append(value)
        return len(self.values) - 1

    def scale(self) -> float:
        """Return a scale: mostly what converters write, sometimes extreme."""
        spread = 4.0 if self.chance(0.05) else 0.9
        return float(np.float32(0.03 * np.exp(self.rng.normal(0, spread))))

    def zero(self, dtype: str) -> int:
        """Return a zero point."""
        if dtype != "int8":
            return 0
        return self.one_of((-128, 127, 0)) if self.chance(0.2) else self.number(-128, 127)

    def grid(self, shape: Sequence[int], dtype: str, scale: float | None = None) -> Value:
        """Return a value on a grid of its own; of types that have none, without."""
        if dtype not in QUANTISED:
            return Value(shape=tuple(shape), dtype=dtype)
        scales = (scale or self.scale(),)
        return Value(
            shape=tuple(shape), dtype=dtype, scales=scales, zero_points=(self.zero(dtype),)
        )

    def numbers(self, shape: Sequence[int], dtype: str) -> NDArray[Any]:
        """Return stored numbers, now and then the least or the largest of all."""
        least, most = RANGES[dtype]
        drawn = self.rng.integers(least, most + 1, tuple(shape))
        drawn = np.where(self.rng.random(tuple(shape)) < 0.02, least, drawn)
        return np.asarray(drawn, dtype)

    def constant(self, numbers: NDArray[Any] | Sequence[int] | int, dtype: str = "int32") -> int:
        """Add plain numbers: axes, shapes, sizes."""
        data = np.asarray(numbers, dtype)
        return self.add_constant(Value(shape=data.shape, dtype=dtype, data=data))

    def add_constant(self, value: Value) -> int:
        """Add a constant; of a scalar the shape is empty."""
        self.values.append(value)
        return len(self.values) - 1

    def given(self, value: Value) -> int:
        """Add an operand like `value`: an input, or a constant now and then."""
        if self.chance(0.3):
            return self.add_constant(replace(value, data=self.numbers(value.shape, value.dtype)))
        index = self.add(value)
        self.inputs.append(index)
        return index

    def operand(
        self,
        dtypes: Sequence[str] = QUANTISED,
        ranks: Sequence[int] = (1, 2, 3, 4),
        suits: Callable[[Value], bool] = lambda value: True,
    ) -> int:
        """Return a value that is there, the latest most often, or a new input."""
        found = [
            index
            for index in self.live
            if self.values[index].dtype in dtypes
            and len(self.values[index].shape) in ranks
            and suits(self.values[index])
        ]
        if found and not self.chance(0.1):
            return found[-1] if self.chance(0.6) else self.one_of(found)
        for _ in range(20):
            rank = self.one_of(tuple(ranks))
            value = self.grid(self.shape(rank), self.one_of(tuple(dtypes)))
            if suits(value):
                index = self.add(value)
                self.inputs.append(index)
                self.live.append(index)
                return index
        raise UnsuitableError

    def shape(self, rank: int) -> tuple[int, ...]:
        """Return the shape of an input; that of an image has one sample most often."""
        sides = [self.one_of((1, 2, 3, 4, 5, 7, 8, 9, 16)) for _ in range(rank)]
        if rank == 4 and self.chance(0.8):
            sides[0] = 1
        return tuple(sides)

    def result(
        self,
        code: str,
        operands: Sequence[int],
        results: Sequence[Value],
        table: str = "",
        **options: int | float | bool | tuple[int, ...],
    ) -> list[int]:
        """Add an operator, and return its results."""
        made = [self.add(value) for value in results]
        node = Node(
            code=code, inputs=tuple(operands), outputs=tuple(made), table=table, options=options
        )
        self.nodes.append(node)
        self.live += made
        return made

    def sizes(self) -> tuple[int, int, int, int]:
        """Return how much there is, for `back_to`."""
        return len(self.values), len(self.nodes), len(self.inputs), len(self.live)

    def back_to(self, sizes: tuple[int, int, int, int]) -> None:
        """Forget what came later."""
        values, nodes, inputs, live = sizes
        del self.values[values:], self.nodes[nodes:], self.inputs[inputs:], self.live[live:]

    def file(self) -> bytes:
        """Return the file: what nothing reads is an output, and some results more."""
        read = {index for node in self.nodes for index in node.inputs}
        written = [index for node in self.nodes for index in node.outputs]
        outputs = [index for index in written if index not in read or self.chance(0.1)]
        return network_bytes(self.values, self.nodes, self.inputs, outputs)
