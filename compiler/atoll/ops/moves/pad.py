# SPDX-License-Identifier: Apache-2.0
"""PAD, PADV2 and MIRROR_PAD: the input surrounded with one value, or with itself."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.kind import Array
from atoll.ops.moves.strided import Axis, Strided, even, in_order
from atoll.ops.quantization import zero_point_of
from atoll.ops.tflite_form import BYTE, Attributes, OptionError, Shapes, TfliteForm

MODES = ("reflect", "symmetric")

_FILLED = ("int8", "int16", "int32")
"""Types of what is surrounded with one value."""


def _mode(options: Any, shapes: Shapes) -> Attributes:
    mode = int(options.Mode())
    if not 0 <= mode < len(MODES):
        raise OptionError(f"has mode {mode}, which is neither REFLECT nor SYMMETRIC")
    return {"mode": MODES[mode]}


class Pad(Strided):
    """PAD with the zero point; the second input holds (before, after) for each dimension."""

    tflite = TfliteForm(code="PAD", constants={1: "paddings"})

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constant paddings that are 0 or more."""
        checks.apply(_PAD_RULES, op, graph)

    def filling(self, op: Operator, graph: Graph) -> int | Tensor:
        """Fill with the zero point, which is 0 of wider types (TFLM: `PadEval`)."""
        (output,) = graph.results(op)
        return zero_point_of(output) if output.dtype == "int8" else 0

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Surround the input."""
        assert inputs[0] is not None
        fill: Any = self.filling(op, graph)
        if isinstance(fill, Tensor):
            fill = np.asarray(inputs[op.inputs.index(fill.name)]).reshape(-1)[0]
        return (np.pad(inputs[0], _pairs(op, graph), constant_values=fill),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the input."""
        reads, writes = (
            even(tensor.shape) for tensor in (require_input(op, graph, 0), *graph.results(op))
        )
        dimensions = zip(reads, writes, _pairs(op, graph), strict=True)
        return [Axis(read, write[pad[0] :][: read.size]) for read, write, pad in dimensions]


class PadWith(Pad):
    """PADV2 with a value, the third input, which is quantised as the others are."""

    tflite = TfliteForm(code="PADV2", constants={1: "paddings", 2: "value"})

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept one value, and constant paddings that are 0 or more."""
        checks.apply(_VALUE_RULES, op, graph)

    def filling(self, op: Operator, graph: Graph) -> int | Tensor:
        """Fill with the value."""
        value = require_input(op, graph, 2)
        return value if value.data is None else int(value.array.reshape(-1)[0])


class MirrorPad(Strided):
    """MIRROR_PAD: the input goes on as if it were mirrored, its edges once or twice.

    TFLM: `GetInputDimension`.
    """

    tflite = TfliteForm(
        code="MIRROR_PAD",
        table="MirrorPadOptions",
        fields={0: BYTE},
        read=_mode,
        constants={1: "paddings"},
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept constant paddings that the input is large enough for."""
        checks.apply(_MIRROR_RULES, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Mirror the input."""
        assert inputs[0] is not None
        pads = _pairs(op, graph)
        if op.attributes["mode"] == "reflect":
            return (np.pad(inputs[0], pads, mode="reflect"),)
        return (np.pad(inputs[0], pads, mode="symmetric"),)

    def axes(self, op: Operator, graph: Graph) -> Sequence[Axis]:
        """Go through the result, there and back again."""
        edge = int(op.attributes["mode"] == "reflect")
        reads = []
        for places, (before, after) in zip(
            even(require_input(op, graph, 0).shape), _pairs(op, graph), strict=True
        ):
            left = places[edge : edge + before][::-1]
            right = places[places.size - edge - after : places.size - edge][::-1]
            reads.append(np.concatenate([left, places, right]))
        return in_order(reads)


def _pairs(op: Operator, graph: Graph) -> tuple[tuple[int, int], ...]:
    """Return the elements that are added (before, after) each dimension."""
    pairs = require_input(op, graph, 1).array.astype(np.int64).reshape(-1, 2).tolist()
    return tuple((before, after) for before, after in pairs)


def _paddings(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, table = require_input(op, graph, 0), require_input(op, graph, 1)
    if table.shape != (len(x.shape), 2):
        message = f"has shape {list(table.shape)} instead of {[len(x.shape), 2]}"
        yield checks.fault(op, message, tensor=table)
    elif table.elements and int(table.array.astype(np.int64).min()) < 0:
        yield checks.fault(op, "holds a padding below 0", tensor=table)


def _value(op: Operator, graph: Graph) -> Iterator[Fault]:
    value = require_input(op, graph, 2)
    if value.elements != 1:
        message = f"holds {value.elements} values to pad with instead of 1"
        yield checks.fault(op, message, tensor=value)


def _check_mirroring(op: Operator, graph: Graph) -> Iterator[Fault]:
    x, edge = require_input(op, graph, 0), int(op.attributes["mode"] == "reflect")
    for dimension, pads in enumerate(_pairs(op, graph)):
        most = x.shape[dimension] - edge
        if max(pads) > most:
            message = f"holds paddings {list(pads)} of dimension {dimension}, the most is {most}"
            yield checks.fault(op, message, tensor=require_input(op, graph, 1))


def _padded_shape(op: Operator, graph: Graph) -> tuple[int, ...]:
    pairs = zip(require_input(op, graph, 0).shape, _pairs(op, graph), strict=True)
    return tuple(size + before + after for size, (before, after) in pairs)


_PAD_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.activations(0, types=_FILLED),
    checks.same_type(),
    checks.constant(1, "int32", "int64"),
    checks.same_quantization,
    _paddings,
    checks.output_shape(_padded_shape),
)
_VALUE_RULES: tuple[checks.Rule, ...] = (
    checks.operands(3, 3),
    checks.activations(0, 2, types=_FILLED),
    checks.same_type(0, 2),
    checks.constant(1, "int32", "int64"),
    checks.same_quantization,
    _value,
    _paddings,
    checks.output_shape(_padded_shape),
)
_MIRROR_RULES: tuple[checks.Rule, ...] = (
    checks.operands(2, 2),
    checks.int8_activations(0),
    checks.constant(1, "int32", "int64"),
    checks.same_quantization,
    _paddings,
    _check_mirroring,
    checks.output_shape(_padded_shape),
)

MIRROR_PAD = MirrorPad()
PAD = Pad()
PADV2 = PadWith()
