# SPDX-License-Identifier: Apache-2.0
"""UNIDIRECTIONAL_SEQUENCE_LSTM: units that keep a cell and what they said last."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from atoll.ir.builder import Buffer
from atoll.ir.expressions import add, cast, clamp, maximum, minimum, multiply
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Type
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.curves import LOGISTIC, TANH
from atoll.ops.elements.interpolation import Interpolation
from atoll.ops.kernel_builder import KernelBuilder
from atoll.ops.kind import Array, OperatorKind
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.loops.wide_sums import WIDE_LIBRARY, scale_wide
from atoll.ops.quantization import (
    LIMITS,
    Integers,
    mbqm,
    mbqm_wide,
    scale_of,
    zero_point_of,
)
from atoll.ops.recurrent.lstm_rules import (
    BIASES,
    CELL,
    FROM_HIDDEN,
    FROM_INPUT,
    GATE_SCALE,
    GATES,
    HIDDEN,
    RULES,
    Extents,
    Factor,
    Scaling,
    X,
    is_wide,
)
from atoll.ops.tflite_form import BYTE, WORD, Attributes, Shapes, TfliteForm, activation
from atoll.resolve.storage_scope import GLOBAL

CURVES: tuple[Interpolation, ...] = (LOGISTIC.wide, LOGISTIC.wide, TANH.wide, LOGISTIC.wide)
"""Of the gates, in the order of `GATES`."""

_LOW, _HIGH = LIMITS["int16"]


def _attributes(options: Any, shapes: Shapes) -> Attributes:
    return {
        "activation": activation(options),
        "time_major": bool(options.TimeMajor()),
        "cell_clip": float(options.CellClip()),
        "asymmetric_quantize_inputs": bool(options.AsymmetricQuantizeInputs()),
    }


def _constants() -> dict[int, str]:
    names = {HIDDEN: "hidden_state", CELL: "cell_state"}
    kinds = ((FROM_INPUT, "weights"), (FROM_HIDDEN, "recurrent"), (BIASES, "bias"))
    for positions, what in kinds:
        names |= {at: f"{g}_gate_{what}" for at, g in zip(positions, GATES, strict=True)}
    return names


class Lstm(OperatorKind):
    """LSTM of an input [B, T, I], or [T, B, I] if `time_major`: result with U in I's place.

    The states are the hidden one, int8 or int16 [B, U] as the input, and the cell, int16 [B, U].
    TFLM: `EvalLstm`.
    """

    tflite = TfliteForm(
        code="UNIDIRECTIONAL_SEQUENCE_LSTM",
        table="UnidirectionalSequenceLSTMOptions",
        fields={0: BYTE, 1: WORD, 2: WORD, 3: BYTE, 4: BYTE, 5: BYTE},
        read=_attributes,
        constants=_constants(),
        states=(HIDDEN, CELL),
    )

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept the plain LSTM of constant int8 weights, whose cell is int16."""
        checks.apply(RULES, op, graph)

    def features(self, op: Operator, graph: Graph) -> Mapping[str, int]:
        """Return the extents and the work."""
        extents = Extents.of(op, graph)
        made = extents.batches * extents.steps * extents.units
        return {
            "macs": made * len(GATES) * (extents.inputs + extents.units),
            "batches": extents.batches,
            "in_channels": extents.inputs,
            "out_channels": extents.units,
            "steps": extents.steps,
        }

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Take one step after the other, of all batches and units at once."""
        extents, scaling = Extents.of(op, graph), Scaling.of(op, graph)
        given = [None if each is None else np.asarray(each, np.int64) for each in inputs]
        x, hidden, cell = (_there(given, at) for at in (X, HIDDEN, CELL))
        zeros = [zero_point_of(require_input(op, graph, at)) for at in (X, HIDDEN)]
        cell_scale = scale_of(require_input(op, graph, CELL))
        dtype, of_sums = require_input(op, graph, X).dtype, _wide if is_wide(op, graph) else _scale
        in_turn = x if extents.time_major else x.swapaxes(0, 1)
        made = []
        for step in in_turn:
            gates = []
            for gate, curve in enumerate(CURVES):
                sums = (step - zeros[0]) @ _there(given, FROM_INPUT[gate]).T
                sums = sums + _there(given, BIASES[gate])
                again = (hidden - zeros[1]) @ _there(given, FROM_HIDDEN[gate]).T
                both = _short(of_sums(sums, scaling.from_input[gate]))
                both = both + _short(of_sums(again, scaling.from_hidden[gate]))
                gates.append(curve.results(GATE_SCALE, _short(both)))
            taken, kept, new, shown = gates
            old = _short(_scale(kept * cell, scaling.forgotten))
            cell = _short(old + _short(_scale(taken * new, scaling.added)))
            if scaling.clip is not None:
                cell = np.clip(cell, -scaling.clip, scaling.clip)
            product = TANH.wide.results(cell_scale, cell) * shown
            said = _scale(product, scaling.made) + zeros[1]
            hidden = np.clip(said, *LIMITS[dtype])
            made.append(hidden)
        output = np.stack(made, axis=0 if extents.time_major else 1)
        return output.astype(dtype), hidden.astype(dtype), cell.astype(np.int16)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Loop over batches, steps and units; what units say is heard when all have spoken."""
        kernel = _Kernel(op, graph)
        return kernel.lower()


class _Kernel:
    """The program of an LSTM in the making: parameters, then loops."""

    def __init__(self, op: Operator, graph: Graph) -> None:
        self.extents, self.scaling = Extents.of(op, graph), Scaling.of(op, graph)
        self.zero = zero_point_of(require_input(op, graph, HIDDEN))
        self.limits, self.wide = LIMITS[require_input(op, graph, X).dtype], is_wide(op, graph)
        self.said = Type.I16 if self.wide else Type.I8
        self.total = Type.I64 if self.wide else Type.I32
        self.builder = builder = KernelBuilder(op, graph)
        self.x = builder.input(X, "x")
        self.weights = [builder.input(at, "weights") for at in FROM_INPUT]
        self.again = [builder.input(at, "recurrent") for at in FROM_HIDDEN]
        self.starts = [
            builder.table(name, _starts(op, graph, *each), self.total)
            for name, each in (
                ("input_starts", (X, FROM_INPUT, BIASES)),
                ("hidden_starts", (HIDDEN, FROM_HIDDEN, None)),
            )
        ]
        sigmoid = LOGISTIC.wide.add_tables(builder, "logistic_")
        tanh = TANH.wide.add_tables(builder, "tanh_")
        self.curves = [
            curve.between(GATE_SCALE, builder, tanh if curve is TANH.wide else sigmoid)
            for curve in CURVES
        ]
        self.cell_curve = TANH.wide.between(scale_of(require_input(op, graph, CELL)), builder, tanh)
        self.hidden, self.cell = builder.state("hidden", 1), builder.state("cell", 2)
        self.y = builder.output()

    def lower(self) -> Lowered:
        """Return the program."""
        builder, extents = self.builder, self.extents
        said = builder.allocate("said", self.said, extents.units, scope=GLOBAL)
        with builder.loop("batch", 0, extents.batches) as batch:
            state = builder.let("state", multiply(batch, extents.units))
            with builder.loop("step", 0, extents.steps) as step:
                outer, inner, many = (batch, step, extents.steps)
                if extents.time_major:
                    outer, inner, many = step, batch, extents.batches
                row = builder.let("row", add(multiply(outer, many), inner))
                begin = builder.let("begin", multiply(row, extents.inputs))
                with builder.loop("unit", 0, extents.units) as unit:
                    said[unit] = self._unit(unit, begin, state)
                place = builder.let("place", multiply(row, extents.units))
                with builder.loop("heard", 0, extents.units) as unit:
                    self.hidden[add(state, unit)] = said[unit]
                    self.y[add(place, unit)] = said[unit]
        return builder.lowered(WIDE_LIBRARY if self.wide else ())

    def _unit(self, unit: Expr, begin: Expr, state: Expr) -> Expr:
        """Move the cell of a unit on; return what it says."""
        builder, scaling, extents = self.builder, self.scaling, self.extents
        from_input = self._sums(self.starts[0], self.weights, (self.x, begin), unit, extents.inputs)
        from_hidden = self._sums(
            self.starts[1], self.again, (self.hidden, state), unit, extents.units
        )
        gates = []
        for gate, curve in enumerate(self.curves):
            one = self._scale(from_input[gate], scaling.from_input[gate])
            other = self._scale(from_hidden[gate], scaling.from_hidden[gate])
            both = builder.let("both", clamp(add(one, other), _LOW, _HIGH))
            gates.append(builder.let(GATES[gate], curve((both,))))
        taken, kept, new, shown = gates
        at = builder.let("at", add(state, unit))
        old = _clamp(multiply(kept, self.cell.wide(at)), scaling.forgotten)
        more = _clamp(multiply(taken, new), scaling.added)
        limits = (_LOW, _HIGH) if scaling.clip is None else (-scaling.clip, scaling.clip)
        cell = builder.let("cell_now", clamp(add(old, more), *limits))
        self.cell[at] = cast(cell, Type.I16)
        product = multiply(self.cell_curve((cell,)), shown)
        said = loops.mbqm(product, *scaling.made)
        return cast(loops.quantize(said, self.zero, self.limits), self.said)

    def _scale(self, total: Expr, factor: Factor) -> Expr:
        return (
            clamp(scale_wide(total, *factor), _LOW, _HIGH) if self.wide else _clamp(total, factor)
        )

    def _sums(
        self,
        starts: Buffer,
        weights: Sequence[Buffer],
        source: tuple[Buffer, Expr],
        unit: Expr,
        count: int,
    ) -> list[Expr]:
        """Return the sums of a unit's four gates; an operand is read once for all of them."""
        builder, units, (values, begin) = self.builder, self.extents.units, source
        sums = builder.allocate("sums", self.total, len(GATES))
        for gate in range(len(GATES)):
            sums[gate] = starts[add(unit, gate * units)]
        row = builder.let("weights_row", multiply(unit, count))
        with builder.loop("k", 0, count) as k:
            value = builder.let("value", values.wide(add(begin, k)))
            at = builder.let("weight", add(row, k))
            for gate, each in enumerate(weights):
                product = multiply(value, each.wide(at))
                sums[gate] = add(sums[gate], cast(product, self.total))
        return [sums[gate] for gate in range(len(GATES))]


def _clamp(value: Expr, factor: Factor) -> Expr:
    return minimum(maximum(loops.mbqm(value, *factor), _LOW), _HIGH)


def _there(given: Sequence[Integers | None], at: int) -> Integers:
    values = given[at]
    assert values is not None, f"input {at} is absent"
    return values


def _scale(values: Integers, factor: Factor) -> Integers:
    """Keep the low 32 bits, as sums in a register do, and scale them."""
    return mbqm(np.asarray(values, np.int64).astype(np.int32).astype(np.int64), *factor)


def _wide(values: Integers, factor: Factor) -> Integers:
    """Scale sums of 64 bits."""
    return mbqm_wide(values, *factor)


def _short(values: Integers) -> Integers:
    return np.clip(values, _LOW, _HIGH)


def _starts(
    op: Operator, graph: Graph, source: int, weights: range, biases: range | None
) -> Integers:
    """Return where the sums of each gate begin, [4, U]: the bias, less the zero point."""
    zero = zero_point_of(require_input(op, graph, source))
    starts = []
    for gate, at in enumerate(weights):
        sums = np.asarray(require_input(op, graph, at).array, np.int64).sum(axis=1)
        bias = (
            0 if biases is None else require_input(op, graph, biases[gate]).array.astype(np.int64)
        )
        starts.append(bias - zero * sums)
    whole = np.array(starts, np.int64)
    return whole if is_wide(op, graph) else whole.astype(np.int32).astype(np.int64)


UNIDIRECTIONAL_SEQUENCE_LSTM = Lstm()
