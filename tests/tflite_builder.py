# SPDX-License-Identifier: Apache-2.0
"""Write small TFLite files, right and wrong ones, with the FlatBuffers builder.

Works on numbers and tables as the schema has them and judges nothing, so that tests can state
any fault. Test modules get it as the fixture `tflite_builder`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import flatbuffers
import numpy as np
from numpy.typing import NDArray
from tflite.BuiltinOperator import BuiltinOperator
from tflite.BuiltinOptions import BuiltinOptions
from tflite.TensorType import TensorType

_NUMBERS = {
    "int32": flatbuffers.Builder.PrependInt32,
    "int64": flatbuffers.Builder.PrependInt64,
    "float32": flatbuffers.Builder.PrependFloat32,
}


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor to write; `data` makes it a constant, `shares` one with another tensor's buffer.

    `signature` is the shape with -1 for extents that may change.
    """

    shape: tuple[int, ...]
    dtype: str = "int8"
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0
    data: NDArray[Any] | None = None
    name: str | None = "tensor"
    signature: tuple[int, ...] = ()
    variable: bool = False
    shares: int | None = None


@dataclass(frozen=True, kw_only=True)
class Operator:
    """An operator to write; `options` are fields of the table `table`, such as {"Axis": 1}."""

    code: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    custom: str = ""
    custom_options: bytes = b""
    intermediates: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model to write; tensor numbers are positions in `tensors`.

    `others` are further subgraphs, of which nothing but the function is written; `signatures` are
    names of subgraphs. `unused` are kinds that no operator has.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    version: int = 3
    subgraphs: int = 1
    buffer_offset: int = 0
    others: tuple["Model", ...] = ()
    signatures: tuple[tuple[str, int], ...] = ()
    unused: tuple[Operator, ...] = ()
    metadata: tuple[tuple[str, bytes], ...] = ()


def write(model: Model) -> bytes:
    """Return the bytes of the file."""
    builder = flatbuffers.Builder(1024)
    buffers = [_buffer(builder, model, None)]
    every = (model, *model.others)
    buffers += [_buffer(builder, model, t.data) for each in every for t in each.tensors]
    described = [(name, np.frombuffer(data, np.uint8)) for name, data in model.metadata]
    entries = [
        _table(builder, "Metadata", {"Name": builder.CreateString(name), "Buffer": at})
        for at, (name, _) in enumerate(described, len(buffers))
    ]
    buffers += [_buffer(builder, model, data) for _, data in described]
    used = (op for each in every for op in each.operators)
    codes = [_code(builder, op) for op in (*used, *model.unused)]
    subgraphs = [_subgraph(builder, model, 0, 0) for _ in range(model.subgraphs)]
    tensors, operators = len(model.tensors), len(model.operators)
    for each in model.others:
        subgraphs.append(_subgraph(builder, each, tensors, operators))
        tensors, operators = tensors + len(each.tensors), operators + len(each.operators)
    parts = {
        "OperatorCodes": _offsets(builder, codes),
        "Subgraphs": _offsets(builder, subgraphs),
        "Buffers": _offsets(builder, buffers),
        "Version": model.version,
    }
    if entries:
        parts["Metadata"] = _offsets(builder, entries)
    if model.signatures:
        parts["SignatureDefs"] = _offsets(
            builder, [_signature(builder, *s) for s in model.signatures]
        )
    builder.Finish(_table(builder, "Model", parts), file_identifier=b"TFL3")
    return bytes(builder.Output())


def _signature(builder: Any, name: str, subgraph: int) -> int:
    parts = {"SignatureKey": builder.CreateString(name), "SubgraphIndex": subgraph}
    return _table(builder, "SignatureDef", parts)


def _table(builder: Any, name: str, parts: dict[str, Any]) -> int:
    module = import_module(f"tflite.{name}")
    getattr(module, f"{name}Start")(builder)
    for part, value in parts.items():
        getattr(module, f"{name}Add{part}")(builder, value)
    return int(getattr(module, f"{name}End")(builder))


def _offsets(builder: Any, items: Sequence[int]) -> int:
    return _vector(builder, items, 4, flatbuffers.Builder.PrependUOffsetTRelative)


def _numbers(builder: Any, items: Sequence[float], dtype: str) -> int:
    return _vector(builder, items, np.dtype(dtype).itemsize, _NUMBERS[dtype])


def _vector(
    builder: Any, items: Sequence[Any], size: int, prepend: Callable[[Any, Any], None]
) -> int:
    builder.StartVector(size, len(items), size)
    for item in reversed(items):
        prepend(builder, item)
    return int(builder.EndVector())


def _buffer(builder: Any, model: Model, data: NDArray[Any] | None) -> int:
    parts: dict[str, Any] = {}
    if data is not None:
        little = np.ascontiguousarray(data).tobytes()
        parts["Data"] = builder.CreateByteVector(little)
        if model.buffer_offset:
            parts["Offset"] = model.buffer_offset
    return _table(builder, "Buffer", parts)


def _code(builder: Any, op: Operator) -> int:
    number = getattr(BuiltinOperator, op.code)
    parts = {"DeprecatedBuiltinCode": min(number, 127), "BuiltinCode": number, "Version": 1}
    if op.custom:
        parts["CustomCode"] = builder.CreateString(op.custom)
    return _table(builder, "OperatorCode", parts)


def _subgraph(builder: Any, model: Model, first_buffer: int, first_code: int) -> int:
    tensors = [
        _tensor(builder, at, tensor) for at, tensor in enumerate(model.tensors, first_buffer)
    ]
    operators = [_operator(builder, at, op) for at, op in enumerate(model.operators, first_code)]
    parts = {
        "Tensors": _offsets(builder, tensors),
        "Inputs": _numbers(builder, model.inputs, "int32"),
        "Outputs": _numbers(builder, model.outputs, "int32"),
        "Operators": _offsets(builder, operators),
    }
    return _table(builder, "SubGraph", parts)


def _tensor(builder: Any, index: int, tensor: Tensor) -> int:
    parts: dict[str, Any] = {
        "Shape": _numbers(builder, tensor.shape, "int32"),
    }
    if tensor.name is not None:
        parts["Name"] = builder.CreateString(tensor.name)
    if tensor.signature:
        parts["ShapeSignature"] = _numbers(builder, tensor.signature, "int32")
    if tensor.scales or tensor.zero_points:
        quantization = {
            "Scale": _numbers(builder, tensor.scales, "float32"),
            "ZeroPoint": _numbers(builder, tensor.zero_points, "int64"),
            "QuantizedDimension": tensor.axis,
        }
        parts["Quantization"] = _table(builder, "QuantizationParameters", quantization)
    parts["Type"] = getattr(TensorType, tensor.dtype.upper())
    parts["Buffer"] = (index if tensor.shares is None else tensor.shares) + 1
    parts["IsVariable"] = tensor.variable
    return _table(builder, "Tensor", parts)


def _operator(builder: Any, index: int, op: Operator) -> int:
    parts: dict[str, Any] = {
        "Inputs": _numbers(builder, op.inputs, "int32"),
        "Outputs": _numbers(builder, op.outputs, "int32"),
    }
    vectors = {
        name: _numbers(builder, value, "int32")
        for name, value in op.options.items()
        if isinstance(value, tuple)
    }
    texts = {n: builder.CreateString(v) for n, v in op.options.items() if isinstance(v, str)}
    if op.table:
        parts["BuiltinOptions"] = _table(builder, op.table, {**op.options, **vectors, **texts})
        parts["BuiltinOptionsType"] = getattr(BuiltinOptions, op.table)
    if op.custom_options:
        parts["CustomOptions"] = builder.CreateByteVector(op.custom_options)
    if op.intermediates:
        parts["Intermediates"] = _numbers(builder, op.intermediates, "int32")
    return _table(builder, "Operator", {**parts, "OpcodeIndex": index})
