# SPDX-License-Identifier: Apache-2.0
"""What TFLM and onnxruntime make of a file, whole and operator by operator."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper
from tests.onnx_builder import loaded, run_onnxruntime, signed
from tflite.BuiltinOperator import BuiltinOperator
from tflite.Model import Model

from atoll.ops import reference
from benchmarks.trained.samples import Array

ARENA_BYTES = 1 << 23
TILE, BROADCAST_TO = BuiltinOperator.TILE, BuiltinOperator.BROADCAST_TO


def run_tflm(path: Path, samples: Array) -> list[Array] | None:
    """Return the first output of each sample; None if TFLM has no kernel of some operator.

    Args:
        path: of a TFLite file.
        samples: as the file takes them, [N, 1, ...].
    """
    from tflite_micro import runtime

    data = without_tiles(path.read_bytes())
    try:
        interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA_BYTES)
    except RuntimeError:
        return None
    made = []
    for sample in samples:
        interpreter.reset()  # states of an LSTM
        interpreter.set_input(sample, 0)
        interpreter.invoke()
        made.append(np.array(interpreter.get_output(0)))
    return made


def without_tiles(data: bytes) -> bytes:
    """Return a file with BROADCAST_TO, which TFLM has, for TILE where that repeats extents of 1.

    The bytes are changed where they are: the code, and the multiples, which become the shape.
    """
    file = bytearray(data)
    model = Model.GetRootAs(file)
    graph = model.Subgraphs(0)
    for number in range(graph.OperatorsLength()):
        op = graph.Operators(number)
        code = model.OperatorCodes(op.OpcodeIndex())
        if code.BuiltinCode() not in (TILE, BROADCAST_TO):
            continue
        x, times, made = (graph.Tensors(at) for at in (*op.InputsAsNumpy(), *op.OutputsAsNumpy()))
        pairs = zip(x.ShapeAsNumpy(), made.ShapeAsNumpy(), strict=True)
        if all(extent in (1, other) for extent, other in pairs):
            table = code._tab
            file[table.Pos + table.Offset(4)] = min(BROADCAST_TO, 127)
            place = table.Pos + table.Offset(10)
            file[place : place + 4] = BROADCAST_TO.to_bytes(4, "little")
            shape = model.Buffers(times.Buffer()).DataAsNumpy().view(np.int32)
            shape[:] = made.ShapeAsNumpy()
    return bytes(file)


def run_onnx(path: Path, samples: Array) -> Iterator[Array]:
    """Yield the first output of each sample of real numbers, float32 [N, ...]."""
    model, name = path.read_bytes(), _inputs(onnx.load(path))[0].name
    for sample in samples:
        yield run_onnxruntime(model, {name: sample[None]})[0]


@dataclass(frozen=True)
class Steps:
    """How far operators are from onnxruntime, given the same operands.

    Attributes:
        operators: how many were compared.
        most: the greatest difference, in steps of a result's grid.
        worst: the node with it.
        share: of all elements, those that differ.
    """

    operators: int
    most: int
    worst: str
    share: float


def operator_steps(path: Path, samples: Array) -> Steps:
    """Compare every operator of a QDQ file alone, on what onnxruntime hands to it."""
    model = onnx.shape_inference.infer_shapes(onnx.load(path))
    pieces = [*_pieces(model)]
    kept = dict.fromkeys(name for each in pieces for name in (*each.operands, each.result))
    outputs = [onnx.ValueInfoProto(name=name) for name in kept]
    model.graph.output.extend(outputs)
    whole = model.SerializeToString()
    found: dict[str, tuple[int, int, int]] = {}
    for sample in samples:
        made = run_onnxruntime(whole, {_inputs(model)[0].name: sample[None]})
        values = dict(zip(kept, made[-len(kept) :], strict=True))
        for piece in pieces:
            far = piece.distance(values)
            most, differ, count = found.get(piece.name, (0, 0, 0))
            differ, count = differ + int(np.count_nonzero(far)), count + far.size
            found[piece.name] = max(most, int(far.max())), differ, count
    worst = max(found, key=lambda name: found[name][0])
    differ, count = (sum(each[at] for each in found.values()) for at in (1, 2))
    return Steps(len(pieces), found[worst][0], worst, differ / count)


class _Piece:
    """The nodes between some quantised values and the next one, as a network of their own."""

    def __init__(self, model: onnx.ModelProto, nodes: Sequence[onnx.NodeProto], name: str) -> None:
        made = {result for node in nodes for result in node.output}
        read = dict.fromkeys(name for node in nodes for name in node.input if name)
        constants = [each for each in model.graph.initializer if each.name in read]
        outside = {*made, *(each.name for each in constants)}
        self.name = name
        self.operands = [each for each in read if each not in outside]
        self.result = nodes[-1].output[0]
        types = {each.name: each for each in (*model.graph.value_info, *_inputs(model))}
        given = [types[each] for each in self.operands]
        graph = helper.make_graph(nodes, "piece", given, [types[self.result]], constants)
        data = helper.make_model(
            graph, opset_imports=model.opset_import, ir_version=model.ir_version
        ).SerializeToString()
        self._graph = loaded(data)

    def distance(self, values: Mapping[str, Array]) -> Array:
        """Return by how many steps each element of the result differs, int64."""
        operands = [signed(values[name]) for name in self.operands]
        given = dict(zip(self._graph.inputs, operands, strict=True))
        ours = reference.run(self._graph, given)[self._graph.outputs[0]]
        return np.abs(ours.astype(np.int64) - signed(values[self.result]).astype(np.int64))


def _pieces(model: onnx.ModelProto) -> Iterator[_Piece]:
    """Yield a piece for each value that is quantised and made of quantised ones."""
    makers = {name: node for node in model.graph.node for name in node.output}
    order = {node.output[0]: number for number, node in enumerate(model.graph.node)}
    given = {each.name for each in _inputs(model)}

    def stops(name: str) -> bool:
        """Tell whether a value is quantised by the network, or is none that it makes."""
        return name not in makers or makers[name].op_type == "QuantizeLinear"

    for last in model.graph.node:
        if last.op_type != "QuantizeLinear" or stops(last.input[0]):
            continue
        nodes, waiting = {last.output[0]: last}, [*last.input]
        while waiting:
            if not stops(name := waiting.pop()):
                node = makers[name]
                nodes[node.output[0]] = node
                waiting += node.input
        inner = [nodes[each] for each in sorted(nodes, key=order.__getitem__)]
        real = [each for each in inner if "Linear" not in each.op_type]
        if real and not given & {name for each in inner for name in each.input}:
            yield _Piece(model, inner, real[-1].name)


def _inputs(model: onnx.ModelProto) -> list[Any]:
    constants = {each.name for each in model.graph.initializer}
    return [each for each in model.graph.input if each.name not in constants]
