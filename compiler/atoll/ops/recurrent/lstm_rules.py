# SPDX-License-Identifier: Apache-2.0
"""What an LSTM consists of, and what Atoll accepts of it."""

from collections.abc import Iterator
from math import frexp

import numpy as np

from atoll.diagnostics.errors import Fault
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops import checks
from atoll.ops.bias import is_that_of_sums
from atoll.ops.checks import require_input
from atoll.ops.quantization import quantize_multiplier, scale_of, zero_point_of
from atoll.records import dataclass

INPUTS = 24
X, HIDDEN, CELL = 0, 18, 19
GATES = ("input", "forget", "cell", "output")
FROM_INPUT, FROM_HIDDEN, BIASES = range(1, 5), range(5, 9), range(12, 16)
"""Positions of the weights and biases of the gates, in the order of `GATES`."""

VARIANTS = (
    ("peephole weights", range(9, 12)),
    ("projections", range(16, 18)),
    ("normalised layers", range(20, 24)),
)
"""What TFLM refuses, by the operands that stand for it."""

GATE_SCALE, CURVE_SCALE = 2.0**-12, 2.0**-15
"""Of what goes into the curve of a gate, and of what comes out of any curve."""

GREATEST_BIAS = 2.0**46

LEAST_CELL, GREATEST_CELL = 2.0**-27, 2.0

Factor = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Extents:
    """How many there are of what an LSTM has."""

    batches: int
    steps: int
    inputs: int
    units: int
    time_major: bool

    @classmethod
    def of(cls, op: Operator, graph: Graph) -> "Extents":
        """Look at the input [B, T, I], or [T, B, I], and at the hidden state [B, U]."""
        first, second, inputs = require_input(op, graph, X).shape
        time_major = bool(op.attributes["time_major"])
        batches, steps = (second, first) if time_major else (first, second)
        return cls(batches, steps, inputs, require_input(op, graph, HIDDEN).shape[1], time_major)


@dataclass(frozen=True, slots=True)
class Scaling:
    """Multiplier and shift of each product.

    Attributes:
        from_input, from_hidden: of the sums of each gate.
        forgotten: of the forget gate with the cell state.
        added: of the input gate with the cell gate.
        made: of the output gate with the curve of the cell state.
        clip: the greatest magnitude of the cell state, None if it may have any.
    """

    from_input: tuple[Factor, ...]
    from_hidden: tuple[Factor, ...]
    forgotten: Factor
    added: Factor
    made: Factor
    clip: int | None

    @classmethod
    def of(cls, op: Operator, graph: Graph) -> "Scaling":
        """Split the real factors; TFLM: `PrepareGateParametersInteger`."""
        *sums, added, made = map(quantize_multiplier, reals(op, graph))
        forgotten, cell = quantize_multiplier(CURVE_SCALE), scale_of(require_input(op, graph, CELL))
        clip = float(op.attributes["cell_clip"])  # type: ignore[arg-type]
        greatest = int(min(clip / cell, 2.0**15 - 1)) if clip > 0 else None
        return cls(tuple(sums[:4]), tuple(sums[4:]), forgotten, added, made, greatest)


def is_wide(op: Operator, graph: Graph) -> bool:
    """Tell whether activations have 16 bits, and sums 64."""
    return require_input(op, graph, X).dtype == "int16"


def reals(op: Operator, graph: Graph) -> tuple[float, ...]:
    """Return the factors of the sums of each gate, from the input first, and of two products."""
    cell, hidden = (scale_of(require_input(op, graph, at)) for at in (CELL, HIDDEN))

    def of_sums(source: int, weights: range) -> Iterator[float]:
        scale = np.float32(scale_of(require_input(op, graph, source)))
        with np.errstate(over="ignore", under="ignore"):
            for at in weights:
                product = scale * np.float32(scale_of(require_input(op, graph, at)))
                yield float(product) / GATE_SCALE

    squared = CURVE_SCALE * CURVE_SCALE
    sums = (*of_sums(X, FROM_INPUT), *of_sums(HIDDEN, FROM_HIDDEN))
    return (*sums, squared / cell, squared / hidden)


def _present(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require the operands of the plain LSTM, and no others."""
    if len(op.inputs) != INPUTS:
        yield checks.fault(op, f"has {len(op.inputs)} inputs instead of {INPUTS}")
        return
    for what, positions in VARIANTS:
        given = next((at for at in positions if op.inputs[at]), None)
        if given is not None:
            tensor = require_input(op, graph, given)
            yield checks.fault(op, f"is of {what}, which are not supported", tensor=tensor)
    needed = (X, *FROM_INPUT, *FROM_HIDDEN, *BIASES, HIDDEN, CELL)
    absent = next((at for at in needed if not op.inputs[at]), None)
    if absent is not None:
        yield checks.fault(op, f"input {absent} is absent but required")
    elif len(op.outputs) != 3:
        yield checks.fault(op, f"has {len(op.outputs) - 2} outputs instead of 1")


def _options(op: Operator, graph: Graph) -> Iterator[Fault]:
    activation = op.attributes["activation"]
    if activation != "tanh":
        yield checks.fault(op, f"activation '{activation}' of the cell gate is not tanh")
    if op.attributes["asymmetric_quantize_inputs"]:
        yield checks.fault(op, "asymmetric_quantize_inputs is not supported")


def _types(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require results of the input's type, a cell state of int16, and biases of the sums' type."""
    (output, hidden, cell), x = graph.results(op), require_input(op, graph, X).dtype
    for tensor, wanted in ((output, x), (hidden, x), (cell, "int16")):
        if tensor.dtype != wanted:
            message = f"has type {tensor.dtype} where only {wanted} is supported"
            yield checks.fault(op, message, tensor=tensor)


def _biases(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require constant biases of the type of the sums, of which 16 bits are multiplied by."""
    for at in BIASES:
        yield from checks.constant(at, "int64" if is_wide(op, graph) else "int32")(op, graph)


def _symmetric(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require zero points of 0 of int16, and biases that 64 bits scale."""
    if not is_wide(op, graph):
        return
    for tensor in (require_input(op, graph, X), require_input(op, graph, HIDDEN)):
        if zero_point_of(tensor):
            message = f"has zero point {zero_point_of(tensor)} instead of 0"
            yield checks.fault(op, message, tensor=tensor)
    for bias in (require_input(op, graph, at) for at in BIASES):
        if np.abs(bias.array.astype(np.float64)).max() >= GREATEST_BIAS:
            yield checks.fault(op, "has values of 2^46 or more in magnitude", tensor=bias)


def _factors(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require factors that can be represented: fewer of sums of 64 bits."""
    yield from checks.factors(lambda op, graph: reals(op, graph)[8:])(op, graph)
    most = 7 if is_wide(op, graph) else 30
    yield from checks.factors(lambda op, graph: reals(op, graph)[:8], most)(op, graph)


def _check_quantization(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require one scale of each, and 0 where TFLM takes it for the zero point."""
    for at in (*FROM_INPUT, *FROM_HIDDEN, CELL):
        tensor = require_input(op, graph, at)
        if tensor.quantization is None or len(tensor.quantization.scales) != 1:
            yield checks.fault(op, "is not quantised by one scale", tensor=tensor)
        elif zero_point_of(tensor):
            message = f"has zero point {zero_point_of(tensor)} instead of 0"
            yield checks.fault(op, message, tensor=tensor)


def _shapes(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require the shapes that follow from those of the input and the hidden state."""
    x, hidden = require_input(op, graph, X), require_input(op, graph, HIDDEN)
    for tensor, dimensions in ((x, 3), (hidden, 2)):
        if len(tensor.shape) != dimensions:
            message = f"has shape {list(tensor.shape)} instead of {dimensions} dimensions"
            yield checks.fault(op, message, tensor=tensor)
            return
    extents = Extents.of(op, graph)
    units = extents.units
    wanted: list[tuple[Tensor, tuple[int, ...]]] = [(hidden, (extents.batches, units))]
    wanted += [(require_input(op, graph, CELL), (extents.batches, units))]
    wanted += [(require_input(op, graph, at), (units, extents.inputs)) for at in FROM_INPUT]
    wanted += [(require_input(op, graph, at), (units, units)) for at in FROM_HIDDEN]
    wanted += [(require_input(op, graph, at), (units,)) for at in BIASES]
    wanted += [(graph.results(op)[0], (*x.shape[:2], units))]
    yield from (_shape(op, each, shape) for each, shape in wanted if each.shape != shape)


def _alike(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require what TFLM takes on trust: the result's grid, and the scales of biases."""
    output, hidden = graph.results(op)[0], require_input(op, graph, HIDDEN)
    if output.quantization != hidden.quantization:
        message = "is quantised differently from the hidden state, whose bytes it has"
        yield checks.fault(op, message, tensor=output)
    x = scale_of(require_input(op, graph, X))
    for weights, at in zip(FROM_INPUT, BIASES, strict=True):
        sums, bias = x * scale_of(require_input(op, graph, weights)), require_input(op, graph, at)
        yield from is_that_of_sums(op, bias, (sums,), GATE_SCALE)


def _shape(op: Operator, tensor: Tensor, wanted: tuple[int, ...]) -> Fault:
    message = f"has shape {list(tensor.shape)} instead of {list(wanted)}"
    return checks.fault(op, message, tensor=tensor)


def _cell_scale(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require a power of two, whose exponent alone TFLM heeds where it takes the curve."""
    cell = require_input(op, graph, CELL)
    scale = scale_of(cell)
    if frexp(scale)[0] != 0.5 or not LEAST_CELL <= scale <= GREATEST_CELL:
        message = f"has scale {scale:g}, which is not a power of two of 2^-27 .. 2"
        yield checks.fault(op, message, tensor=cell)


RULES: tuple[checks.Rule, ...] = (
    _present,
    _options,
    checks.activations(X, types=("int8", "int16"), results=("int8", "int16")),
    _types,
    *(checks.constant(at, "int8") for at in (*FROM_INPUT, *FROM_HIDDEN)),
    _biases,
    _check_quantization,
    _shapes,
    _symmetric,
    _alike,
    _cell_scale,
    _factors,
)
