# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a file know of each other while the graph is made."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from atoll.frontend.onnx.emitter import Emitter, Held
from atoll.frontend.onnx.model import Array, File, Node, short
from atoll.frontend.onnx.onnx_values import (
    Constant,
    Grid,
    Part,
    Pending,
    Stored,
    Unfit,
    finer,
    grid,
)
from atoll.ir.graph import Operator, Quantization, Tensor
from atoll.ops.quantization import ACTIVATIONS, activation_range

SURROUND = (
    "quantise the whole network, so that QuantizeLinear follows each operator (of onnxruntime: "
    "quant_pre_process, then quantize_static with quant_format=QuantFormat.QDQ, their types in "
    "op_types_to_quantize, none in nodes_to_exclude or OpTypesToExcludeOutputQuantization, and "
    "ForceQuantizeNoInputCheck)"
)

PASSING = frozenset(
    {
        *("Clip", "Concat", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "Tile"),
        *(
            "GlobalMaxPool",
            "Identity",
            "MaxPool",
            "Pad",
            "ReduceMax",
            "ReduceMin",
            "Relu",
            "Reshape",
            "Slice",
        ),
        *("SpaceToDepth", "Split", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
"""Operators that only hand values on, so that an input may lie on the grid stated behind them."""

_TYPES = {0: "uint8", 2: "uint8", 3: "int8", 5: "int16", 6: "int32"}
"""Of elements, as `output_dtype` of QuantizeLinear numbers them; 0 where it is not stated."""

GREATEST_RANK, MOST_ELEMENTS = 8, 2**24
_SHIFT = 128

ACTIVATED = {
    "none": (-np.inf, np.inf),
    "relu": (0.0, np.inf),
    "relu6": (0.0, 6.0),
    "relu_n1_to_1": (-1.0, 1.0),
}


class Conversion:
    """The values so far, by the names of the file.

    Attributes:
        file: what is converted.
        emit: makes the graph.
        parts: what the values have become; None for those of refused nodes.
    """

    def __init__(self, file: File) -> None:
        self.file = file
        self.emit = Emitter()
        self.parts: dict[str, Part | None] = {
            name: Constant(values=values) for name, values in file.constants.items()
        }
        self._settled: dict[tuple[int, Grid], tuple[Pending, Stored]] = {}
        self._readers: dict[str, list[Node]] = {}
        for node in file.nodes:
            for name in dict.fromkeys(node.inputs):
                self._readers.setdefault(name, []).append(node)

    def has(self, node: Node, at: int) -> bool:
        """Tell whether a node has an operand."""
        return at < len(node.inputs) and node.inputs[at] != ""

    def part(self, node: Node, at: int) -> Part:
        """Return an operand.

        Raises:
            Unfit: it is absent.
        """
        part = self.parts.get(node.inputs[at]) if self.has(node, at) else None
        if part is None:
            raise Unfit(f"input {at} is absent")
        return part

    def stored_operand(self, node: Node, at: int = 0, *, wide: bool = False) -> Stored:
        """Return an operand that a tensor holds, or can hold: a result, or a constant.

        Args:
            node: what reads it.
            at: which operand.
            wide: the node says how far its result may be off; then the operand may have 16 bits
                where nothing states how it is quantised.

        Raises:
            Unfit: nothing states how it is quantised.
        """
        return self.to_stored(self.part(node, at), node.inputs[at], wide=wide)

    def to_stored(self, part: Part, name: str, *, wide: bool = False) -> Stored:
        """Return a part, of a name, as a value that a tensor holds; see `stored_operand`."""
        if isinstance(part, Pending):
            to = part.lies_on or (part.wide if wide else None)
            if to is None:
                message = f"'{name}' is float where it is read"
                raise Unfit(message, SURROUND, left_real=True)
            error = part.error + (to.scale / 2 if to.dtype == "int16" else 0.0)
            return replace(self.emit_pending(part, to), error=error)
        if isinstance(part, Constant):
            part.require_grid()
            held = Held(part.values, "", part.quantization)
            return self.emit.store_constant(held, f"constant_{self.emit.index}")
        return part

    def numbers(self, node: Node, at: int) -> Array:
        """Return an operand that must be a constant of plain numbers.

        Raises:
            Unfit: it is computed.
        """
        part = self.part(node, at)
        if not isinstance(part, Constant) or part.quantization is not None:
            raise Unfit(f"'{node.inputs[at]}' must be a constant", "export with fixed shapes")
        return part.values

    def integers(self, node: Node, at: int) -> tuple[int, ...]:
        """Return an operand that must be a constant list of integers."""
        return tuple(int(each) for each in self.numbers(node, at).reshape(-1))

    def result(self, node: Node, at: int = 0) -> tuple[int, ...]:
        """Return the shape of a result.

        Raises:
            Unfit: it is not known.
        """
        return self.shape(node.outputs[at], f"result '{short(node.outputs[at])}'")

    def shape(self, name: str, what: str) -> tuple[int, ...]:
        """Return the shape of a value; raises as `result`."""
        value = self.file.values.get(name)
        if value is None or 0 in value.shape:
            shape = "not known" if value is None else str(list(value.shape))
            message = f"the shape of {what} is {shape}"
            raise Unfit(message, "export the model with fixed shapes, or simplify it", "E055")
        if len(value.shape) > GREATEST_RANK or prod(value.shape) > MOST_ELEMENTS:
            message = f"the shape of {what} is {list(value.shape)}"
            limits = f"{GREATEST_RANK} dimensions and {MOST_ELEMENTS} elements are the most"
            raise Unfit(f"{message}; {limits}", "give a smaller model", "E055")
        return value.shape

    def readers(self, name: str) -> Sequence[Node]:
        """Return the nodes that read a value."""
        return self._readers.get(name, ())

    def grids_after(self, name: str) -> Iterator[Grid | None]:
        """Yield the grids that readers of a value state, None for those that state none."""
        for node in self.readers(name):
            if node.op in ("QuantizeLinear", "DequantizeLinear") and node.inputs[0] == name:
                yield self.grid_of(node)
            elif node.op in PASSING and node.inputs[0] == name:
                for result in node.outputs:
                    yield from self.grids_after(result)
            else:
                yield None

    def grid_of(self, node: Node) -> Grid:
        """Return the grid of a QuantizeLinear or DequantizeLinear that has one scale.

        Raises:
            Unfit: it has several, or its operands are not usable.
        """
        dtype, quantization = self.quantization_of(node)
        if len(quantization.scales) != 1:
            raise Unfit("a result is quantised per channel where per tensor is supported")
        return Grid(dtype, quantization)

    def quantization_of(self, node: Node, dtype: str = "") -> tuple[str, Quantization]:
        """Return type and parameters of a QuantizeLinear or DequantizeLinear; uint8 becomes int8.

        Args:
            node: of one of the two.
            dtype: the type where no zero point states it.

        Raises:
            Unfit: an operand is computed, or its values are no parameters.
        """
        given = self.numbers(node, 1).reshape(-1)
        if given.dtype.kind != "f":
            raise Unfit(f"has scales of type {given.dtype.name}", code="E056")
        scales = given.astype(np.float32).astype(np.float64)
        points = self.numbers(node, 2).reshape(-1) if self.has(node, 2) else None
        given_type = self.file.values.get(node.inputs[0])
        if node.op == "DequantizeLinear" and given_type is not None:
            dtype = dtype or given_type.dtype
        stated = dtype or _TYPES.get(node.attributes.get("output_dtype", 0), "another type")
        dtype = stated if points is None else points.dtype.name
        if node.attributes.get("block_size"):
            raise Unfit("is quantised in blocks", "quantise per tensor or per channel")
        if dtype not in ("int8", "uint8", "int16", "int32"):
            raise Unfit(f"has type {dtype}", "quantise to int8 or uint8")
        zeros = np.zeros(1, np.int64) if points is None else points.astype(np.int64)
        zeros = np.broadcast_to(zeros, scales.shape) if len(zeros) == 1 else zeros
        if len(zeros) != len(scales) or not len(scales):
            raise Unfit(f"has {len(scales)} scales but {len(zeros)} zero points", code="E056")
        if not all(np.isfinite(scales) & (scales > 0)):
            message = "has a scale that is not finite and above 0"
            raise Unfit(message, "quantise the model again with representative data", "E056")
        shift = _SHIFT if dtype == "uint8" else 0
        return ("int8" if shift else dtype), Quantization(
            scales=tuple(map(float, scales)),
            zero_points=tuple(int(zero) - shift for zero in zeros),
            axis=int(node.attributes.get("axis", 1)) if len(scales) > 1 else 0,
        )

    def emit_pending(self, pending: Pending, grid: Grid) -> Stored:
        """Add the operator of a result whose grid is known now, under the number of its node.

        Each grid gets an operator of its own, which rounds once, from the value itself.
        """
        key = (id(pending), grid)
        if key in self._settled:
            return self._settled[key][1]
        current, node = self.emit.index, pending.node
        self.emit.index = node.index if node else current
        try:
            made = self._make(pending, grid)
            self._settled[key] = (pending, made)  # which keeps its identity
            return made
        except Unfit as unfit:
            unfit.place = unfit.place or (node.place if node else "")
            raise
        finally:
            self.emit.index = current

    def _make(self, pending: Pending, grid: Grid) -> Stored:
        wanted = _bounds(grid, pending.low, pending.high)
        names = ACTIVATIONS if pending.fuses else ("none",)
        fused = next((name for name in names if _range(grid, name) == wanted), None)
        made = pending.make(grid, fused or "none")
        return made if fused else self.clamp(made, pending.low, pending.high)

    def with_operand(
        self, handler: "Handler", node: Node, value: Part, at: int = 0
    ) -> tuple[Part, ...]:
        """Return what a handler makes of a node one of whose operands is a value."""
        name = node.inputs[at]
        part, self.parts[name] = self.parts[name], value
        try:
            made = handler(self, node)
        finally:
            self.parts[name] = part
        return made if isinstance(made, tuple) else (made,)

    def with_operands(
        self, handler: "Handler", node: Node, parts: Sequence[Part], shape: tuple[int, ...]
    ) -> Part | tuple[Part, ...]:
        """Return what a handler makes of other operands, with a result of another shape."""
        names = tuple(f"{node.outputs[0]}.operand{at}" for at in range(len(parts)))
        result = f"{node.outputs[0]}.result"
        values = self.file.values
        self.file = replace(
            self.file, values={**values, result: replace(values[node.outputs[0]], shape=shape)}
        )
        self.parts |= dict(zip(names, parts, strict=True))
        return handler(self, replace(node, inputs=names, outputs=(result,)))

    def requantize(self, value: Stored, grid: Grid) -> Stored:
        """Return a value on another grid."""
        if value.grid == grid:
            return value
        tensor = self.emit.operator("quantize", [value], self.emit.stored_shape(value), grid)
        return replace(value, tensor=tensor, grid=grid)

    def clamp(self, value: Stored, low: float, high: float) -> Stored:
        """Return a value that is kept between two real numbers."""
        grid = value.require_grid()
        wanted, limits = _bounds(grid, low, high), grid.limits
        if wanted == limits:
            return value
        shape = self.emit.stored_shape(value)
        for kind in ("relu", "relu6"):
            if wanted == _range(grid, kind):
                return replace(value, tensor=self.emit.operator(kind, [value], shape, grid))
        for kind, bound, limit in zip(("maximum", "minimum"), wanted, limits, strict=True):
            if bound != limit:
                held = Held(np.array([bound], grid.dtype), "bound", grid.quantization)
                tensor = self.emit.operator(kind, [value, held], shape, grid)
                value = replace(value, tensor=tensor)
        return value

    def match_types(
        self, values: Sequence[Stored], to: Grid, activation: str, make: "Matched"
    ) -> Stored:
        """Make what needs operands and result of one type, with 16 bits where types differ.

        Args:
            values: the operands.
            to: the grid of the result.
            activation: that is fused.
            make: takes operands, grid and activation.
        """
        if all(value.require_grid().dtype == to.dtype for value in values):
            return make(values, to, activation)
        wide = [self.widen(value) for value in values]
        if to.dtype == "int16":
            return make(wide, to, activation)
        made = self.requantize(make(wide, finer(to), "none"), to)
        return self.clamp(made, *ACTIVATED[activation])

    def widen(self, value: Stored) -> Stored:
        """Return a value with 16 bits, which has the same real numbers."""
        own = value.require_grid()
        return (
            value if own.dtype == "int16" else self.requantize(value, grid("int16", own.scale, 0))
        )

    def unary(self, value: Stored, kind: str, grid: Grid, **attributes: Any) -> Stored:
        """Add an operator that computes each element alone."""
        shape = self.emit.stored_shape(value)
        tensor = self.emit.operator(kind, [value], shape, grid, **attributes)
        return replace(value, tensor=tensor, grid=grid)


def constant_of(values: Array, quantization: Quantization) -> Constant:
    """Return a quantised constant; uint8, whose zero points are shifted already, becomes int8."""
    if values.dtype == np.uint8:
        values = (values.astype(np.int16) - _SHIFT).astype(np.int8)
    rank = values.ndim
    if len(quantization.scales) > 1:
        axis = quantization.axis + (rank if quantization.axis < 0 else 0)
        if not 0 <= axis < rank or values.shape[axis] != len(quantization.scales):
            count = len(quantization.scales)
            message = f"has {count} scales along axis {axis} of shape {list(values.shape)}"
            raise Unfit(message, code="E056")
        quantization = replace(quantization, axis=axis)
    return Constant(values=values, quantization=quantization)


def attributes_as(node: Node, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes of a node, with defaults for those that it lacks.

    Raises:
        Unfit: one has another type than its default.
    """
    found = {name: node.attributes.get(name, default) for name, default in defaults.items()}
    for name, value in found.items():
        if not isinstance(value, type(defaults[name])):
            raise Unfit(f"attribute '{name}' is of another type than ONNX says")
    return found


def _bounds(grid: Grid, low: float, high: float) -> tuple[int, int]:
    least, most = grid.limits
    return (
        least if low == -np.inf else int(grid.nearest(low)),
        most if high == np.inf else int(grid.nearest(high)),
    )


def _range(grid: Grid, activation: str) -> tuple[int, int]:
    """Return the range that a fused activation leaves."""
    tensor = Tensor(name="", shape=(), dtype=grid.dtype, quantization=grid.quantization)
    attributes = {"activation": activation}
    op = Operator(name="", kind="", inputs=(), outputs=(), attributes=attributes)
    return activation_range(op, tensor)


Matched = Callable[[Sequence[Stored], Grid, str], Stored]
"""Makes an operator of operands, on a grid, with a fused activation."""

Handler = Callable[[Conversion, Node], Part | tuple[Part, ...]]
"""Makes of a node what its results are; raises `Unfit`."""


def handing_on(handler: Handler) -> Handler:
    """Let what only hands values on wait where its operand waits for a grid."""

    def convert(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
        part = c.part(node, 0)
        if not isinstance(part, Pending):
            return handler(c, node)
        return hand_on(c, node, handler, part, part.own if part.rounds else part.lies_on)

    return convert


def hand_on(
    c: Conversion, node: Node, handler: Handler, operand: Pending, own: Grid | None
) -> Part | tuple[Part, ...]:
    """Return the results of what hands values on, on the grid that is stated behind it.

    Rounding commutes with moves and comparisons. So whoever states a grid behind the node gets the
    operand computed for that grid.

    Args:
        c: the conversion.
        node: what hands on.
        handler: makes it of a stored operand.
        operand: the first one.
        own: the grid that the results lie on, if there is one.
    """
    results: dict[Grid, tuple[Part, ...]] = {}

    def make(at: int, to: Grid, activation: str) -> Stored:
        if to not in results:
            results[to] = c.with_operand(handler, node, c.emit_pending(operand, to))
        result = results[to][at]
        assert isinstance(result, Stored)
        return result

    made = tuple(
        Pending(
            shape=c.result(node, at),
            make=partial(make, at),
            own=own,
            rounds=operand.rounds,
            range=operand.span,
            error=operand.error,
            exact=operand.exact,
        )
        for at in range(len(node.outputs))
    )
    return made[0] if len(made) == 1 else made
