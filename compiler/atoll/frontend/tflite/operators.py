# SPDX-License-Identifier: Apache-2.0
"""Operators and tensors of a TFLite file become those of a graph."""

from collections.abc import Sequence
from contextlib import nullcontext
from math import prod

from atoll.diagnostics.errors import ModelError
from atoll.frontend.tflite.checks import is_constant, place
from atoll.frontend.tflite.reader import FileOperator, FileTensor, Held
from atoll.frontend.tflite.tensor_names import operator_name
from atoll.ir.graph import ITEM_BYTES, Operator, Quantization, Tensor
from atoll.ops.registry import KINDS
from atoll.ops.tflite_form import Attributes, OptionError, TfliteForm
from atoll.plugins.loading import CORRECT_MEMBER, foreign_code


def graph_operator(model: Held, op: FileOperator, names: dict[int, str]) -> Operator:
    """Return an operator whose tensors have these names, by their numbers.

    Raises:
        ModelError: E054; options or shapes are not supported.
        AtollError: E111, another package's kind failed.
    """
    assert op.form, f"nothing serves {op.code}"
    inputs = [model.tensors[number] if number >= 0 else None for number in op.inputs]
    options = _attributes(op, op.form, inputs, output_of(model, op))
    if op.form.shapes_from is not None:
        _require_constant_shape(model, op, inputs[op.form.shapes_from :])
        inputs = inputs[: op.form.shapes_from]
    if order := op.form.order:
        left_out = [each for at, each in enumerate(inputs) if at not in order]
        _require_constant_shape(model, op, left_out)
        inputs = [inputs[at] for at in order if at < len(inputs)]
    return Operator(
        name=operator_name(op),
        kind=op.kind,
        inputs=tuple(names[tensor.index] if tensor is not None else "" for tensor in inputs),
        outputs=(
            *(names[number] for number in op.outputs),
            *(next_name(names[number]) for number in _states(op)),
        ),
        attributes=options,
        index=-1 if op.name else op.index,
    )


def output_of(model: Held, op: FileOperator) -> FileTensor | None:
    """Return the first output, by which messages name an operator."""
    return model.tensors[op.outputs[0]] if op.outputs else None


def _states(op: FileOperator) -> list[int]:
    """Return the variables that an operator changes; the checks report one that is absent."""
    places = op.form.states if op.form else ()
    return [op.inputs[at] for at in places if at < len(op.inputs) and op.inputs[at] >= 0]


def next_name(state: str) -> str:
    """Name what a state becomes."""
    return f"{state}_next"


def _attributes(
    op: FileOperator,
    form: TfliteForm,
    inputs: Sequence[FileTensor | None],
    output: FileTensor | None,
) -> Attributes:
    """Return the attributes of an operator, as its kind reads the options; errors name `output`.

    Raises:
        ModelError: E054, the options are missing or of another kind, or have no meaning here.
        AtollError: E111, another package's kind failed.
    """
    remedy = "convert the model again with a current TFLite converter"
    where = place(op, output)
    if form.table and op.options_table != form.table:
        raise ModelError("E054", f"{where}: has no {form.table}", remedy=remedy)
    shapes = [tensor.shape if tensor is not None else None for tensor in inputs]
    failed = f"operator '{op.kind}' failed in 'read' for {where}"
    guard = foreign_code(failed, remedy=CORRECT_MEMBER, passing=(OptionError,))
    try:
        with nullcontext() if op.kind in KINDS.own else guard:
            return form.read(op.options, shapes)
    except OptionError as fault:
        raise ModelError("E054", f"{where}: {fault}", remedy=remedy) from fault


def _require_constant_shape(model: Held, op: FileOperator, shapes: list[FileTensor | None]) -> None:
    """Refuse a shape that is computed; a constant one is stated by the output as well."""
    assert op.form
    for tensor in () if op.form.any_shape else shapes:
        if tensor is not None and not is_constant(model, tensor):
            message = f"{place(op, tensor)}: the shape must be a constant"
            raise ModelError("E054", message, remedy="convert the model with fixed shapes")


def graph_tensor(model: Held, tensor: FileTensor, name: str) -> Tensor:
    """Return a tensor with the values that the file has for it."""
    quantization = None
    if tensor.scales:
        axis = tensor.axis if len(tensor.scales) > 1 and len(tensor.shape) > 1 else 0
        quantization = Quantization(scales=tensor.scales, zero_points=tensor.zero_points, axis=axis)
    data = model.buffers[tensor.buffer].data
    return Tensor(
        name=name,
        shape=tensor.shape,
        dtype=tensor.dtype,
        quantization=quantization,
        data=bytes(data) if data else None,
        index=-1 if tensor.number >= 0 else tensor.index,
        initial=_initial(tensor) if tensor.variable else None,
    )


def _initial(tensor: FileTensor) -> bytes:
    """Return the bytes of a variable before the first run; TFLM: `ResetTensorData`."""
    if tensor.initial is not None:
        return tensor.initial
    value = tensor.zero_points[0] if tensor.dtype == "int8" and tensor.zero_points else 0
    return bytes([value & 0xFF]) * (prod(tensor.shape) * ITEM_BYTES[tensor.dtype])
