"""Load int8 TFLite models: read, judge, name, and hand every operator to its kind's check."""

from dataclasses import replace
from pathlib import Path

from atoll.errors import Fault, ModelError
from atoll.frontend.tflite_checks import (
    check_content,
    check_references,
    is_constant,
    place,
)
from atoll.frontend.tflite_edges import strip_float_edges, with_own_outputs
from atoll.frontend.tflite_names import network_name, operator_name, tensor_names
from atoll.frontend.tflite_options import SUPPORTED, attributes
from atoll.frontend.tflite_reader import FileModel, FileOperator, FileTensor, read_file
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops.kernel_builder import ELEMENT_TYPES as TYPES
from atoll.ops.registry import kind_of


def load_tflite(path: Path) -> Graph:
    """Turn a model file into a graph whose every operator can be compiled.

    A QUANTIZE of a float input and a DEQUANTIZE to a float output are left out, so that the
    graph's interface is int8. Constants that nothing reads are dropped. An output that is an
    input, a constant or there twice is a copy.

    Raises:
        ModelError: E050 to E056; all faults of the stage that found some, each with the path.
    """
    try:
        return _load(path)
    except ModelError as error:
        faults = (replace(fault, message=f"{path}: {fault.message}") for fault in error.faults)
        raise ModelError.all(faults) from error


def _load(path: Path) -> Graph:
    model = read_file(path)
    check_references(model)
    model = with_own_outputs(strip_float_edges(model))
    unknown = tuple(_unsupported(model, op) for op in model.operators if op.code not in SUPPORTED)
    if unknown:
        raise ModelError.all(unknown)
    check_content(model)
    graph = _graph(model, network_name(path))
    _check_operators(graph)
    _check_interface(graph)
    return graph


def _unsupported(model: FileModel, op: FileOperator) -> Fault:
    return Fault(
        code="E053",
        message=f"{place(op, _output(model, op))}: the operator is not supported",
        remedy=f"build the model from {', '.join(SUPPORTED)}",
    )


def _output(model: FileModel, op: FileOperator) -> FileTensor | None:
    return model.tensors[op.outputs[0]] if op.outputs else None


def _graph(model: FileModel, name: str) -> Graph:
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
    tensors = (model.tensors[number] for number in sorted(names))
    return Graph(
        name=name,
        tensors=tuple(
            _tensor(model, tensor, names[tensor.index])
            for tensor in tensors
            if names[tensor.index] in used | interface
        ),
        operators=tuple(operators),
        inputs=tuple(names[number] for number in model.inputs),
        outputs=tuple(names[number] for number in model.outputs),
    )


def _operator(model: FileModel, op: FileOperator, names: dict[int, str]) -> Operator:
    inputs = [model.tensors[number] if number >= 0 else None for number in op.inputs]
    options = attributes(op, inputs, _output(model, op))
    if op.code == "RESHAPE":
        _require_constant_shape(model, op, inputs)
        inputs = inputs[:1]
    return Operator(
        name=operator_name(op),
        kind=op.code.lower(),
        inputs=tuple(names[tensor.index] if tensor is not None else "" for tensor in inputs),
        outputs=tuple(names[number] for number in op.outputs),
        attributes=options,
        index=op.index,
    )


def _require_constant_shape(
    model: FileModel, op: FileOperator, inputs: list[FileTensor | None]
) -> None:
    """Refuse a shape that is computed; a constant one is stated by the output as well."""
    for tensor in inputs[1:]:
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
    )


def _check_operators(graph: Graph) -> None:
    faults: list[Fault] = []
    for op in graph.operators:
        try:
            kind_of(op).check(op, graph)
        except ModelError as error:
            faults += error.faults
    if faults:
        raise ModelError.all(faults)


def _check_interface(graph: Graph) -> None:
    """Refuse a port of a type that no buffer has; of those that operators touch, they judged."""
    faults = [
        Fault(
            code="E055",
            message=f"the model's {side}, tensor {tensor.index} ('{tensor.name}'): has type "
            f"{tensor.dtype}, which is not supported",
            remedy=f"remove it from the model, or give it one of the types {', '.join(TYPES)}",
        )
        for side, names in (("input", graph.inputs), ("output", graph.outputs))
        for tensor in map(graph.tensor, names)
        if tensor.dtype not in TYPES
    ]
    if faults:
        raise ModelError.all(faults)
