# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: Gemm and MatMul, with constant weights or without."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import Conversion, attributes_as
from atoll.frontend.onnx.emitter import Held
from atoll.frontend.onnx.model import Array, Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Part, Pending, Stored, Unfit, broadcast
from atoll.frontend.onnx.operators.elements import in_16_bits, make_binary
from atoll.frontend.onnx.operators.moves import reshape_value
from atoll.frontend.onnx.operators.weights import (
    Weights,
    bias_of,
    constant_bias,
    constant_weights,
    real_values,
    repeat_channels,
)
from atoll.frontend.onnx.operators.windows import make_sums


def gemm(c: Conversion, node: Node) -> Part:
    """Make a FULLY_CONNECTED of A [M, K] and constant B."""
    found = attributes_as(node, {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0})
    x, right = c.stored_operand(node, wide=True), c.part(node, 1)
    if found["transA"]:
        x = _swap_axes(x)
    if found["alpha"] <= 0:
        raise Unfit(f"has alpha {found['alpha']:g}", "fold alpha into the weights, so that it is 1")
    biased = c.has(node, 2) and found["beta"] != 0
    if not isinstance(right, Constant):
        if found["alpha"] != 1 or biased:
            raise Unfit("has computed weights with a bias or alpha", "use MatMul and Add")
        y = c.stored_operand(node, 1, wide=True)
        y = _swap_axes(y) if found["transB"] else y
        return make_matmul(c, x, y, c.result(node))
    if len(right.shape) != 2:
        raise Unfit(f"has weights of shape {list(right.shape)} instead of 2 dimensions")
    weights = constant_weights(right, node.inputs[1], 0 if found["transB"] else 1)
    rows = weights.values if found["transB"] else weights.values.T
    scales = tuple(float(np.float32(scale * found["alpha"])) for scale in weights.scales)
    weights = replace(weights, values=rows, scales=scales, axis=0)
    if not biased:
        return make_dense(c, node, x, weights, None)
    bias = c.part(node, 2)
    by_row = isinstance(bias, Constant) and bias.values.size not in (1, weights.outputs)
    by_row |= isinstance(bias, Constant) and bias.shape not in (
        (),
        (1,),
        (bias.values.size,),
        (1, bias.values.size),
    )
    if not by_row and found["beta"] == 1:
        return make_dense(c, node, x, weights, bias_of(c, node, 2, x, weights))
    if not isinstance(bias, Constant):
        raise Unfit(f"bias '{node.inputs[2]}' is computed", "export the model for inference")
    values = found["beta"] * real_values(bias, node.inputs[2])
    if not by_row:
        added = Constant(values=np.asarray(values, np.float64))
        return make_dense(c, node, x, weights, constant_bias(added, node.inputs[2], x, weights))
    plain = c.to_stored(make_dense(c, node, x, weights, None), node.outputs[0], wide=True)
    return make_binary(c, "add", [plain, in_16_bits(values)], node.outputs * 2, plain.shape)


def matmul(c: Conversion, node: Node) -> Part:
    """Make a FULLY_CONNECTED of constant weights [K, N], else a BATCH_MATMUL."""
    right = c.part(node, 1)
    if min(len(c.part(node, at).shape) for at in (0, 1)) < 2:
        return _of_vectors(c, node)
    if not isinstance(right, Constant) or len(right.shape) != 2:
        left, right = (c.stored_operand(node, at, wide=True) for at in (0, 1))
        return make_matmul(c, left, right, c.result(node))
    weights = constant_weights(right, node.inputs[1], 1)
    weights = replace(weights, values=weights.values.T, axis=0)
    return make_dense(c, node, c.stored_operand(node, wide=True), weights, None)


def _of_vectors(c: Conversion, node: Node) -> Part:
    """Make a product of a row, or with a column, whose dimension the result does not have."""
    shape, parts = c.result(node), [c.part(node, at) for at in (0, 1)]
    wide = [
        part.shape if len(part.shape) > 1 else added
        for part, added in zip(parts, ((1, *parts[0].shape), (*parts[1].shape, 1)), strict=True)
    ]
    whole = (*broadcast(wide[0][:-2], wide[1][:-2]), wide[0][-2], wide[1][-1])
    brought: list[Part] = []
    for at, part in enumerate(parts):
        if isinstance(part, Constant):
            quantization = part.quantization
            if len(part.shape) == 1 and quantization is not None and len(quantization.scales) > 1:
                raise Unfit(f"'{node.inputs[at]}' is a vector with several scales")
            brought.append(
                Constant(values=part.values.reshape(wide[at]), quantization=quantization)
            )
        else:
            brought.append(reshape_value(c, c.stored_operand(node, at, wide=True), wide[at]))
    made = c.with_operands(matmul, node, brought, whole)
    assert isinstance(made, Pending)

    def make(to: Grid, activation: str) -> Stored:
        return reshape_value(c, made.make(to, activation), shape)

    return replace(made, shape=shape, make=make, biased=None)


def make_dense(
    c: Conversion, node: Node, x: Stored, weights: Weights, bias: Array | None
) -> Pending:
    """Return a dense layer over the last axis of x.

    Args:
        c: the conversion.
        node: what makes it.
        x: of any rank; leading axes may lie in any order.
        weights: [O, K].
        bias: in the scale of sums, or None.
    """
    shape, rank = c.result(node), len(x.shape)
    if x.shape[-1] != weights.values.shape[1] or shape != (*x.shape[:-1], weights.outputs):
        message = f"has weights for {weights.values.shape[1]} values of {list(x.shape)}"
        raise Unfit(message)
    if x.folded:
        wide = [x.folded[axis] for axis in x.unfolded]
        back = layout.steps(x.unfolded, layout.plain(len(x.folded)))
        taps = weights.values.reshape(-1, *wide).transpose(0, *(1 + axis for axis in back))
        weights = replace(weights, values=taps.reshape(weights.values.shape))
        x = replace(x, folded=(), unfolded=())
    else:
        x = c.emit.in_order(x, layout.last(x.order, rank - 1))
    stored = (*c.emit.stored_shape(x)[:-1], weights.outputs)

    def make(x: Stored, values: Array | None, grid: Grid, activation: str) -> Stored:
        filters = Held(weights.filters(weights.values, 1), "filter", weights.along(0))
        operand = x
        if weights.wide:
            operand = c.emit.as_stored(
                repeat_channels(c, x.tensor, x.require_grid(), weights.parts), x.require_grid()
            )
        held = None if values is None else weights.bias_constant(x, values)
        tensor = c.emit.operator(
            "fully_connected",
            [operand, filters, held],
            stored,
            grid,
            activation=activation,
            keep_num_dims=rank != 2,
        )
        return Stored(tensor=tensor, shape=shape, order=x.order, grid=grid, real=True)

    return make_sums(c, bias, make, shape, rank - 1, x, weights)


def make_matmul(c: Conversion, left: Stored, right: Stored, shape: tuple[int, ...]) -> Pending:
    """Make a BATCH_MATMUL; an operand whose last two axes lie swapped is taken as it is."""
    operands, adjoint = list[Stored](), list[bool]()
    for value in (left, right):
        rank = len(value.shape)
        swapped = (*range(rank - 2), rank - 1, rank - 2)
        adjoint.append(c.emit.unfold(value).order == swapped)
        operands.append(c.emit.in_order(value, swapped if adjoint[-1] else layout.plain(rank)))

    def emit(values: Sequence[Stored], grid: Grid, activation: str) -> Stored:
        tensor = c.emit.operator(
            "batch_matmul", values, shape, grid, adj_x=adjoint[0], adj_y=adjoint[1]
        )
        order = layout.plain(len(shape))
        return Stored(tensor=tensor, shape=shape, order=order, grid=grid, real=True)

    depth = left.shape[-1]
    first, second = (max(map(abs, value.range)) for value in (left, right))
    most = depth * first * second
    return Pending(
        shape=shape,
        make=lambda to, activation: c.match_types(operands, to, activation, emit),
        range=(-most, most),
        error=depth * (first * right.error + second * left.error),
    )


def _swap_axes(value: Stored) -> Stored:
    """Return a matrix with its two axes swapped, without moving it."""
    if len(value.shape) != 2 or value.folded:
        raise Unfit("transposes an operand that is no plain matrix")
    order = (1 - value.order[0], 1 - value.order[1])
    return replace(value, shape=value.shape[::-1], order=order)


HANDLERS = {"Gemm": gemm, "MatMul": matmul}
