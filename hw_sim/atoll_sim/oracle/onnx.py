# SPDX-License-Identifier: Apache-2.0
"""ONNX files against onnxruntime: every quantised value, made of the same operands.

The file is cut behind each quantised result: who reads it is given Atoll's bytes. So a step of one
layer stays one step, and the value that is further apart is named.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

from atoll.diagnostics.errors import UsageError
from atoll.frontend.onnx.imported import Imported, import_file, in_order_of_file
from atoll.frontend.onnx.model import Array
from atoll.ops import reference
from atoll.report.oracle import OracleVerdict
from atoll_sim.oracle.apart import NoAnswerError, ask
from atoll_sim.oracle.steps import Comparison, as_integers, from_integers

LIMIT = 1
"""Steps: docs/onnx.md promises no more of an operator."""
AT_ONCE = 256
"""Samples that one process of onnxruntime is given: all values of them are in memory."""

_GIVEN = "_given_by_atoll"
_MULTIPLIED = frozenset({"QGemm", "QLinearConv", "QLinearMatMul"})
_NUMPY = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16, "int32": np.int32}


def _apart(model: bytes, feeds: Sequence[Mapping[str, Array]]) -> tuple[str, list[list[Array]]]:
    version, answers = ask("atoll_sim.oracle.onnx_runs:outputs", model, feeds)
    return version, answers


def against_onnxruntime(
    model: Path,
    samples: Sequence[Sequence[Array]],
    run: Callable[[bytes, Sequence[Mapping[str, Array]]], tuple[str, list[list[Array]]]] = _apart,
) -> OracleVerdict:
    """Compute each quantised value of a file once more, from the operands that Atoll has.

    Args:
        model: an ONNX file.
        samples: integers of each input of the imported graph.
        run: as `onnx_runs.outputs`; usually that, in a process of its own.

    Raises:
        UsageError: E181, onnxruntime does not run the file.
    """
    own, whole = import_file(model), onnx.load(str(model))
    made = {name for node in whole.graph.node for name in node.output}
    names = [name for name in own.integers if name in made]
    outputs = [each.name for each in whole.graph.output]
    constants = {each.name for each in whole.graph.initializer}
    edges = [each for each in whole.graph.input if each.name not in constants]
    inputs = tuple(zip(edges, map(own.graph.tensor, own.graph.inputs), strict=True))
    data = bytes(_cut(whole, own, names).SerializeToString())
    comparison, version = Comparison(LIMIT), ""
    for begin in range(0, max(1, len(samples)), AT_ONCE):
        feeds: list[Mapping[str, Array]] = []
        runs: list[tuple[dict[str, Array], list[Array]]] = []
        for sample in samples[begin : begin + AT_ONCE]:
            values = reference.run(own.graph, dict(zip(own.graph.inputs, sample, strict=True)))
            ours = {name: _of_file(own, name, values) for name in names}
            given = {f"{name}{_GIVEN}": value for name, value in ours.items()}
            for edge, tensor in inputs:
                given[edge.name] = from_integers(values[tensor.name], tensor, _dtype(edge))
            feeds.append(given)
            runs.append((ours, [np.asarray(values[name]) for name in own.graph.outputs]))
        try:
            version, answers = run(data, feeds)
        except NoAnswerError as fault:
            raise _refusal(model, str(fault)) from fault
        for (ours, last), answer in zip(runs, answers, strict=True):
            found = dict(zip(_all(names, outputs), answer, strict=True))
            for name in names:
                comparison.compare(name, ours[name], found[name])
            ends = zip(outputs, last, map(own.graph.tensor, own.graph.outputs), strict=True)
            for name, value, tensor in ends:
                comparison.compare(name, value, as_integers(found[name], tensor))
    return comparison.verdict(f"onnxruntime {version}")


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


def _refusal(model: Path, cause: str) -> UsageError:
    message = f"--oracle: onnxruntime does not run {model}: {cause}"
    remedy = "install a newer onnxruntime, or leave --oracle out"
    return UsageError("E181", message, remedy=remedy)


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


def _dtype(edge: ValueInfoProto) -> np.dtype[Any]:
    """Return what an input of the file has."""
    return np.dtype(helper.tensor_dtype_to_np_dtype(edge.type.tensor_type.elem_type))
