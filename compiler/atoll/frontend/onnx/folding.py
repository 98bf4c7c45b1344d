# SPDX-License-Identifier: Apache-2.0
"""Compute nodes on nothing but constants, such as the shapes that exporters compute at run time."""

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from atoll.frontend.onnx.model import Array, Value
from atoll.frontend.onnx.qoperators import name_of

MOST_ELEMENTS = 2**24
"""Of a result; larger ones are left to the network."""

_PURE = frozenset(
    {
        *("Abs", "Add", "Cast", "CastLike", "Ceil", "Clip", "Concat", "ConstantOfShape", "Div"),
        *(
            "Equal",
            "Exp",
            "Expand",
            "Flatten",
            "Floor",
            "Gather",
            "Greater",
            "Less",
            "Log",
            "Max",
            "Min",
        ),
        *("Mod", "Mul", "Neg", "Not", "Pow", "QuantizeLinear", "Range", "Reciprocal"),
        *("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape", "Round", "Slice"),
        *("Split", "Sqrt", "Squeeze", "Sub", "Tile", "Transpose", "Unsqueeze", "Where"),
    }
)
_KEPT = frozenset({"uint8", "int8", "int16", "uint16", "int32", "int64", "float32", "bool"})


def fold(
    nodes: Iterable[NodeProto],
    values: Mapping[str, Value],
    constants: Mapping[str, Array],
    version: int,
) -> dict[str, Array]:
    """Return the results that are known at compile time, by name.

    Args:
        nodes: in order.
        values: the shapes that are known.
        constants: what is known already.
        version: of the operators.
    """
    known, found = dict(constants), dict[str, Array]()
    for node in nodes:
        if all(name in known for name in filter(None, node.output)):
            continue
        results = _compute(node, values, known, version)
        found |= results
        known |= results
    return found


def _compute(
    node: NodeProto, values: Mapping[str, Value], known: Mapping[str, Array], version: int
) -> dict[str, Array]:
    op, names = name_of(node), [name for name in node.input if name]
    if op == "Constant":
        return _constant(node)
    if op in ("Shape", "Size") and names and (names[0] in values or names[0] in known):
        return _extents(node, op, _shape(names[0], values, known))
    if op in ("Identity", "Dropout") and names and names[0] in known:
        return {node.output[0]: known[names[0]]}
    small = all(
        name in values and prod(values[name].shape) <= MOST_ELEMENTS for name in node.output
    )
    if op not in _PURE or not small or not all(name in known for name in names):
        return {}
    return _evaluate(node, {name: known[name] for name in names}, version)


def _shape(name: str, values: Mapping[str, Value], known: Mapping[str, Array]) -> tuple[int, ...]:
    return values[name].shape if name in values else known[name].shape


def _extents(node: NodeProto, op: str, shape: tuple[int, ...]) -> dict[str, Array]:
    limits = {each.name: each.i for each in node.attribute}
    taken = shape[limits.get("start", 0) : limits.get("end", len(shape))]
    return {node.output[0]: np.array(taken if op == "Shape" else prod(shape), np.int64)}


def _constant(node: NodeProto) -> dict[str, Array]:
    for each in node.attribute:
        if each.name == "value" and each.t.data_location != TensorProto.EXTERNAL:
            try:
                return {node.output[0]: np.asarray(numpy_helper.to_array(each.t))}
            except (ValueError, TypeError, KeyError, OverflowError):
                return {}
        if each.name in ("value_float", "value_floats"):
            number = helper.get_attribute_value(each)
            return {node.output[0]: np.array(number, np.float32)}
        if each.name in ("value_int", "value_ints"):
            return {node.output[0]: np.array(helper.get_attribute_value(each), np.int64)}
    return {}


def _evaluate(node: NodeProto, given: Mapping[str, Array], version: int) -> dict[str, Array]:
    """Run a node by the reference of `onnx`; nothing where it refuses."""
    try:
        graph = helper.make_graph([node], "folded", [], [])
        names = list(filter(None, node.output))
        graph.input.extend(helper.make_empty_tensor_value_info(name) for name in given)
        graph.output.extend(helper.make_empty_tensor_value_info(name) for name in names)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
        with np.errstate(all="ignore"):
            made = ReferenceEvaluator(model).run(None, dict(given))
    except Exception:  # noqa: BLE001 - the reference raises whatever numpy does
        return {}
    arrays = [np.asarray(each) for each in made]
    if any(each.dtype.name not in _KEPT or each.size > MOST_ELEMENTS for each in arrays):
        return {}
    return dict(zip(names, arrays, strict=True))
