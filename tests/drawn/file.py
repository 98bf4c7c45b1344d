# SPDX-License-Identifier: Apache-2.0
"""Write a drawn network as a TFLite file, with nothing but FlatBuffers and the schema's tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite
from numpy.typing import NDArray
from tflite.BuiltinOperator import BuiltinOperator
from tflite.BuiltinOptions import BuiltinOptions
from tflite.TensorType import TensorType

TYPES = {
    "int8": TensorType.INT8,
    "int16": TensorType.INT16,
    "int32": TensorType.INT32,
    "int64": TensorType.INT64,
    "bool": TensorType.BOOL,
}
_LARGEST_OLD_CODE = 127


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A tensor: a constant if it has `data`. `axis` is that of several scales."""

    shape: tuple[int, ...]
    dtype: str
    scales: tuple[float, ...] = ()
    zero_points: tuple[int, ...] = ()
    axis: int = 0
    data: NDArray[Any] | None = None

    @property
    def scale(self) -> float:
        """The only scale."""
        (scale,) = self.scales
        return scale

    @property
    def zero(self) -> int:
        """The only zero point."""
        (zero,) = self.zero_points
        return zero


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An operator; -1 stands for an operand that is left out."""

    code: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str = ""
    options: Mapping[str, int | float | bool | tuple[int, ...]] = field(default_factory=dict)


def network_bytes(
    values: Sequence[Value], nodes: Sequence[Node], inputs: Sequence[int], outputs: Sequence[int]
) -> bytes:
    """Return the file of a network with one subgraph."""
    builder = flatbuffers.Builder(1024)
    constants = [index for index, value in enumerate(values) if value.data is not None]
    buffers = [_buffer(builder, None)] + [_buffer(builder, values[i].data) for i in constants]
    places = {index: place for place, index in enumerate(constants, start=1)}
    codes = sorted({node.code for node in nodes})
    tensors = [_tensor(builder, v, i, places.get(i, 0)) for i, v in enumerate(values)]
    operators = [_operator(builder, node, codes.index(node.code)) for node in nodes]
    lists = [_numbers(builder, numbers) for numbers in (inputs, outputs)]
    name = builder.CreateString("main")
    vectors = [_offsets(builder, offsets) for offsets in (tensors, operators)]
    tflite.SubGraphStart(builder)
    tflite.SubGraphAddTensors(builder, vectors[0])
    tflite.SubGraphAddInputs(builder, lists[0])
    tflite.SubGraphAddOutputs(builder, lists[1])
    tflite.SubGraphAddOperators(builder, vectors[1])
    tflite.SubGraphAddName(builder, name)
    graphs = _offsets(builder, [tflite.SubGraphEnd(builder)])
    kinds = _offsets(builder, [_code(builder, code) for code in codes])
    stored = _offsets(builder, buffers)
    tflite.ModelStart(builder)
    tflite.ModelAddVersion(builder, 3)
    tflite.ModelAddOperatorCodes(builder, kinds)
    tflite.ModelAddSubgraphs(builder, graphs)
    tflite.ModelAddBuffers(builder, stored)
    builder.Finish(tflite.ModelEnd(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def _numbers(builder: flatbuffers.Builder, numbers: Sequence[int]) -> int:
    return int(builder.CreateNumpyVector(np.asarray(numbers, np.int32)))


def _offsets(builder: flatbuffers.Builder, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _buffer(builder: flatbuffers.Builder, data: NDArray[Any] | None) -> int:
    stored = None
    if data is not None and data.size:
        builder.StartVector(1, data.nbytes, 16)
        builder.head -= data.nbytes
        builder.Bytes[builder.Head() : builder.Head() + data.nbytes] = data.tobytes()
        stored = builder.EndVector()
    tflite.BufferStart(builder)
    if stored is not None:
        tflite.BufferAddData(builder, stored)
    return int(tflite.BufferEnd(builder))


def _code(builder: flatbuffers.Builder, name: str) -> int:
    code = getattr(BuiltinOperator, name)
    tflite.OperatorCodeStart(builder)
    tflite.OperatorCodeAddDeprecatedBuiltinCode(builder, min(code, _LARGEST_OLD_CODE))
    tflite.OperatorCodeAddVersion(builder, 1)
    tflite.OperatorCodeAddBuiltinCode(builder, code)
    return int(tflite.OperatorCodeEnd(builder))


def _tensor(builder: flatbuffers.Builder, value: Value, index: int, buffer: int) -> int:
    name, shape = builder.CreateString(f"t{index}"), _numbers(builder, value.shape)
    grid = None
    if value.scales:
        scales = builder.CreateNumpyVector(np.asarray(value.scales, np.float32))
        zeros = builder.CreateNumpyVector(np.asarray(value.zero_points, np.int64))
        tflite.QuantizationParametersStart(builder)
        tflite.QuantizationParametersAddScale(builder, scales)
        tflite.QuantizationParametersAddZeroPoint(builder, zeros)
        tflite.QuantizationParametersAddQuantizedDimension(builder, value.axis)
        grid = tflite.QuantizationParametersEnd(builder)
    tflite.TensorStart(builder)
    tflite.TensorAddShape(builder, shape)
    tflite.TensorAddType(builder, TYPES[value.dtype])
    tflite.TensorAddBuffer(builder, buffer)
    tflite.TensorAddName(builder, name)
    if grid is not None:
        tflite.TensorAddQuantization(builder, grid)
    return int(tflite.TensorEnd(builder))


def _operator(builder: flatbuffers.Builder, node: Node, code: int) -> int:
    inputs, outputs = _numbers(builder, node.inputs), _numbers(builder, node.outputs)
    options = _options(builder, node) if node.table else None
    tflite.OperatorStart(builder)
    tflite.OperatorAddOpcodeIndex(builder, code)
    tflite.OperatorAddInputs(builder, inputs)
    tflite.OperatorAddOutputs(builder, outputs)
    if options is not None:
        tflite.OperatorAddBuiltinOptionsType(builder, getattr(BuiltinOptions, node.table))
        tflite.OperatorAddBuiltinOptions(builder, options)
    return int(tflite.OperatorEnd(builder))


def _options(builder: flatbuffers.Builder, node: Node) -> int:
    ready = {
        name: _numbers(builder, number) if isinstance(number, tuple) else number
        for name, number in node.options.items()
    }
    call: Callable[..., Any] = getattr(tflite, f"{node.table}Start")
    call(builder)
    for name, number in ready.items():
        getattr(tflite, f"{node.table}Add{name}")(builder, number)
    return int(getattr(tflite, f"{node.table}End")(builder))
