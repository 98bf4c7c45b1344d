# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, or only rename their places."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.conversion import (
    Conversion,
    Handler,
    attributes_as,
    hand_on,
    handing_on,
)
from atoll.frontend.onnx.emitter import Held, Operand
from atoll.frontend.onnx.model import Node
from atoll.frontend.onnx.onnx_values import Constant, Grid, Part, Pending, Stored, Unfit, finer
from atoll.frontend.onnx.operators.elements import align, common_grid, on_grid, pending_result
from atoll.frontend.onnx.protos import AGAIN

MOST_RUNS = 256
"""Of places that one CONCATENATION joins."""


def same(c: Conversion, node: Node) -> Part:
    """Return the operand."""
    return c.part(node, 0)


def cast(c: Conversion, node: Node) -> Part:
    """Accept a change between types of real numbers."""
    part = c.part(node, 0)
    real = isinstance(part, Pending) or (isinstance(part, Stored) and part.real)
    if not real or c.file.values[node.outputs[0]].dtype not in ("float", "float16", "double"):
        raise Unfit("casts to or from integers", "leave it out, or quantise instead")
    return part


def reshape(c: Conversion, node: Node) -> Part:
    """Give the same elements other extents; bytes move only where channels come between."""
    part, shape = c.part(node, 0), c.result(node)
    if prod(shape) != prod(part.shape):
        raise Unfit(f"makes {[*shape]} of {[*part.shape]}", AGAIN, "E052")
    if isinstance(part, Constant):
        return _constant(part, lambda values: values.reshape(shape))
    return reshape_value(c, c.stored_operand(node), shape)


def reshape_value(c: Conversion, x: Stored, shape: tuple[int, ...]) -> Stored:
    """Return a value with other extents of as many elements."""
    x = x if shape == x.shape else c.emit.unfold(x)
    order = x.order if x.folded else layout.reshape(x.shape, x.order, shape)
    if order is not None:
        stored = c.emit.stored_shape(x) if x.folded else layout.permute(shape, order)
        return replace(x, tensor=c.emit.reshape(x.tensor, stored), shape=shape, order=order)
    kept = len(shape) - 1
    if shape[:-1] == x.shape[:kept] and x.order[:kept] == layout.plain(kept):
        behind = x.order[kept:]
        return replace(
            x,
            tensor=c.emit.reshape(x.tensor, shape),
            shape=shape,
            order=layout.plain(kept + 1),
            folded=tuple(x.shape[axis] for axis in behind),
            unfolded=layout.steps(behind, tuple(sorted(behind))),
        )
    x = c.emit.in_order(x, layout.joinable(x.shape, shape))
    joined = layout.reshape(x.shape, x.order, shape)
    assert joined is not None, f"{x.shape} as {x.order} to {shape}"
    tensor = c.emit.reshape(x.tensor, layout.permute(shape, joined))
    return replace(x, tensor=tensor, shape=shape, order=joined)


def transpose(c: Conversion, node: Node) -> Part:
    """Name the axes anew; nothing moves."""
    part = c.part(node, 0)
    rank = len(part.shape)
    axes = node.attributes.get("perm", tuple(reversed(range(rank))))
    if sorted(axes) != [*range(rank)]:
        raise Unfit(f"has perm {axes} for {rank} dimensions")
    if isinstance(part, Constant):
        return _constant(part, lambda values: values.transpose(axes), axes)
    return rename_axes(c, c.stored_operand(node), axes)


def rename_axes(c: Conversion, x: Stored, axes: tuple[int, ...]) -> Stored:
    """Return a value whose axes are those of another one, in this order."""
    x = c.emit.unfold(x)
    shape = tuple(x.shape[axis] for axis in axes)
    return replace(x, shape=shape, order=tuple(axes.index(axis) for axis in x.order))


def _constant(part: Constant, move: object, axes: Sequence[int] = ()) -> Constant:
    """Move the elements of a constant; its scales move along if axes say where."""
    assert callable(move)
    quantization = part.quantization
    if quantization is not None and len(quantization.scales) > 1:
        if not axes:
            raise Unfit("reshapes a constant with scales per channel", "quantise it afterwards")
        quantization = replace(quantization, axis=list(axes).index(quantization.axis))
    return Constant(values=move(part.values), quantization=quantization)


def slice_(c: Conversion, node: Node) -> Part:
    """Make a SLICE, or a STRIDED_SLICE where there are steps."""
    x = c.stored_operand(node)
    rank = len(x.shape)
    starts, ends = c.integers(node, 1), c.integers(node, 2)
    axes = c.integers(node, 3) if c.has(node, 3) else tuple(range(len(starts)))
    steps = c.integers(node, 4) if c.has(node, 4) else (1,) * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise Unfit("has starts, ends, axes and steps of different lengths, or a step of 0")
    ranges = [range(extent) for extent in x.shape]
    for axis, *limits in zip(axes, starts, ends, steps, strict=True):
        if not -rank <= axis < rank:
            raise Unfit(f"has axis {axis} for {rank} dimensions")
        ranges[axis] = range(x.shape[axis])[slice(*limits)]
    return take_ranges(c, x, ranges)


def take_ranges(c: Conversion, x: Stored, ranges: Sequence[range]) -> Stored:
    """Return the elements at some places along each axis of ONNX."""
    x = c.emit.unfold(x)
    ranges = [each if len(each) != 1 else range(each[0], each[0] + 1) for each in ranges]
    shape = tuple(map(len, ranges))
    if 0 in shape:
        raise Unfit("takes nothing of its operand", "leave it out")
    if all(
        len(each) == extent and each.step == 1 for each, extent in zip(ranges, x.shape, strict=True)
    ):
        return x
    stored = [ranges[axis] for axis in x.order]
    made, begin = layout.permute(shape, x.order), _table([each.start for each in stored])
    begins = Held(begin, "begin")
    if all(each.step == 1 for each in stored):
        size = Held(_table(made), "size")
        kind, options = "slice", dict[str, int]()
        operands: list[Operand] = [x, begins, size]
    else:
        ends = [each.start + len(each) * each.step for each in stored]
        mask = sum(1 << at for at, end in enumerate(ends) if end < 0)
        end = Held(_table([max(end, 0) for end in ends]), "end")
        steps = Held(_table([each.step for each in stored]), "strides")
        operands, kind = [x, begins, end, steps], "strided_slice"
        options = {"begin_mask": 0, "end_mask": mask, "shrink_axis_mask": 0}
    to = x.grid or c.emit.tensor(x.tensor).dtype
    tensor = c.emit.operator(kind, operands, made, to, **options)
    return replace(x, tensor=tensor, shape=shape)


def _table(values: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(values, np.int32)


def split(c: Conversion, node: Node) -> tuple[Part, ...]:
    """Make a SLICE for each result."""
    x = c.stored_operand(node)
    axis = attributes_as(node, {"axis": 0})["axis"] % len(x.shape)
    parts, begin = list[Part](), 0
    for at in range(len(node.outputs)):
        ranges = [range(extent) for extent in x.shape]
        end = begin + c.result(node, at)[axis]
        ranges[axis] = range(begin, end)
        parts.append(take_ranges(c, x, ranges))
        begin = end
    return tuple(parts)


def gather(c: Conversion, node: Node) -> Part:
    """Take a run of places along an axis, or one place, which loses the axis."""
    x, indices = c.stored_operand(node), c.numbers(node, 1)
    axis = attributes_as(node, {"axis": 0})["axis"] % len(x.shape)
    places = [int(each) % x.shape[axis] for each in indices.reshape(-1)]
    if indices.ndim > 1 or not places:
        raise Unfit("gathers by indices of several dimensions, or none", "use Slice and Concat")
    value = pick(c, x, axis, places)
    left = (*x.shape[:axis], *x.shape[axis + 1 :])
    return value if indices.ndim else reshape_value(c, value, left)


def pick(c: Conversion, x: Stored, axis: int, places: Sequence[int]) -> Stored:
    """Return the elements at some places along an axis: regular runs of them, joined."""
    x, runs = c.emit.unfold(x), [*_runs(places)]
    if len(runs) > MOST_RUNS:
        raise Unfit(f"takes {len(runs)} runs of places, the most is {MOST_RUNS}")
    whole = [range(extent) for extent in x.shape]
    parts = [take_ranges(c, x, [*whole[:axis], run, *whole[axis + 1 :]]) for run in runs]
    if len(parts) == 1:
        return parts[0]
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    options: dict[str, int | str] = {"axis": x.order.index(axis), "activation": "none"}
    made, to = layout.permute(shape, x.order), x.require_grid()
    tensor = c.emit.operator("concatenation", parts, made, to, **options)
    return replace(x, tensor=tensor, shape=shape)


def _runs(places: Sequence[int]) -> Iterator[range]:
    """Yield the places as ranges, each as long as it can be."""
    rest = [*places]
    while rest:
        step = rest[1] - rest[0] if len(rest) > 1 else 1
        count = next((n for n in range(1, len(rest)) if rest[n] != rest[0] + n * step), len(rest))
        count = count if step else 1
        yield range(rest[0], rest[0] + count * (step or 1), step or 1)
        rest = rest[count:]


def concat(c: Conversion, node: Node) -> Part:
    """Make a CONCATENATION; operands on other grids than the result's are requantised first."""
    values = [c.part(node, at) for at in range(len(node.inputs))]
    if all(isinstance(value, Constant) for value in values):
        raise Unfit("has no operand that is computed", "simplify the model")
    shape, own = c.result(node), common_grid(values)
    real = all(not isinstance(value, Stored) or value.real for value in values)
    axis = attributes_as(node, {"axis": 0})["axis"] % len(shape)

    def make(to: Grid, activation: str) -> Stored:
        named = zip(values, node.inputs, strict=True)
        brought = [on_grid(c, value, name, to) for value, name in named]
        operands, order = align(c, brought, shape)
        made = layout.permute(shape, order)
        options: dict[str, int | str] = {"axis": order.index(axis), "activation": "none"}
        tensor = c.emit.operator("concatenation", operands, made, to, **options)
        return Stored(tensor=tensor, shape=shape, order=order, grid=to, real=real)

    if own and all(isinstance(value, Stored) for value in values):
        return make(own, "none")
    return pending_result(values, node.inputs, shape, make)


def pad(c: Conversion, node: Node) -> Part | tuple[Part, ...]:
    """Make a PAD, a PADV2 with a value, or a MIRROR_PAD.

    A value that the grid of the operand does not have waits for the grid of the result.
    """
    part, value = c.part(node, 0), _pad_value(c, node)
    if isinstance(part, Stored) and part.real:
        part = let_wait(c, part)
    own = part.lies_on if isinstance(part, Pending) else None
    if not isinstance(part, Pending) or own is None or value is None or own.states(value):
        return handing_on(_pad)(c, node)
    wide = finer(own)
    return hand_on(c, node, _pad, part, wide if wide.states(value) else None)


def let_wait(c: Conversion, x: Stored) -> Pending:
    """Return a value as one that waits for its grid."""
    return Pending(shape=x.shape, make=lambda to, _: c.requantize(x, to), own=x.grid)


def _pad_value(c: Conversion, node: Node) -> float | None:
    """Return what a node pads with, None where it reflects."""
    mode = attributes_as(node, {"mode": "constant"})["mode"]
    if mode not in ("constant", "reflect"):
        raise Unfit(f"pads with mode '{mode}'", "pad with a constant, or reflect")
    if mode == "reflect":
        return None
    values = c.numbers(node, 2).reshape(-1) if c.has(node, 2) else np.zeros(1)
    value = float(values[0]) if values.size else 0.0
    if np.isnan(value):
        raise Unfit("pads with what is not a number")
    return value - (128 if values.dtype == np.uint8 else 0)


def _pad(c: Conversion, node: Node) -> Part:
    x, shape, rank = c.stored_operand(node), c.result(node), len(c.part(node, 0).shape)
    value, to = _pad_value(c, node), x.require_grid()
    pads = c.integers(node, 1)
    axes = [axis % rank for axis in c.integers(node, 3)] if c.has(node, 3) else [*range(rank)]
    if len(pads) != 2 * len(axes) or min(pads, default=0) < 0:
        raise Unfit(f"has pads {[*pads]}; they may not be less than 0", "use Slice to crop")
    x = c.emit.unfold(x)
    table = np.zeros((rank, 2), np.int32)
    for at, axis in enumerate(axes):
        table[x.order.index(axis)] = pads[at], pads[at + len(axes)]
    operands: list[Operand] = [x, Held(table, "paddings")]
    made = layout.permute(shape, x.order)
    if value is None and to.dtype == "int16":
        for axis, (before, after) in zip(x.order, table.tolist(), strict=True):
            if before or after:
                places = np.pad(np.arange(x.shape[axis]), (before, after), mode="reflect")
                x = pick(c, x, axis, places.tolist())
        return x
    if value is None:
        tensor = c.emit.operator("mirror_pad", operands, made, to, mode="reflect")
        return replace(x, tensor=tensor, shape=shape)
    steps = to.nearest(value) if x.real else np.clip(value, *to.limits)
    kind = "pad" if steps == to.zero_point else "padv2"
    if kind == "padv2":
        filling = np.array([steps], to.dtype)
        operands.append(Held(filling, "value", to.quantization))
    tensor = c.emit.operator(kind, operands, made, to)
    return replace(x, tensor=tensor, shape=shape)


HANDLERS: dict[str, Handler] = {
    "Cast": cast,
    "Concat": concat,
    "Dropout": same,
    "Flatten": handing_on(reshape),
    "Gather": handing_on(gather),
    "Identity": same,
    "Pad": pad,
    "Reshape": handing_on(reshape),
    "Slice": handing_on(slice_),
    "Split": handing_on(split),
    "Squeeze": handing_on(reshape),
    "Transpose": handing_on(transpose),
    "Unsqueeze": handing_on(reshape),
}
