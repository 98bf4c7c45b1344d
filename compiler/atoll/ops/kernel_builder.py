# SPDX-License-Identifier: Apache-2.0
"""A function builder that knows tensors: what every operator's lowering starts from."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.tir import BufferParam, CallExtern, Direction, Lowered, PrimFunc, Type
from atoll.resolve.c_functions import CFunction, CSource

ELEMENT_TYPES = {
    "bool": Type.I8,
    "int8": Type.I8,
    "int16": Type.I16,
    "int32": Type.I32,
    "int64": Type.I64,
}
"""Types of the elements that kernels read and write; a truth value is 0 or 1."""


class KernelBuilder(FunctionBuilder):
    """Builds the kernel of one operator and remembers which tensor each parameter is."""

    def __init__(self, op: Operator, graph: Graph) -> None:
        super().__init__(op.name)
        self._operator = op
        self._operands = graph.operands(op)
        self._results = graph.results(op)
        self._arguments: list[str] = []
        self._constants: list[Tensor] = []

    def has_input(self, position: int) -> bool:
        """Tell whether the operator has an input there that is not left out."""
        return position < len(self._operands) and self._operands[position] is not None

    def input(self, position: int, name: str) -> Buffer:
        """Add a parameter for an input tensor."""
        tensor = self._operands[position]
        assert tensor is not None, f"{self._operator.name} lacks input {position}"
        return self._parameter(tensor, name, Direction.READ)

    def output(self, name: str = "y", position: int = 0) -> Buffer:
        """Add a parameter for an output tensor."""
        return self._parameter(self._results[position], name, Direction.WRITE)

    def state(self, name: str, position: int) -> Buffer:
        """Add a parameter for a state, as the output tensor that it becomes; it is read too."""
        return self._parameter(self._results[position], name, Direction.BOTH)

    def table(self, name: str, values: NDArray[np.integer], type: Type = Type.I32) -> Buffer:
        """Add a parameter for a new constant of `type`, the tensor ``<operator>_<name>``."""
        tensor = Tensor(
            name=f"{self._operator.name}_{name}",
            shape=values.shape,
            dtype=f"int{type.bits}",
            data=values.astype(f"<i{type.bytes}").tobytes(),
        )
        self._constants.append(tensor)
        return self._parameter(tensor, name, Direction.READ)

    def call_c(self, source: CSource, function: str, numbers: Sequence[int] = ()) -> None:
        """Call a function of C with all parameters so far, then with whole numbers."""
        given = [each for each in self.parameters if isinstance(each, BufferParam)]
        types = [
            f"{'' if each.direction.writes else 'const '}int{each.type.bits}_t *" for each in given
        ]
        called = CFunction(
            source=source, name=function, types=(*types, *("int32_t" for _ in numbers))
        )
        self.emit(CallExtern(called, tuple(each.name for each in given), tuple(numbers)))

    def lowered(self, library: tuple[PrimFunc, ...] = ()) -> Lowered:
        """Finish; `library` holds scalar functions that the kernel may call, callees first."""
        return Lowered(
            function=self.kernel(),
            arguments=tuple(self._arguments),
            constants=tuple(self._constants),
            library=library,
        )

    def _parameter(self, tensor: Tensor, name: str, direction: Direction) -> Buffer:
        self._arguments.append(tensor.name)
        return self.buffer(name, ELEMENT_TYPES[tensor.dtype], tensor.stored, direction)
