# SPDX-License-Identifier: Apache-2.0
"""ONNX files against onnxruntime: every quantised value, made of the same operands.

The file is cut behind each quantised result: who reads it is given Atoll's bytes. So a step of one
layer stays one step, and the value that is further apart is named.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import ModelProto, TensorProto, helper, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as refusals

from atoll.diagnostics.errors import UsageError
from atoll.frontend.onnx.imported import Imported, import_file, in_order_of_file
from atoll.frontend.onnx.model import Array
from atoll.ops import reference
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.steps import Comparison, as_integers, from_integers

LIMIT = 1
"""Steps: docs/onnx.md promises no more of an operator."""

_GIVEN = "_given_by_atoll"
_MULTIPLIED = frozenset({"QGemm", "QLinearConv", "QLinearMatMul"})
_REFUSALS = (
    *(refusals.Fail, refusals.InvalidArgument, refusals.InvalidGraph, refusals.InvalidProtobuf),
    *(refusals.NotImplemented, refusals.RuntimeException),
)
_NUMPY = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32}


def against_onnxruntime(model: Path, samples: Sequence[Sequence[Array]]) -> OracleVerdict:
    """Compute each quantised value of a file once more, from the operands that Atoll has.

    Raises:
        UsageError: E181, onnxruntime does not run the file.
    """
    own, whole = import_file(model), onnx.load(str(model))
    made = {name for node in whole.graph.node for name in node.output}
    names = [name for name in own.integers if name in made]
    outputs = [each.name for each in whole.graph.output]
    session = _session(model, _cut(whole, own, names))
    inputs = [each.name for each in session.get_inputs() if not each.name.endswith(_GIVEN)]
    types = {each.name: _dtype(each.type) for each in session.get_inputs()}
    comparison = Comparison(LIMIT)
    for sample in samples:
        given = dict(zip(own.graph.inputs, sample, strict=True))
        values = reference.run(own.graph, given)
        ours = {name: _of_file(own, name, values) for name in names}
        feeds = {f"{name}{_GIVEN}": value for name, value in ours.items()}
        for name, tensor in zip(inputs, map(own.graph.tensor, own.graph.inputs), strict=True):
            feeds[name] = from_integers(values[tensor.name], tensor, types[name])
        found = dict(zip(_all(names, outputs), session.run(None, feeds), strict=True))
        for name in names:
            comparison.compare(name, ours[name], found[name])
        for name, tensor in zip(outputs, map(own.graph.tensor, own.graph.outputs), strict=True):
            comparison.compare(name, values[tensor.name], as_integers(found[name], tensor))
    return comparison.verdict(f"onnxruntime {onnxruntime.__version__}")


def _of_file(own: Imported, name: str, values: Mapping[str, Array]) -> Array:
    stored = own.integers[name]
    array = in_order_of_file(stored, np.asarray(values[stored.tensor]))
    return from_integers(array, own.graph.tensor(stored.tensor), _NUMPY[own.types[name]])


def _all(names: Iterable[str], outputs: Iterable[str]) -> list[str]:
    return [*dict.fromkeys((*outputs, *names))]


def _cut(model: ModelProto, own: Imported, names: Sequence[str]) -> ModelProto:
    """Hand each value out, and give its readers another one, an input."""
    cut = {name: f"{name}{_GIVEN}" for name in names}
    for node in model.graph.node:
        for at, name in enumerate(node.input):
            node.input[at] = cut.get(name, name)
    outputs = {each.name for each in model.graph.output}
    for name, given in cut.items():
        kind = TensorProto.DataType.Value(own.types[name].upper())
        info = helper.make_tensor_value_info(given, kind, own.integers[name].shape)
        model.graph.input.append(info)
        if name not in outputs:
            model.graph.output.append(helper.make_tensor_value_info(name, kind, None))
    return with_unsigned_weights(model)


def _session(path: Path, model: ModelProto) -> onnxruntime.InferenceSession:
    try:
        return literal_session(bytes(model.SerializeToString()))
    except _REFUSALS as fault:
        cause = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
        message = f"--oracle: onnxruntime does not run {path}: {cause}"
        remedy = "install a newer onnxruntime, or leave --oracle out"
        raise UsageError("E181", message, remedy=remedy) from fault


def literal_session(model: bytes) -> onnxruntime.InferenceSession:
    """Return a session that fuses and leaves out nothing."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def with_unsigned_weights(model: ModelProto) -> ModelProto:
    """Make weights of uint8 activations uint8 as well, which means the same.

    x86 without VNNI adds products of uint8 and int8 in pairs that saturate at 16 bits
    (onnxruntime's documentation, "Quantize ONNX Models").
    """
    constants = {each.name: each for each in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type not in _MULTIPLIED:
            continue
        zero, weights, origin = (constants.get(node.input[at]) for at in (2, 3, 5))
        if not (zero and weights and origin and zero.data_type == TensorProto.UINT8):
            continue
        for at, tensor in ((3, weights), (5, origin)):
            if tensor.data_type == TensorProto.INT8:
                values = numpy_helper.to_array(tensor).astype(np.int16) + 128
                name = f"{tensor.name}_unsigned"
                if name not in constants:
                    made = numpy_helper.from_array(values.astype(np.uint8), name)
                    model.graph.initializer.append(made)
                    constants[name] = made
                node.input[at] = name
    return model


def _dtype(text: str) -> str:
    """Return NumPy's name of what onnxruntime calls ``tensor(float)``."""
    name = text.removeprefix("tensor(").removesuffix(")")
    return {"float": "float32", "double": "float64"}.get(name, name)
