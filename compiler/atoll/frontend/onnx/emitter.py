# SPDX-License-Identifier: Apache-2.0
"""Make the graph: operators, tensors, constants, and the moves between orders of axes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atoll.frontend.network_names import identifier
from atoll.frontend.onnx import layout
from atoll.frontend.onnx.layout import Order
from atoll.frontend.onnx.model import Array
from atoll.frontend.onnx.onnx_values import Constant, Grid, Stored, Unfit, grid
from atoll.ir.graph import Attribute, Graph, Operator, Quantization, Tensor
from atoll.ops.registry import KINDS
from atoll.ops.rounding import as_onnx
from atoll.records import dataclass

MOST_AXES = 5
"""Of what is transposed; more are joined first."""


@dataclass(frozen=True, slots=True)
class Held:
    """A constant operand: its values as stored, and what it is called behind its operator."""

    values: Array
    role: str
    quantization: Quantization | None = None


Operand = Stored | Held


class Emitter:
    """Collects what the nodes of a file become; `index` is the number of the current node."""

    def __init__(self) -> None:
        self.index = -1
        self._tensors: dict[str, Tensor] = {}
        self._operators: list[Operator] = []
        self._reshaped: dict[str, str] = {}
        self._ordered: dict[tuple[str, Order], str] = {}
        self._constants: dict[tuple[object, ...], str] = {}
        self._inputs: list[str] = []
        self._names: set[str] = set()

    def input(self, name: str, shape: tuple[int, ...], grid: Grid, *, real: bool) -> Stored:
        """Add an input of the network."""
        wanted = identifier(name, "input")
        if any(wanted.startswith(f"{kind}_") for kind in KINDS.own):
            wanted = f"input_{wanted}"
        tensor = self._add(self._unique(wanted), shape, grid.dtype, grid.quantization)
        self._inputs.append(tensor)
        order = layout.plain(len(shape))
        return Stored(tensor=tensor, shape=shape, order=order, grid=grid, real=real)

    def tensor(self, name: str) -> Tensor:
        """Look a tensor up."""
        return self._tensors[name]

    def operator(
        self,
        kind: str,
        inputs: Sequence[Operand | None],
        shape: Sequence[int],
        to: Grid | str,
        **attributes: Attribute,
    ) -> str:
        """Add an operator and return its result.

        Args:
            kind: of the operator.
            inputs: None for an absent one.
            shape: of the result, as stored.
            to: the grid of the result, the type of plain integers.
            attributes: of the operator.
        """
        name = self._unique(f"{kind}_{self.index}")
        operands = [self._operand(name, at, each) for at, each in enumerate(inputs)]
        dtype, quantization = (to, None) if isinstance(to, str) else (to.dtype, to.quantization)
        made = self._add(f"{name}_out", tuple(shape), dtype, quantization)
        self._operators.append(
            Operator(
                name=name,
                kind=kind,
                inputs=tuple(operands),
                outputs=(made,),
                attributes={**attributes, **as_onnx(kind)},
                index=self.index,
            )
        )
        return made

    def constant(self, constant: Constant, order: Order, role: str) -> Held:
        """Return a constant operand in an order, quantised as it is along the axis that moves."""
        quantization = constant.quantization
        if quantization is not None and len(quantization.scales) > 1:
            quantization = replace(quantization, axis=order.index(quantization.axis))
        return Held(constant.values.transpose(order), role, quantization)

    def stored_shape(self, value: Stored) -> tuple[int, ...]:
        """Return the extents as stored."""
        return self._tensors[value.tensor].shape

    def in_order(self, value: Stored, order: Order) -> Stored:
        """Return a value whose axes are stored in an order."""
        value = self.unfold(value)
        if value.order == order:
            return value
        permutation = layout.steps(value.order, order)
        tensor = self._permute(value.tensor, permutation)
        return replace(value, tensor=tensor, order=order)

    def plain(self, value: Stored) -> Stored:
        """Return a value as ONNX has it."""
        return self.in_order(value, layout.plain(len(value.shape)))

    def unfold(self, value: Stored) -> Stored:
        """Return a value whose last axis is as ONNX has it."""
        if not value.folded:
            return value
        leading = self.stored_shape(value)[:-1]
        rank = len(leading)
        whole = self.reshape(value.tensor, (*leading, *value.folded))
        permutation = (*range(rank), *(rank + axis for axis in value.unfolded))
        tensor = self.reshape(self._permute(whole, permutation), (*leading, value.shape[-1]))
        return replace(value, tensor=tensor, folded=(), unfolded=())

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """Return the same elements with other extents."""
        source = self._reshaped.get(name, name)
        tensor = self._tensors[source]
        if tensor.shape == tuple(shape):
            return source
        key = (source, (-1, *shape))
        if key not in self._ordered:
            made = self._move("reshape", [source], shape)
            self._reshaped[made] = source
            self._ordered[key] = made
        return self._ordered[key]

    def copy(self, name: str) -> str:
        """Return a tensor of its own with the same bytes."""
        return self._move("reshape", [name], self._tensors[name].shape)

    def graph(self, outputs: Sequence[str]) -> Graph:
        """Return the graph, without what no output is made of."""
        needed, operators = {*outputs}, list[Operator]()
        for op in reversed(self._operators):
            if needed & {*op.outputs}:
                operators.append(op)
                needed.update(op.inputs)
        used = needed | {*self._inputs}
        tensors = tuple(each for name, each in self._tensors.items() if name in used)
        numbered = tuple(replace(each, index=at) for at, each in enumerate(tensors))
        return Graph("", numbered, tuple(reversed(operators)), tuple(self._inputs), tuple(outputs))

    def is_free(self, name: str) -> bool:
        """Tell whether an operator writes a tensor: it is no input and no constant."""
        return name not in self._inputs and self._tensors[name].data is None

    def as_stored(self, tensor: str, grid: Grid) -> Stored:
        """Return a tensor as a value whose order is its own."""
        shape = self._tensors[tensor].shape
        order = layout.plain(len(shape))
        return Stored(tensor=tensor, shape=shape, order=order, grid=grid, real=True)

    def store_constant(self, held: Held, name: str) -> Stored:
        """Return a constant as a value in ONNX's order."""
        tensor = self._constant(name, held)
        grid = held.quantization and Grid(held.values.dtype.name, held.quantization)
        shape = held.values.shape
        order = layout.plain(len(shape))
        return Stored(tensor=tensor, shape=shape, order=order, grid=grid or None, real=True)

    def _permute(self, name: str, permutation: Order) -> str:
        shape = self._tensors[name].shape
        moved = layout.permute(shape, permutation)
        if not layout.moves_bytes(shape, permutation):
            return self.reshape(name, moved)
        if len(shape) > MOST_AXES:
            extents, fewer = layout.coalesce_axes(shape, permutation)
            if len(fewer) > MOST_AXES:
                raise Unfit(f"moves {len(fewer)} axes, {MOST_AXES} are the most")
            return self.reshape(self._permute(self.reshape(name, extents), fewer), moved)
        if self._tensors[name].dtype == "bool":  # which TRANSPOSE does not move
            bytes_ = self.operator("cast", [self._plain(name)], shape, grid("int8", 1.0, 0))
            return self.operator(
                "cast", [self._plain(self._permute(bytes_, permutation))], moved, "bool"
            )
        if (name, permutation) not in self._ordered:
            order = Held(np.array(permutation, np.int32), "perm")
            self._ordered[name, permutation] = self._move("transpose", [name], moved, order)
        return self._ordered[name, permutation]

    def _move(self, kind: str, names: Sequence[str], shape: Sequence[int], *more: Held) -> str:
        tensor = self._tensors[names[0]]
        to = Grid(tensor.dtype, tensor.quantization) if tensor.quantization else tensor.dtype
        return self.operator(kind, [*map(self._plain, names), *more], shape, to)

    def _plain(self, name: str) -> Stored:
        shape = self._tensors[name].shape
        return Stored(tensor=name, shape=shape, order=(), grid=None, real=False)

    def _operand(self, op: str, at: int, operand: Operand | None) -> str:
        if operand is None:
            return ""
        if isinstance(operand, Stored):
            return operand.tensor
        return self._constant(f"{op}_{operand.role or f'constant_{at}'}", operand)

    def _constant(self, name: str, held: Held) -> str:
        """Add a constant, once for equal ones."""
        values = np.ascontiguousarray(held.values)
        key = (values.tobytes(), values.shape, values.dtype.name, held.quantization)
        if key not in self._constants:
            made = self._add(self._unique(name), values.shape, values.dtype.name, held.quantization)
            self._tensors[made] = replace(self._tensors[made], data=values.tobytes())
            self._constants[key] = made
        return self._constants[key]

    def _add(
        self, name: str, shape: tuple[int, ...], dtype: str, quantization: Quantization | None
    ) -> str:
        self._names.add(name)
        self._tensors[name] = Tensor(name=name, shape=shape, dtype=dtype, quantization=quantization)
        return name

    def _unique(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self._names:
            count += 1
            name = f"{wanted}_{count}"
        self._names.add(name)
        return name
