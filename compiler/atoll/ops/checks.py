# SPDX-License-Identifier: Apache-2.0
"""Rules that operators share: what a kind accepts, and the faults it reports otherwise."""

from collections.abc import Callable, Iterator
from itertools import islice, product

from atoll.diagnostics.errors import Fault, ModelError
from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ops.quantization import ACTIVATIONS, scale_of

_ANY_REMEDY = "change the layer as docs/operators.md allows, and convert the model again"
_INT8_REMEDY = (
    "convert the model with a representative data set, TFLITE_BUILTINS_INT8 and "
    "inference_input_type = inference_output_type = int8"
)

QUANTIZED = ("int8", "int16")
"""Types whose activations stand for real numbers by a scale and a zero point."""

MOVED = ("int8", "int16", "int32", "int64", "bool")
"""Types of what operators move without a look at it."""

Rule = Callable[[Operator, Graph], Iterator[Fault]]


def apply(rules: tuple[Rule, ...], op: Operator, graph: Graph) -> None:
    """Run the rules in order; the first one that finds faults ends the check.

    Raises:
        ModelError: every fault of that rule.
    """
    for rule in rules:
        faults = tuple(rule(op, graph))
        if faults:
            raise ModelError.all(faults)


def fault(
    op: Operator, message: str, *, tensor: Tensor | None = None, remedy: str = _ANY_REMEDY
) -> Fault:
    """Describe something about `op` that Atoll does not support."""
    place = f"operator {op.label} ({op.kind.upper()})"
    if tensor is not None:
        number = f"{tensor.index} ('{tensor.name}')" if tensor.index >= 0 else f"'{tensor.name}'"
        place += f", tensor {number}"
    return Fault(code="E054", message=f"{place}: {message}", remedy=remedy)


def operands(least: int, most: int, *, results: bool = False) -> Rule:
    """Require `least` to `most` inputs, the first `least` of them present, and one output.

    Args:
        least: inputs.
        most: inputs.
        results: there may be any number of outputs from one on.
    """

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        count = len(op.inputs)
        if not least <= count <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            yield fault(op, f"has {count} inputs instead of {wanted}")
        elif not all(op.inputs[:least]):
            yield fault(op, f"input {op.inputs.index('')} is absent but required")
        if len(op.outputs) != 1 and not (op.outputs and results):
            yield fault(op, f"has {len(op.outputs)} outputs instead of 1")

    return rule


def int8_activations(*positions: int) -> Rule:
    """Require the output and the named inputs (all, if none is) int8, quantised as a whole."""
    return activations(*positions, types=("int8",))


def activations(*positions: int, types: tuple[str, ...], results: tuple[str, ...] = ()) -> Rule:
    """Require the outputs and the named inputs (all, if none is) to have one of some types.

    Those of `QUANTIZED` types are quantised as a whole. Reports the first tensor only, since a
    model of another type has nothing but faults.

    Args:
        positions: of the inputs.
        types: of the inputs, and of the outputs too unless there are `results`.
        results: types of the outputs.
    """

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        tensors = graph.operands(op)
        chosen = [tensors[position] for position in positions] if positions else list(tensors)
        allowed = [(tensor, types) for tensor in chosen if tensor is not None]
        allowed += [(tensor, results or types) for tensor in graph.results(op)]
        faults = (found for tensor, each in allowed for found in _as_a_whole(op, tensor, each))
        yield from islice(faults, 1)

    return rule


def _as_a_whole(op: Operator, tensor: Tensor, types: tuple[str, ...]) -> Iterator[Fault]:
    if tensor.dtype not in types:
        *others, last = types
        listed = f"{', '.join(others)} and {last} are" if others else f"{last} is"
        message = f"has type {tensor.dtype} where only {listed} supported"
        yield fault(op, message, tensor=tensor, remedy=_INT8_REMEDY)
    elif tensor.dtype not in QUANTIZED:
        return
    elif tensor.quantization is None:
        yield fault(op, "has no quantisation parameters", tensor=tensor)
    elif len(tensor.quantization.scales) != 1:
        yield fault(op, "is quantised per channel where per tensor is supported", tensor=tensor)


def all_present(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require every input."""
    if not all(op.inputs):
        yield fault(op, f"input {op.inputs.index('')} is absent but required")


def constant(position: int, *dtypes: str) -> Rule:
    """Require the input at `position`, if it is there, to be a constant of one of the types."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        tensor = operand(op, graph, position)
        if tensor is None:
            return
        if tensor.data is None:
            yield fault(op, "must be a constant", tensor=tensor)
        if tensor.dtype not in dtypes:
            message = f"has type {tensor.dtype} instead of {' or '.join(dtypes)}"
            yield fault(op, message, tensor=tensor)

    return rule


def rank(*positions: int, dimensions: int) -> Rule:
    """Require the named inputs and the output to have so many dimensions."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        inputs = graph.operands(op)
        for tensor in (*(inputs[position] for position in positions), *graph.results(op)):
            if tensor is not None and len(tensor.shape) != dimensions:
                message = f"has shape {list(tensor.shape)} instead of {dimensions} dimensions"
                yield fault(op, message, tensor=tensor)

    return rule


def same_type(*positions: int) -> Rule:
    """Require the outputs to have the type of the named inputs (the first, if none is)."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        for position in positions or (0,):
            x = require_input(op, graph, position)
            for output in graph.results(op):
                if x.dtype != output.dtype:
                    message = f"has type {output.dtype} instead of {x.dtype}"
                    yield fault(op, message, tensor=output)

    return rule


def same_quantization(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require every input of a `QUANTIZED` type to be quantised as the outputs are.

    One of another type that states a scale must be so where the output states one too.
    """
    for output, tensor in product(graph.results(op), graph.operands(op)):
        stated = tensor is not None and tensor.quantization and output.quantization
        if tensor is None or not (tensor.dtype in QUANTIZED or stated):
            continue
        if tensor.quantization != output.quantization:
            message = f"is quantised differently from the output '{output.name}'"
            remedy = "insert a QUANTIZE before the operator, as the TFLite converter does"
            yield fault(op, message, tensor=tensor, remedy=remedy)


def activation(op: Operator, graph: Graph) -> Iterator[Fault]:
    """Require a fused activation that clamps."""
    chosen = op.attributes.get("activation", "none")
    if chosen not in ACTIVATIONS:
        remedy = f"use one of {', '.join(ACTIVATIONS)}"
        message = f"fused activation '{chosen}' is not supported"
        yield fault(op, message, tensor=graph.results(op)[0], remedy=remedy)


def output_shape(expected: Callable[[Operator, Graph], tuple[int, ...] | None]) -> Rule:
    """Require the output to have the shape that `expected` derives; None: nothing fits."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        (output,) = graph.results(op)
        shape = expected(op, graph)
        if shape != output.shape:
            wanted = "no shape" if shape is None else str(list(shape))
            message = f"has shape {list(output.shape)}, inputs and options make {wanted}"
            remedy = "convert the model again; its shapes contradict each other"
            yield fault(op, message, tensor=output, remedy=remedy)

    return rule


def factors(
    reals: Callable[[Operator, Graph], tuple[float, ...]], greatest_shift: int = 30
) -> Rule:
    """Require every requantisation factor to be less than 2**greatest_shift."""

    def rule(op: Operator, graph: Graph) -> Iterator[Fault]:
        output = graph.results(op)[0]
        wrong = [real for real in reals(op, graph) if not real < 2.0**greatest_shift]
        if wrong:
            message = f"scale {scale_of(output):g} needs a factor of {wrong[0]:g}"
            limit = f"only factors below 2^{greatest_shift} can be represented"
            yield fault(op, f"{message}; {limit}", tensor=output)

    return rule


def operand(op: Operator, graph: Graph, position: int) -> Tensor | None:
    """Return an input, or None where it is absent."""
    return graph.operands(op)[position] if position < len(op.inputs) else None


def require_input(op: Operator, graph: Graph, position: int) -> Tensor:
    """Return an input that the checks have found present."""
    tensor = operand(op, graph, position)
    assert tensor is not None, f"{op.name}: input {position} is absent"
    return tensor
