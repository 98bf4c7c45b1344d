# SPDX-License-Identifier: Apache-2.0
"""Which refusals the documents announce for what a network holds."""

from tests.differential.network import MULTIPLIED
from tests.differential.text import readers_of
from tests.tflite_builder import Model, Tensor

LEAST_SCALE, GREATEST_SCALE = 1e-5, 10.0
PORT_TYPES = ("int8", "int16", "int32", "int64")


def refusals(model: Model) -> frozenset[str]:
    """Return the codes of all faults that Atoll may report of a network."""
    scales = _scales(model)
    absurd = bool(scales) and not LEAST_SCALE < min(scales) <= max(scales) < GREATEST_SCALE
    reasons = {"E054": absurd, "E055": _odd_ports(model), "E056": 0.0 in scales}
    return frozenset(code for code, given in reasons.items() if given)


def _scales(model: Model) -> list[float]:
    """Return all scales; with absurd ones a factor may leave what 31 bits and a shift can hold.

    That of a bias, the product of two others, is 0 where it is too small for a file.
    """
    return [
        scale
        for each in (model, *model.others)
        for op in each.operators
        for number in (*op.inputs, *op.outputs)
        if number >= 0
        for scale in each.tensors[number].scales
    ]


def _odd_ports(model: Model) -> bool:
    """Tell of unused inputs of types without use, and of outputs that cannot be copied."""
    read, written = readers_of(model), {n for op in model.operators for n in op.outputs}
    unused = {model.tensors[number].dtype for number in model.inputs if number not in read}
    edges = {op.outputs[0]: op.inputs[0] for op in model.operators if op.code == "DEQUANTIZE"}
    outputs = [edges.get(number, number) for number in model.outputs]
    given = [model.tensors[number] for number in outputs if number not in written]
    return not all(map(_copied, given)) or not unused.issubset(PORT_TYPES)


def _copied(tensor: Tensor) -> bool:
    """Tell whether a tensor that no operator writes can be handed out as a copy."""
    scales = len(tensor.scales)
    return scales == 1 if tensor.dtype in MULTIPLIED else tensor.dtype in PORT_TYPES and scales < 2
