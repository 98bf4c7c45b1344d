# SPDX-License-Identifier: Apache-2.0
"""Settle an ONNX file: judge it as a whole, make all shapes known, and fold what is constant.

Checker and shape inference of the package `onnx` are C++ that wrong files can end, or keep busy.
So `worker` runs this in a process of its own.
"""

from collections.abc import Iterator

from google.protobuf.message import DecodeError
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper, shape_inference

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.onnx.folding import fold
from atoll.frontend.onnx.model import Array, short
from atoll.frontend.onnx.protos import AGAIN, arrays_of, values_of
from atoll.frontend.onnx.qoperators import MICROSOFT, Rewriter, name_of

OLDEST, NEWEST = 13, 25
MOST_NODES = 20_000
MOST_ROUNDS = 8
"""Each round makes more shapes known; exporters need two or three."""

_ELSEWHERE = "elsewhere"


def settle_file(data: bytes) -> bytes:
    """Return a file as one whose shapes are known, with all quantisation in nodes of its own.

    The text of documentation of a node says its number in the file given, and its operator there.

    Raises:
        ModelError: E051, the file is damaged; E052, it contradicts itself; E055, it has something
            that no model may have.
    """
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as fault:
        message = "is not an ONNX file, or is damaged or cut off: it cannot be decoded"
        raise ModelError("E051", message, remedy="export or download it again") from fault
    for each in model.opset_import:
        each.domain = "" if each.domain == "ai.onnx" else each.domain
    if faults := tuple(_features(model)):
        raise ModelError.all(faults)
    try:
        checker.check_model(_checkable(model))
    except (checker.ValidationError, ValueError, RuntimeError, TypeError) as fault:
        raise _contradiction(fault) from fault
    _fix_inputs(model)
    _rewrite(model)
    return bytes(_complete(model).SerializeToString())


def _features(model: ModelProto) -> Iterator[Fault]:
    """Yield what of a file no model may have."""
    graph = model.graph
    versions = {each.domain: each.version for each in model.opset_import}
    version = versions.get("")
    if not graph.node:
        yield _unsupported_fault("has no nodes", "give the file of a network")
    if version is None or not OLDEST <= version <= NEWEST:
        found = "names no opset" if version is None else f"has opset {version}"
        remedy = f"export it with opset {NEWEST}, or use onnx.version_converter"
        yield _unsupported_fault(f"{found}; opsets {OLDEST} to {NEWEST} are supported", remedy)
    if model.functions:
        name = short(model.functions[0].name)
        remedy = "inline them with onnx.inliner.inline_local_functions"
        yield _unsupported_fault(f"has functions of its own, such as '{name}'", remedy)
    if len(graph.node) > MOST_NODES:
        message = f"has {len(graph.node)} nodes, the most is {MOST_NODES}"
        yield _unsupported_fault(message, "give a smaller model, for a microcontroller")
    if graph.sparse_initializer:
        yield _unsupported_fault("has sparse constants", "export the model with dense ones")
    for tensor in graph.initializer:
        if tensor.external_data or tensor.data_location == TensorProto.EXTERNAL:
            message = f"constant '{short(tensor.name)}' lies in another file"
            remedy = "save the model as one file: onnx.save without save_as_external_data"
            yield _unsupported_fault(message, remedy)
            return


def _checkable(model: ModelProto) -> ModelProto:
    """Return a copy that states what the checker asks for and nobody needs.

    It asks for shapes of outputs, which are inferred, and does not know Microsoft's operators.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        if node.domain == MICROSOFT:
            node.domain = _ELSEWHERE
    for output in copy.graph.output:
        output.type.tensor_type.shape.SetInParent()
    if all(each.domain != _ELSEWHERE for each in copy.opset_import):
        copy.opset_import.append(helper.make_opsetid(_ELSEWHERE, 1))
    return copy


def _fix_inputs(model: ModelProto) -> None:
    """Make the batch 1 where it is left open, and forget what the file says of results.

    Raises:
        ModelError: E055; other extents are left open.
    """
    graph, faults = model.graph, list[Fault]()
    known = {tensor.name for tensor in graph.initializer}
    given = [each for each in graph.input if each.name not in known]
    del graph.input[:]
    graph.input.extend(given)
    for each in graph.input:
        dimensions = each.type.tensor_type.shape.dim
        for at, dimension in enumerate(dimensions):
            if not dimension.HasField("dim_value") and at == 0:
                dimension.dim_value = 1
            elif dimension.dim_value < 1:
                what = short(dimension.dim_param) or str(dimension.dim_value)
                message = f"the model's input '{short(each.name)}': extent {at} is '{what}'"
                remedy = "fix it: onnx.tools.update_model_dims, or export with fixed shapes"
                faults.append(_unsupported_fault(f"{message}, which is not known", remedy))
        if not each.type.tensor_type.HasField("shape"):
            message = f"the model's input '{short(each.name)}' has no shape"
            faults.append(_unsupported_fault(message, "export the model with fixed shapes"))
    if faults:
        raise ModelError.all(faults)
    del graph.value_info[:]
    for each in graph.output:
        each.type.tensor_type.ClearField("shape")


def _rewrite(model: ModelProto) -> None:
    """Bring QOperator nodes to the QDQ form, and note which node of the file each comes from."""
    graph = model.graph
    names = {name for node in graph.node for name in (*node.input, *node.output)}
    rewriter, made = Rewriter(names), list[NodeProto]()
    for index, node in enumerate(graph.node):
        for each in rewriter.rewrite(node):
            each.doc_string = f"{index} {name_of(node)}"
            made.append(each)
    copies = [NodeProto.FromString(each.SerializeToString()) for each in made]
    del graph.node[:]
    graph.node.extend(copies)


def _complete(model: ModelProto) -> ModelProto:
    """Infer shapes and fold constants until neither makes more known."""
    graph = model.graph
    constants = arrays_of(graph.initializer)
    (version,) = {each.version for each in model.opset_import if not each.domain}
    for _ in range(MOST_ROUNDS):
        model = _infer_shapes(model)
        graph = model.graph
        found = fold(graph.node, values_of(graph), constants, version)
        if not found:
            break
        constants |= found
        _replace(model, constants, found)
    return model


def _replace(model: ModelProto, constants: dict[str, Array], found: dict[str, Array]) -> None:
    """Leave out nodes whose results are constants, and put these in their place."""
    graph = model.graph
    kept = [
        NodeProto.FromString(node.SerializeToString())
        for node in graph.node
        if not all(name in constants for name in filter(None, node.output))
    ]
    del graph.node[:]
    graph.node.extend(kept)
    for name, array in found.items():
        graph.initializer.append(numpy_helper.from_array(array, name))


def _infer_shapes(model: ModelProto) -> ModelProto:
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except (shape_inference.InferenceError, ValueError, RuntimeError, DecodeError) as fault:
        raise _contradiction(fault) from fault


def _contradiction(fault: Exception) -> ModelError:
    cause = next(iter(str(fault).strip().splitlines()), type(fault).__name__)
    return ModelError("E052", f"contradicts itself: {cause}", remedy=AGAIN)


def _unsupported_fault(message: str, remedy: str) -> Fault:
    return Fault(code="E055", message=message, remedy=remedy)
