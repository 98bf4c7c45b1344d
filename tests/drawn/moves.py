# SPDX-License-Identifier: Apache-2.0
"""Operators that only move elements."""

from dataclasses import replace
from math import prod

import numpy as np
from tests.drawn.drawing import Drawing, UnsuitableError
from tests.drawn.elements import like
from tests.drawn.file import Value

PLAIN = ("int8", "int8", "int8", "int16", "int32")
_RANKS = (1, 2, 3, 4)


def _factors(d: Drawing, count: int) -> tuple[int, ...]:
    """Return a shape of `count` elements."""
    shape: list[int] = []
    while len(shape) < 3 and d.chance(0.8):
        extent = d.one_of([n for n in range(1, count + 1) if count % n == 0][:12])
        shape.append(extent)
        count //= extent
    return tuple(d.rng.permutation([*shape, count]).tolist())


def reshape(d: Drawing) -> None:
    """RESHAPE, by operand, by option, with a -1 or from both."""
    x = d.operand(PLAIN, _RANKS)
    value = d.values[x]
    shape = _factors(d, prod(value.shape))
    told = list(shape)
    if d.chance(0.3):
        told[d.number(0, len(told) - 1)] = -1
    if d.chance(0.2):
        operands, options = [x], {"NewShape": tuple(told)}
        d.result("RESHAPE", operands, [like(value, shape=shape)], "ReshapeOptions", **options)
    else:
        d.result("RESHAPE", [x, d.constant(told)], [like(value, shape=shape)])


def squeeze(d: Drawing) -> None:
    """SQUEEZE and EXPAND_DIMS."""
    x = d.operand(("int8", "int16"), (1, 2, 3))
    value = d.values[x]
    rank = len(value.shape)
    axis = d.number(-rank - 1, rank)
    shape = list(value.shape)
    shape.insert(axis if axis >= 0 else rank + 1 + axis, 1)
    (wide,) = d.result("EXPAND_DIMS", [x, d.constant(axis)], [like(value, shape=tuple(shape))])
    if d.chance(0.5):
        ones = tuple(i for i, extent in enumerate(shape) if extent == 1 and d.chance(0.7))
        kept = tuple(extent for i, extent in enumerate(shape) if i not in ones)
        dims = ones
        if not ones:
            kept = tuple(extent for extent in shape if extent != 1)
        if kept:
            result = like(value, shape=kept)
            d.result("SQUEEZE", [wide], [result], "SqueezeOptions", SqueezeDims=dims)


def transpose(d: Drawing) -> None:
    """TRANSPOSE."""
    x = d.operand(ranks=(2, 3, 4))
    value = d.values[x]
    order = d.rng.permutation(len(value.shape)).tolist()
    shape = tuple(value.shape[axis] for axis in order)
    d.result("TRANSPOSE", [x, d.constant(order)], [like(value, shape=shape)], "TransposeOptions")


def cut(d: Drawing) -> None:
    """SLICE with a -1 now and then."""
    x = d.operand(PLAIN, _RANKS)
    value = d.values[x]
    begin = [d.number(0, extent - 1) for extent in value.shape]
    size = [d.number(1, extent - at) for extent, at in zip(value.shape, begin, strict=True)]
    told = [
        -1 if at + length == extent and d.chance(0.5) else length
        for at, length, extent in zip(begin, size, value.shape, strict=True)
    ]
    operands = [x, d.constant(begin), d.constant(told)]
    d.result("SLICE", operands, [like(value, shape=tuple(size))])


def strided(d: Drawing) -> None:
    """STRIDED_SLICE with steps of both signs, masks, bounds outside, an axis that vanishes."""
    x = d.operand(PLAIN, _RANKS)
    value = d.values[x]
    rank = len(value.shape)
    steps = [d.one_of((1, 1, 2, 3, -1, -2)) for _ in range(rank)]
    begin = [d.number(-extent - 1, extent + 1) for extent in value.shape]
    end = [d.number(-extent - 1, extent + 1) for extent in value.shape]
    masks = [d.number(0, 2**rank - 1) if d.chance(0.5) else 0 for _ in range(2)]
    lost = d.number(0, rank - 1) if d.chance(0.3) and rank > 1 else None
    shape = []
    for axis, extent in enumerate(value.shape):
        if axis == lost:
            begin[axis], steps[axis] = d.number(0, extent - 1), 1
            end[axis] = begin[axis] + 1
            masks = [mask & ~(1 << axis) for mask in masks]
            continue
        first = None if masks[0] >> axis & 1 else begin[axis]
        last = None if masks[1] >> axis & 1 else end[axis]
        shape.append(len(range(extent)[first : last : steps[axis]]))
    operands = [x, d.constant(begin), d.constant(end), d.constant(steps)]
    d.result(
        "STRIDED_SLICE",
        operands,
        [like(value, shape=tuple(shape))],
        "StridedSliceOptions",
        BeginMask=masks[0],
        EndMask=masks[1],
        ShrinkAxisMask=0 if lost is None else 1 << lost,
    )


def split(d: Drawing) -> None:
    """SPLIT, SPLIT_V and UNPACK."""
    x = d.operand(("int8", "int8", "int16", "int32"), (1, 2, 3, 4))
    value = d.values[x]
    axis = d.number(0, len(value.shape) - 1)
    extent = value.shape[axis]
    signed = axis - len(value.shape) if d.chance(0.3) else axis
    before, after = value.shape[:axis], value.shape[axis + 1 :]
    way = d.number(0, 2)
    if way == 0:
        count = d.one_of([n for n in range(1, 6) if extent % n == 0])
        part = like(value, shape=(*before, extent // count, *after))
        d.result("SPLIT", [d.constant(signed), x], [part] * count, "SplitOptions", NumSplits=count)
    elif way == 1 and extent > 1:
        at = d.number(1, extent - 1)
        parts = [like(value, shape=(*before, size, *after)) for size in (at, extent - at)]
        sizes = [at, -1 if d.chance(0.3) else extent - at]
        operands = [x, d.constant(sizes), d.constant(signed)]
        d.result("SPLIT_V", operands, parts, "SplitVOptions", NumSplits=2)
    elif extent <= 6 and before + after:
        part = like(value, shape=before + after)
        d.result("UNPACK", [x], [part] * extent, "UnpackOptions", Num=extent, Axis=signed)
    else:
        raise UnsuitableError


def joined(d: Drawing) -> None:
    """CONCATENATION and PACK of values on one grid."""
    x = d.operand((*PLAIN, "int64", "bool"), _RANKS)
    value = d.values[x]
    rank = len(value.shape)
    if d.chance(0.3) and rank < 4 and value.dtype != "bool":
        count, axis = d.number(1, 4), d.number(0, rank)
        operands = [x, *(d.given(like(value)) for _ in range(count - 1))]
        shape = (*value.shape[:axis], count, *value.shape[axis:])
        told = axis - rank - 1 if d.chance(0.3) else axis
        options = {"ValuesCount": count, "Axis": told}
        d.result("PACK", operands, [like(value, shape=shape)], "PackOptions", **options)
        return
    axis, operands, length = d.number(0, rank - 1), [x], value.shape[d.number(0, rank - 1)]
    length = value.shape[axis]
    for _ in range(d.number(0, 3)):
        extent = d.number(1, 5)
        shape = (*value.shape[:axis], extent, *value.shape[axis + 1 :])
        mates = [i for i in d.live if like(d.values[i]) == like(value, shape=shape)]
        operands.append(d.one_of(mates) if mates else d.given(like(value, shape=shape)))
        length += extent
    shape = (*value.shape[:axis], length, *value.shape[axis + 1 :])
    told = axis - rank if d.chance(0.3) else axis
    order = d.rng.permutation(operands).tolist()
    d.result("CONCATENATION", order, [like(value, shape=shape)], "ConcatenationOptions", Axis=told)


def padded(d: Drawing) -> None:
    """PAD, PADV2, MIRROR_PAD."""
    x = d.operand(("int8", "int8", "int16"), _RANKS)
    value = d.values[x]
    mirrored = value.dtype == "int8" and d.chance(0.3)
    mode = d.number(0, 1)
    most = [min(3, extent - 1 + mode) if mirrored else 3 for extent in value.shape]
    pads = [[d.number(0, n) if d.chance(0.6) else 0 for _ in range(2)] for n in most]
    shape = tuple(extent + sum(pair) for extent, pair in zip(value.shape, pads, strict=True))
    operands, result = [x, d.constant(np.asarray(pads))], like(value, shape=shape)
    if mirrored:
        d.result("MIRROR_PAD", operands, [result], "MirrorPadOptions", Mode=mode)
    elif d.chance(0.5):
        fill = replace(like(value, shape=()), data=d.numbers((), value.dtype))
        d.result("PADV2", [*operands, d.add_constant(fill)], [result])
    else:
        d.result("PAD", operands, [result])


def gathered(d: Drawing) -> None:
    """GATHER by constant indices of any rank."""
    x = d.operand(("int8",), _RANKS)
    value = d.values[x]
    axis = d.number(0, len(value.shape) - 1)
    shape = tuple(d.number(1, 4) for _ in range(d.number(1, 2)))
    if len(shape) + len(value.shape) - 1 > 4:
        raise UnsuitableError
    data = d.rng.integers(0, value.shape[axis], shape).astype(np.int32)
    indices = d.add_constant(Value(shape=shape, dtype="int32", data=data))
    result = like(value, shape=(*value.shape[:axis], *shape, *value.shape[axis + 1 :]))
    told = axis - len(value.shape) if d.chance(0.3) else axis
    d.result("GATHER", [x, indices], [result], "GatherOptions", Axis=told)


def gathered_nd(d: Drawing) -> None:
    """GATHER_ND by constant indices."""
    x = d.operand(("int8",), (2, 3, 4))
    value = d.values[x]
    depth, count = d.number(1, len(value.shape)), d.number(1, 5)
    columns = [d.rng.integers(0, extent, count) for extent in value.shape[:depth]]
    data = np.stack(columns, -1).astype(np.int32)
    indices = d.add_constant(Value(shape=data.shape, dtype="int32", data=data))
    d.result("GATHER_ND", [x, indices], [like(value, shape=(count, *value.shape[depth:]))])


def reversed_(d: Drawing) -> None:
    """REVERSE_V2 of neighbouring axes."""
    x = d.operand(PLAIN, _RANKS)
    value = d.values[x]
    first = d.number(0, len(value.shape) - 1)
    last = d.number(first, len(value.shape) - 1)
    axes = d.constant(list(range(first, last + 1)))
    d.result("REVERSE_V2", [x, axes], [like(value)])


def broadcast(d: Drawing) -> None:
    """BROADCAST_TO."""
    x = d.operand(PLAIN, (1, 2, 3))
    value = d.values[x]
    shape = tuple(d.number(1, 4) if extent == 1 else extent for extent in value.shape)
    if d.chance(0.4):
        shape = (d.number(1, 3), *shape)
    d.result("BROADCAST_TO", [x, d.constant(shape)], [like(value, shape=shape)])


def blocks(d: Drawing) -> None:
    """SPACE_TO_DEPTH and DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND."""
    block = d.number(2, 3)
    way = d.number(0, 2)
    if way == 0:
        x = d.operand(("int8",), (4,), lambda v: v.shape[1] % block == v.shape[2] % block == 0)
        value = d.values[x]
        n, h, w, c = value.shape
        result = like(value, shape=(n, h // block, w // block, c * block**2))
        d.result("SPACE_TO_DEPTH", [x], [result], "SpaceToDepthOptions", BlockSize=block)
    elif way == 1:
        x = d.operand(("int8",), (4,), lambda v: v.shape[3] % block**2 == 0)
        value = d.values[x]
        n, h, w, c = value.shape
        result = like(value, shape=(n, h * block, w * block, c // block**2))
        d.result("DEPTH_TO_SPACE", [x], [result], "DepthToSpaceOptions", BlockSize=block)
    else:
        x = d.operand(("int8",), (4,), lambda v: v.shape[1] % block == v.shape[2] % block == 0)
        value = d.values[x]
        n, h, w, c = value.shape
        sides, nothing = d.constant([block] * 2), d.constant(np.zeros((2, 2)))
        middle = like(value, shape=(n * block**2, h // block, w // block, c))
        (y,) = d.result("SPACE_TO_BATCH_ND", [x, sides, nothing], [middle])
        d.result("BATCH_TO_SPACE_ND", [y, sides, nothing], [like(value)])


def resized(d: Drawing) -> None:
    """RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR."""
    x = d.operand(("int8",), (4,))
    value = d.values[x]
    size = [d.number(1, 12), d.number(1, 12)]
    way = d.number(0, 2)
    options = {"AlignCorners": way == 1, "HalfPixelCenters": way == 2}
    code, table = d.one_of(
        (
            ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"),
            ("RESIZE_BILINEAR", "ResizeBilinearOptions"),
        )
    )
    result = like(value, shape=(value.shape[0], *size, value.shape[3]))
    d.result(code, [x, d.constant(size)], [result], table, **options)


def updated(d: Drawing) -> None:
    """DYNAMIC_UPDATE_SLICE at a place that the run knows, or the file."""
    x = d.operand(("int8",), (1, 2, 3, 4))
    value = d.values[x]
    update = d.given(like(value, shape=tuple(d.number(1, extent) for extent in value.shape)))
    begin = d.constant([d.number(0, extent) for extent in value.shape])
    d.result("DYNAMIC_UPDATE_SLICE", [x, update, begin], [like(value)])
