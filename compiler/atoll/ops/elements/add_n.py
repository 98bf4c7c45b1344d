# SPDX-License-Identifier: Apache-2.0
"""ADD_N: a sum of several operands that are quantised alike."""

from collections.abc import Iterator, Sequence

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.expressions import add, binary, subtract
from atoll.ir.graph import Graph, Operator
from atoll.ir.tir import Expr, Lowered, Operation
from atoll.ops import checks
from atoll.ops.checks import require_input
from atoll.ops.elements.elementwise import LONG_NEIGHBOURS, Elementwise, finish, lower_elements
from atoll.ops.kind import Array
from atoll.ops.loops import fixed_point_loops as loops
from atoll.ops.quantization import (
    activation_range,
    mbqm,
    quantize_multiplier,
    scale_of,
    zero_point_of,
)
from atoll.ops.tflite_form import TfliteForm

PLACES = 20
MOST = 15
"""Operands whose sum, with 19 more bits, fits 32 bits."""


class AddN(Elementwise):
    """ADD_N, whose sum begins with minus the zero point, as TFLM's does (`reference_ops::AddN`)."""

    tflite = TfliteForm(code="ADD_N")

    def check(self, op: Operator, graph: Graph) -> None:
        """Accept 2 to 15 int8 inputs of one shape and quantisation."""
        rules = (
            checks.operands(2, MOST),
            checks.all_present,
            checks.int8_activations(),
            _alike,
            checks.factors(lambda op, graph: (_factor(op, graph),), 0),
        )
        checks.apply(rules, op, graph)

    def reference(
        self, op: Operator, graph: Graph, inputs: Sequence[Array | None]
    ) -> tuple[Array, ...]:
        """Add up what values are beyond the zero point, then scale the sum."""
        total = np.sum([np.asarray(each, np.int64) for each in inputs], axis=0)
        centred = total - (len(inputs) + 1) * zero_point_of(require_input(op, graph, 0))
        factor = quantize_multiplier(_factor(op, graph))
        return (finish(op, graph, mbqm(centred << (PLACES - 1), *factor)),)

    def lower(self, op: Operator, graph: Graph) -> Lowered:
        """Add up, then scale once."""
        (output,) = graph.results(op)
        start = (len(op.inputs) + 1) * zero_point_of(require_input(op, graph, 0))
        factor, limits = quantize_multiplier(_factor(op, graph)), activation_range(op, output)

        def result(values: Sequence[Expr]) -> Expr:
            centred = subtract(add(*values), start)
            scaled = loops.mbqm(binary(Operation.SHL, centred, PLACES - 1), *factor)
            return loops.quantize(scaled, zero_point_of(output), limits)

        return lower_elements(op, graph, lambda builder: result, LONG_NEIGHBOURS)


def _factor(op: Operator, graph: Graph) -> float:
    (output,) = graph.results(op)
    return 2 * scale_of(require_input(op, graph, 0)) / ((1 << PLACES) * scale_of(output))


def _alike(op: Operator, graph: Graph) -> Iterator[Fault]:
    first, (output,) = require_input(op, graph, 0), graph.results(op)
    tensors = [require_input(op, graph, position) for position in range(len(op.inputs))]
    for tensor in (*tensors, output):
        if tensor.shape != first.shape:
            message = f"has shape {list(tensor.shape)} instead of {list(first.shape)}"
            yield checks.fault(op, message, tensor=tensor)
    for tensor in tensors:
        if tensor.quantization != first.quantization:
            yield checks.fault(op, "is quantised differently from the first input", tensor=tensor)


ADD_N = AddN()
