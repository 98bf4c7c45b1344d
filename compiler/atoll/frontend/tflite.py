"""Load int8 TFLite models: read, judge, and name what a file holds."""

from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from math import prod
from pathlib import Path

from atoll.errors import Fault, ModelError
from atoll.frontend.front_end import FrontEnd, load_with
from atoll.frontend.tflite_checks import check_content, check_references, is_constant, place
from atoll.frontend.tflite_edges import strip_float_edges, with_own_outputs
from atoll.frontend.tflite_int4 import with_int8_filters
from atoll.frontend.tflite_islands import with_tables
from atoll.frontend.tflite_names import operator_name, tensor_names
from atoll.frontend.tflite_reader import (
    FileBuffer,
    FileModel,
    FileOperator,
    FileTensor,
    is_tflite,
    model_bytes,
    read_file,
)
from atoll.frontend.tflite_variables import assigned_last, with_variables
from atoll.frontend.unsupported import Unsupported, operator_faults, unsupported
from atoll.ir.graph import ITEM_BYTES, Graph, Operator, Quantization, Tensor
from atoll.ops.registry import KINDS
from atoll.ops.tflite_form import Attributes, OptionError, TfliteForm
from atoll.plugins import CORRECT_MEMBER, foreign_code


class Tflite(FrontEnd):
    """The format of TensorFlow Lite, schema version 3; `model.tflite#encode` names a signature.

    A QUANTIZE of a float input and a DEQUANTIZE to a float output are left out. What real numbers
    compute of one int8 value is a table. An output that is an input or a constant is a copy.
    """

    suffix = ".tflite"

    def recognises(self, path: Path) -> bool:
        """Look at the suffix, else for the identifier behind the first word."""
        return super().recognises(path) or is_tflite(path)

    def data(self, path: Path) -> bytes:
        """Return the file, with the function that `path` chooses first."""
        return model_bytes(path)

    def load(self, path: Path) -> Graph:
        """Read, judge, and name what the file holds."""
        model = read_file(path)
        check_references(model)
        total = len(model.operators)
        model = with_variables(with_int8_filters(model))
        model = assigned_last(with_own_outputs(with_tables(strip_float_edges(model))))
        _require_kinds(model, total)
        check_content(model)
        return _graph(_with_known(model))


TFLITE = Tflite()
MOST_KNOWN = 1024
"""Numbers that an operator makes when a file is loaded."""


def load_tflite(path: Path) -> Graph:
    """Turn a TFLite file into a graph whose every operator can be compiled.

    Raises:
        ModelError: as `load_with`.
    """
    return load_with(TFLITE.load, path)


def _require_kinds(model: FileModel, total: int) -> None:
    """Refuse operators that no kind serves, and say in the same run what is wrong with others.

    Args:
        model: without what is left out at its edges.
        total: operators that the file has.
    """
    unknown = [
        Unsupported(op.code, op.index, place(op, _output(model, op)))
        for op in model.operators
        if not op.form
    ]
    if not unknown:
        return
    raise ModelError.all((*unsupported(unknown, total), *_others(model)))


def _others(model: FileModel) -> tuple[Fault, ...]:
    """Return what kinds refuse of a model some of whose operators none serves."""
    known = _without_unknown(model)
    with suppress(ModelError):
        check_content(known)
        try:
            return operator_faults(_graph(known))
        except ModelError as error:
            return error.faults
    return ()


def _without_unknown(model: FileModel) -> FileModel:
    """Return the model with inputs in the place of what operators without a kind make."""
    made = {number for op in model.operators if not op.form for number in op.outputs}
    return replace(
        model,
        operators=tuple(op for op in model.operators if op.form),
        inputs=tuple({*model.inputs} | made),
        outputs=tuple(number for number in model.outputs if number not in made),
    )


def _output(model: FileModel, op: FileOperator) -> FileTensor | None:
    return model.tensors[op.outputs[0]] if op.outputs else None


def _graph(model: FileModel) -> Graph:
    names = tensor_names(model)
    faults: list[Fault] = []
    operators: list[Operator] = []
    for op in model.operators:
        try:
            operators.append(_operator(model, op, names))
        except ModelError as error:
            faults += error.faults
    if faults:
        raise ModelError.all(faults)
    used = {operand for op in operators for operand in (*op.inputs, *op.outputs)}
    interface = {names[number] for number in (*model.inputs, *model.outputs)}
    tensors = [
        _tensor(model, model.tensors[number], names[number])
        for number in sorted(names)
        if names[number] in used | interface
    ]
    changed = [
        replace(tensor, name=_changed(tensor.name), view=tensor.name, initial=None, index=-1)
        for tensor in tensors
        if tensor.initial is not None
    ]
    return Graph(
        name="",
        tensors=(*tensors, *changed),
        operators=tuple(operators),
        inputs=tuple(names[number] for number in model.inputs),
        outputs=tuple(names[number] for number in model.outputs),
    )


def _with_known(model: FileModel) -> FileModel:
    """Compute what shapes and constants alone decide: plain numbers, such as other shapes.

    The operator stays where the model hands out its result; others then read a constant of theirs.
    """
    for index in [op.index for op in model.operators]:
        (op,) = (each for each in model.operators if each.index == index)
        values = _known(model, op)
        if values is not None:
            buffer = FileBuffer(data=memoryview(values), external=False)
            model = _with_constant(replace(model, buffers=(*model.buffers, buffer)), op)
    return model


def _with_constant(model: FileModel, op: FileOperator) -> FileModel:
    """Return the model whose operators read the last buffer as what `op` makes."""
    (number,), tensors = op.outputs, list(model.tensors)
    constant = replace(tensors[number], buffer=len(model.buffers) - 1)
    if number not in model.outputs:
        tensors[number] = constant
        operators = tuple(other for other in model.operators if other is not op)
        return replace(model, tensors=tuple(tensors), operators=operators)
    own = len(tensors)
    tensors.append(replace(constant, index=own))
    operators = tuple(
        replace(other, inputs=tuple(own if n == number else n for n in other.inputs))
        for other in model.operators
    )
    return replace(model, tensors=tuple(tensors), operators=operators)


def _known(model: FileModel, op: FileOperator) -> bytes | None:
    """Return the only result of an operator, None where it is not known or no plain number."""
    inputs = [model.tensors[number] for number in op.inputs if number >= 0]
    if op.kind not in KINDS.own or len(op.outputs) != 1 or not inputs:
        return None
    kind, result = KINDS.get(op.kind), model.tensors[op.outputs[0]]
    plain = result.dtype in ("int32", "int64") and not result.scales
    if not plain or prod(result.shape) > MOST_KNOWN:
        return None
    if not kind.of_shapes_alone and not all(is_constant(model, tensor) for tensor in inputs):
        return None
    names = {tensor.index: f"t{tensor.index}" for tensor in (*inputs, result)}
    with suppress(ModelError):
        operator = _operator(model, op, names)
        tensors = (_tensor(model, model.tensors[number], name) for number, name in names.items())
        graph = Graph("", tuple(tensors), (operator,), (), operator.outputs)
        kind.check(operator, graph)
        operands = graph.operands(operator)
        given = [tensor.array if tensor and tensor.data else None for tensor in operands]
        (values,) = kind.reference(operator, graph, given)
        return values.tobytes()
    return None


def _operator(model: FileModel, op: FileOperator, names: dict[int, str]) -> Operator:
    assert op.form, f"nothing serves {op.code}"
    inputs = [model.tensors[number] if number >= 0 else None for number in op.inputs]
    options = _attributes(op, op.form, inputs, _output(model, op))
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
            *(_changed(names[number]) for number in _states(op)),
        ),
        attributes=options,
        index=op.index,
    )


def _states(op: FileOperator) -> list[int]:
    """Return the variables that an operator changes; the checks report one that is absent."""
    places = op.form.states if op.form else ()
    return [op.inputs[at] for at in places if at < len(op.inputs) and op.inputs[at] >= 0]


def _changed(state: str) -> str:
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


def _require_constant_shape(
    model: FileModel, op: FileOperator, shapes: list[FileTensor | None]
) -> None:
    """Refuse a shape that is computed; a constant one is stated by the output as well."""
    for tensor in shapes:
        if tensor is not None and not is_constant(model, tensor):
            message = f"{place(op, tensor)}: the shape must be a constant"
            raise ModelError("E054", message, remedy="convert the model with fixed shapes")


def _tensor(model: FileModel, tensor: FileTensor, name: str) -> Tensor:
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
        index=tensor.index,
        initial=_initial(tensor) if tensor.variable else None,
    )


def _initial(tensor: FileTensor) -> bytes:
    """Return the bytes of a variable before the first run; TFLM: `ResetTensorData`."""
    if tensor.initial is not None:
        return tensor.initial
    value = tensor.zero_points[0] if tensor.dtype == "int8" and tensor.zero_points else 0
    return bytes([value & 0xFF]) * (prod(tensor.shape) * ITEM_BYTES[tensor.dtype])
