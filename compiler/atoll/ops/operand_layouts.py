# SPDX-License-Identifier: Apache-2.0
"""The layouts in which an accelerator reads its operands and writes its result."""

from collections.abc import Mapping
from dataclasses import replace
from math import prod

import numpy as np

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.layouts import Layout, Patches
from atoll.ops.formulas import formulas, quantity_values
from atoll.ops.fused import operand_names, owner
from atoll.ops.registry import kind_of
from atoll.program.expressions import ExpressionError, parse, value_of
from atoll.resolve.soc import Engine

RESULT = "output"
_RANK = 4


def input_layouts(op: Operator, graph: Graph, npu: Engine) -> Mapping[int, Layout]:
    """Return the layouts that an accelerator wants of the inputs of `op`, by position.

    Those in row-major order, and those whose layout comes to the same, are left out.

    Raises:
        AtollError: E162; a formula has no value.
    """
    names = operand_names(op)
    found = zip(range(len(op.inputs)), names, graph.operands(op), strict=False)
    wanted = ((at, _layout(name, tensor, op, graph, npu)) for at, name, tensor in found if tensor)
    return {at: layout for at, layout in wanted if layout}


def output_layout(op: Operator, graph: Graph, npu: Engine) -> Layout | None:
    """Return the layout in which an accelerator writes the result of `op`, as `input_layouts`."""
    return _layout(RESULT, graph.results(op)[0], op, graph, npu)


def _layout(name: str, tensor: Tensor, op: Operator, graph: Graph, npu: Engine) -> Layout | None:
    rules = {each.kind: each.layouts for each in npu.spec.operators}
    rule = rules.get(op.kind, {}).get(name)
    if rule is None or tensor.data is not None:
        return None
    values = quantity_values(op, graph, npu)
    with formulas(op, npu):
        block, row = (value_of(parse(each), values) for each in (rule.block, rule.row))
        if min(block, row) < 1:
            raise ExpressionError(f"gives a layout a block of {block} and rows of {row}")
    whose, within = owner(op, graph, name)
    features = kind_of(whose).features(whose, within)
    layout = Layout(
        image=_image(name, tensor, features),
        order=rule.order,
        block=block,
        row=row,
        fill=tensor.quantization.zero_points[0] if tensor.quantization else 0,
    )
    if rule.patches:
        layout = replace(layout, patches=_patches(features))
    return None if layout.is_plain() else _simplest(layout)


def _image(name: str, tensor: Tensor, features: Mapping[str, int]) -> tuple[int, int, int, int]:
    """Return the extents of an operand as the operator's features have them."""
    side = "out" if name == RESULT else "in"
    if f"{side}_channels" in features:
        height, width, channels = (
            features[f"{side}_{extent}"] for extent in ("height", "width", "channels")
        )
        return features.get("batches", 1), height, width, channels
    shape = tensor.shape
    rows, columns, channels = (1, 1, 1, *shape)[-3:]
    return prod(shape[: max(len(shape) - _RANK + 1, 0)]), rows, columns, channels


def _patches(features: Mapping[str, int]) -> Patches:
    def pair(one: str, other: str) -> tuple[int, int]:
        return features[one], features[other]

    return Patches(
        kernel=pair("kernel_h", "kernel_w"),
        stride=pair("stride_h", "stride_w"),
        dilation=pair("dilation_h", "dilation_w"),
        before=pair("pad_top", "pad_left"),
        places=pair("out_height", "out_width"),
    )


def _simplest(layout: Layout) -> Layout:
    """Return the layout without patches that are the image itself, so that equals are equal.

    A window over the whole image has the same elements in row-major order, and yet as channels of
    one position: blocks of channels have others.
    """
    if layout.patches is None:
        return layout
    found = layout.patches.sources(layout.image)
    same = found.shape == layout.image
    itself = same and np.array_equal(found.ravel(), np.arange(prod(layout.image)))
    return replace(layout, patches=None) if itself else layout
