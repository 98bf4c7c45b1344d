# SPDX-License-Identifier: Apache-2.0
"""Read an ONNX file that `settling` has settled into plain records."""

from collections.abc import Mapping
from typing import Any

from onnx import AttributeProto, ModelProto, NodeProto, helper

from atoll.frontend.onnx.model import File, Node
from atoll.frontend.onnx.protos import arrays_of, values_of
from atoll.frontend.onnx.qoperators import name_of


def read(data: bytes) -> File:
    """Read what `settling.settle_file` has returned.

    Raises:
        ModelError: E052; the values of a constant do not fit its shape or type.
    """
    graph = ModelProto.FromString(data).graph
    nodes = tuple(map(_node, graph.node))
    return File(
        nodes=nodes,
        values=values_of(graph),
        constants=arrays_of(graph.initializer),
        inputs=tuple(each.name for each in graph.input),
        outputs=tuple(each.name for each in graph.output),
        total=max((node.index for node in nodes), default=0) + 1,
    )


def _node(node: NodeProto) -> Node:
    number, _, written = node.doc_string.partition(" ")
    return Node(
        index=int(number),
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
