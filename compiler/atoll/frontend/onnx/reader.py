"""Read an ONNX file: judge it as a whole, make all shapes known, and fold what is constant.

This and its neighbours `folding` and `qoperators` are the only modules that import `onnx`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from onnx import (
    AttributeProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    helper,
    numpy_helper,
    shape_inference,
)

from atoll.errors import Fault, ModelError
from atoll.frontend.onnx.folding import folded
from atoll.frontend.onnx.model import Array, File, Node, Value, short
from atoll.frontend.onnx.qoperators import MICROSOFT, Rewriter, name_of

OLDEST, NEWEST = 13, 23
MOST_NODES = 20_000
MOST_ROUNDS = 8
"""Each round makes more shapes known; exporters need two or three."""

_AGAIN = "export the model again; the file contradicts itself"


def read(data: bytes) -> File:
    """Read the bytes of a file.

    Raises:
        ModelError: E051, the file is damaged; E052, it contradicts itself; E055, it has something
            that no model may have.
    """
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError as fault:
        message = "is no ONNX file, or is damaged or cut off: it cannot be decoded"
        raise ModelError("E051", message, remedy="export or download it again") from fault
    if faults := tuple(_features(model)):
        raise ModelError.all(faults)
    try:
        checker.check_model(_checkable(model))
    except (checker.ValidationError, ValueError, RuntimeError) as fault:
        cause = str(fault).splitlines()[0]
        message = f"contradicts itself: {cause}"
        raise ModelError("E052", message, remedy=_AGAIN) from fault
    _fix_inputs(model)
    origins = _rewrite(model)
    constants = _constants(model)
    model, constants, origins = _settled(model, constants, origins)
    return _file(model, constants, origins)


def _features(model: ModelProto) -> Iterator[Fault]:
    """Yield what of a file no model may have."""
    graph = model.graph
    versions = {each.domain: each.version for each in model.opset_import}
    version = versions.get("", versions.get("ai.onnx"))
    if not graph.node:
        yield _unsupported("has no nodes", "give the file of a network")
    if version is None or not OLDEST <= version <= NEWEST:
        found = "names no opset" if version is None else f"has opset {version}"
        remedy = f"export it with opset {NEWEST}, or use onnx.version_converter"
        yield _unsupported(f"{found}; opsets {OLDEST} to {NEWEST} are supported", remedy)
    if model.functions:
        name = short(model.functions[0].name)
        remedy = "inline them with onnx.inliner.inline_local_functions"
        yield _unsupported(f"has functions of its own, such as '{name}'", remedy)
    if len(graph.node) > MOST_NODES:
        message = f"has {len(graph.node)} nodes, the most is {MOST_NODES}"
        yield _unsupported(message, "give a smaller model, for a microcontroller")
    if graph.sparse_initializer:
        yield _unsupported("has sparse constants", "export the model with dense ones")
    for tensor in graph.initializer:
        if tensor.external_data or tensor.data_location == TensorProto.EXTERNAL:
            message = f"constant '{short(tensor.name)}' lies in another file"
            remedy = "save the model as one file: onnx.save without save_as_external_data"
            yield _unsupported(message, remedy)
            return


def _checkable(model: ModelProto) -> ModelProto:
    """Return a copy that states what the checker asks for and nobody needs.

    It asks for shapes of outputs, which are inferred, and does not know Microsoft's operators.
    """
    copy = ModelProto()
    copy.CopyFrom(model)
    for node in copy.graph.node:
        if node.domain == MICROSOFT:
            node.domain = "elsewhere"
    for output in copy.graph.output:
        output.type.tensor_type.shape.SetInParent()
    if all(each.domain != "elsewhere" for each in copy.opset_import):
        copy.opset_import.append(helper.make_opsetid("elsewhere", 1))
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
                faults.append(_unsupported(f"{message}, which is not known", remedy))
        if not each.type.tensor_type.HasField("shape"):
            message = f"the model's input '{short(each.name)}' has no shape"
            faults.append(_unsupported(message, "export the model with fixed shapes"))
    if faults:
        raise ModelError.all(faults)
    del graph.value_info[:]
    for each in graph.output:
        each.type.tensor_type.ClearField("shape")


def _rewrite(model: ModelProto) -> list[tuple[int, str]]:
    """Bring QOperator nodes to the QDQ form; return which node of the file each comes from."""
    graph = model.graph
    names = {name for node in graph.node for name in (*node.input, *node.output)}
    rewriter = Rewriter(names)
    made = [
        (each, (index, name_of(node)))
        for index, node in enumerate(graph.node)
        for each in rewriter.rewritten(node)
    ]
    del graph.node[:]
    graph.node.extend(each for each, _ in made)
    return [origin for _, origin in made]


def _constants(model: ModelProto) -> dict[str, Array]:
    """Return the constants of the file.

    Raises:
        ModelError: E052; the values of one do not fit its shape or type.
    """
    found: dict[str, Array] = {}
    for tensor in model.graph.initializer:
        found[tensor.name] = array_of(tensor, f"constant '{short(tensor.name)}'")
    return found


def array_of(tensor: TensorProto, what: str) -> Array:
    """Return a tensor's values; those of 4 bits take a byte each.

    Raises:
        ModelError: E052.
    """
    try:
        array = np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError, OverflowError) as fault:
        message = f"{what}: its values do not fit its shape or type"
        raise ModelError("E052", message, remedy=_AGAIN) from fault
    if array.dtype.kind == "V" or array.dtype.name in ("int4", "uint4", "int2", "uint2"):
        narrow = {"int4": "int8", "uint4": "uint8"}.get(array.dtype.name)
        return array.astype(narrow) if narrow else array
    return array


def _settled(
    model: ModelProto, constants: dict[str, Array], origins: list[tuple[int, str]]
) -> tuple[ModelProto, dict[str, Array], list[tuple[int, str]]]:
    """Infer shapes and fold constants until neither makes more known."""
    for _ in range(MOST_ROUNDS):
        model = _inferred(model)
        values = _values(model)
        version = max(each.version for each in model.opset_import if not each.domain)
        found = folded(model.graph.node, values, constants, version)
        if not found:
            break
        constants |= found
        kept = [
            (node, origin)
            for node, origin in zip(model.graph.node, origins, strict=True)
            if not all(name in constants for name in filter(None, node.output))
        ]
        nodes, origins = [node for node, _ in kept], [origin for _, origin in kept]
        del model.graph.node[:]
        model.graph.node.extend(nodes)
        for name, array in found.items():
            model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model, constants, origins


def _inferred(model: ModelProto) -> ModelProto:
    try:
        return shape_inference.infer_shapes(model, data_prop=True)
    except (shape_inference.InferenceError, ValueError, RuntimeError, DecodeError) as fault:
        cause = str(fault).splitlines()[0]
        message = f"contradicts itself: shapes cannot be inferred: {cause}"
        raise ModelError("E052", message, remedy=_AGAIN) from fault


def _values(model: ModelProto) -> dict[str, Value]:
    graph = model.graph
    infos = (*graph.input, *graph.output, *graph.value_info)
    found = ((each.name, _value(each)) for each in infos)
    return {name: value for name, value in found if value is not None}


def _value(info: ValueInfoProto) -> Value | None:
    """Return type and shape, None unless both are known."""
    tensor = info.type.tensor_type
    extents = [each.dim_value if each.HasField("dim_value") else -1 for each in tensor.shape.dim]
    if not tensor.HasField("shape") or any(extent < 0 for extent in extents):
        return None
    name = TensorProto.DataType.Name(tensor.elem_type).lower()
    return Value(dtype=name, shape=tuple(extents))


def _file(model: ModelProto, constants: dict[str, Array], origins: list[tuple[int, str]]) -> File:
    graph = model.graph
    nodes = zip(graph.node, origins, strict=True)
    return File(
        nodes=tuple(_node(node, *origin) for node, origin in nodes),
        values=_values(model),
        constants=constants,
        inputs=tuple(each.name for each in graph.input),
        outputs=tuple(each.name for each in graph.output),
        total=max((index for index, _ in origins), default=0) + 1,
    )


def _node(node: NodeProto, index: int, written: str) -> Node:
    return Node(
        index=index,
        op=name_of(node),
        written=written,
        name=node.name,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes=_attributes(node),
    )


def _attributes(node: NodeProto) -> Mapping[str, Any]:
    """Return attributes that are numbers, texts, or lists of them; others as None."""
    found: dict[str, Any] = {}
    for each in node.attribute:
        if each.type in (AttributeProto.INT, AttributeProto.FLOAT):
            found[each.name] = helper.get_attribute_value(each)
        elif each.type in (AttributeProto.INTS, AttributeProto.FLOATS):
            found[each.name] = tuple(helper.get_attribute_value(each))
        elif each.type == AttributeProto.STRING:
            found[each.name] = each.s.decode(errors="replace")
        else:
            found[each.name] = None
    return found


def _unsupported(message: str, remedy: str) -> Fault:
    return Fault(code="E055", message=message, remedy=remedy)
