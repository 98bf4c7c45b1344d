# SPDX-License-Identifier: Apache-2.0
"""PAD becomes the padding of the convolution that reads it."""

from collections.abc import Mapping
from dataclasses import replace

from atoll.ir.graph import Attribute, Graph, Operator
from atoll.ops.window import Window
from atoll.rewrite.edit import Given, reads, with_parts

_CONVOLUTIONS = ("conv_2d", "depthwise_conv_2d")
_SIDES = ("pad_top", "pad_bottom", "pad_left", "pad_right")


def fuse_pads(graph: Graph, given: Given) -> Graph:
    """Let convolutions pad what they read, where nothing else reads the padded image.

    Both fill with the zero point, so that all sums stay the same. Padding as wide as the kernel
    stays, and so does what would keep an accelerator from the convolution.
    """
    count, made = reads(graph), {name: op for op in graph.operators for name in op.outputs}
    fused: dict[str, Operator] = {}
    gone = set[str]()
    for op in graph.operators:
        pad = made.get(op.inputs[0]) if op.kind in _CONVOLUTIONS else None
        if (
            pad is None
            or pad.kind != "pad"
            or pad.kind in given.patterned
            or count[op.inputs[0]] != 1
        ):
            continue
        pads = _pads(op, pad, graph) if given.may_go(pad, graph) else {}
        if not pads:
            continue
        inputs = (pad.inputs[0], *op.inputs[1:])
        whole = replace(op, inputs=inputs, attributes={**op.attributes, **pads})
        if given.runs(op, graph) <= given.runs(whole, graph):
            fused[op.name] = whole
            gone.add(pad.name)
    if not fused:
        return graph
    return with_parts(
        graph, (fused.get(op.name, op) for op in graph.operators if op.name not in gone)
    )


def _pads(op: Operator, pad: Operator, graph: Graph) -> Mapping[str, Attribute]:
    """Return all the padding of a convolution with that of a PAD before it, none if it cannot."""
    filter_shape = graph.tensor(op.inputs[1]).shape
    extents = Window.of(op, *filter_shape[1:3]).extent
    pairs = graph.tensor(pad.inputs[1]).array.astype(int).tolist()
    if any(pairs[0]) or any(pairs[3]):
        return {}
    added = (*pairs[1], *pairs[2])
    pads = {side: op.integer(side) + more for side, more in zip(_SIDES, added, strict=True)}
    limits = (extents[0], extents[0], extents[1], extents[1])
    return pads if all(p < most for p, most in zip(pads.values(), limits, strict=True)) else {}
