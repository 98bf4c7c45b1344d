# SPDX-License-Identifier: Apache-2.0
"""Moves that read elements at places of their own: drawn for a shape, alone or in a network."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.differential.network import GREATEST_TENSOR, MOVED, MULTIPLIED, Network
from tests.tflite_builder import Tensor

Shape = tuple[int, ...]
GREATEST_SIDE, MOST_DIMENSIONS = 12, 5


@dataclass(frozen=True, kw_only=True)
class Move:
    """An operator of one input.

    Attributes:
        constants: the inputs behind it.
        alike: those behind them, int8 numbers that are quantised as the input is.
    """

    code: str
    result: Shape
    constants: tuple[NDArray[Any], ...] = ()
    alike: tuple[int, ...] = ()
    table: str = ""
    options: Mapping[str, float] = field(default_factory=dict)


Draw = Callable[[Random, Shape], Move | None]


def int32(values: Any) -> NDArray[Any]:
    """Return a table as converters write it."""
    return np.array(values, np.int32)


def resize_nearest(chance: Random, shape: Shape) -> Move | None:
    """Draw any size, often a multiple of the image's."""
    if len(shape) != 4:
        return None
    times = chance.choice((1, 2, 3))
    sides = [chance.choice((times * side, chance.randint(1, GREATEST_SIDE))) for side in shape[1:3]]
    options = {name: chance.random() < 0.4 for name in ("AlignCorners", "HalfPixelCenters")}
    return Move(
        code="RESIZE_NEAREST_NEIGHBOR",
        result=(shape[0], *sides, shape[3]),
        constants=(int32(sides),),
        table="ResizeNearestNeighborOptions",
        options=options,
    )


def space_to_depth(chance: Random, shape: Shape) -> Move | None:
    """Draw a block that divides height and width."""
    if len(shape) != 4:
        return None
    batches, height, width, depth = shape
    block = chance.choice([n for n in range(1, 5) if not height % n and not width % n])
    return Move(
        code="SPACE_TO_DEPTH",
        result=(batches, height // block, width // block, depth * block * block),
        table="SpaceToDepthOptions",
        options={"BlockSize": block},
    )


def depth_to_space(chance: Random, shape: Shape) -> Move | None:
    """Draw a block whose pixels divide the channels."""
    if len(shape) != 4:
        return None
    batches, height, width, depth = shape
    block = chance.choice([n for n in range(1, 5) if not depth % (n * n)])
    return Move(
        code="DEPTH_TO_SPACE",
        result=(batches, height * block, width * block, depth // (block * block)),
        table="DepthToSpaceOptions",
        options={"BlockSize": block},
    )


def space_to_batch(chance: Random, shape: Shape, *, padded: bool = False) -> Move | None:
    """Draw a block, and paddings, which TFLM fills with what its memory holds."""
    if len(shape) not in (3, 4):
        return None
    batches, *sides, depth = shape
    block = [chance.choice((1, 2, 3)) for _ in sides]
    pads = [[0, 0] for _ in sides]
    if padded:
        pads = [[chance.randrange(3), 0] for _ in sides]
        for pad, side, extent in zip(pads, sides, block, strict=True):
            pad[1] = -(side + pad[0]) % extent + extent * chance.randrange(2)
    else:
        block = [chance.choice([n for n in (1, 2, 3) if not side % n]) for side in sides]
    places = [
        (side + sum(pad)) // extent for side, pad, extent in zip(sides, pads, block, strict=True)
    ]
    return Move(
        code="SPACE_TO_BATCH_ND",
        result=(batches * int(np.prod(block)), *places, depth),
        constants=(int32(block), int32(pads)),
    )


def batch_to_space(chance: Random, shape: Shape) -> Move | None:
    """Draw a block whose pixels divide the batch, and crops."""
    if len(shape) not in (3, 4):
        return None
    batches, *sides, depth = shape
    fitting = [n for n in range(1, 10) if not batches % n]
    block = [chance.choice(fitting)]
    if len(sides) == 2:
        block.append(chance.choice([n for n in fitting if not batches % (n * block[0])]))
    crops, places = [], []
    for side, extent in zip(sides, block, strict=True):
        places.append(chance.randint(1, side * extent))
        before = chance.randint(0, side * extent - places[-1])
        crops.append([before, side * extent - places[-1] - before])
    return Move(
        code="BATCH_TO_SPACE_ND",
        result=(batches // int(np.prod(block)), *places, depth),
        constants=(int32(block), int32(crops)),
    )


def pad_with(chance: Random, shape: Shape) -> Move | None:
    """Draw paddings and a value."""
    pads = [[chance.choice((0, 0, 1, 2)) for _ in range(2)] for _ in shape]
    if not 1 <= len(shape) <= MOST_DIMENSIONS:
        return None
    result = tuple(side + sum(pad) for side, pad in zip(shape, pads, strict=True))
    value = chance.randint(-128, 127)
    return Move(code="PADV2", result=result, constants=(int32(pads),), alike=(value,))


def mirror_pad(chance: Random, shape: Shape) -> Move | None:
    """Draw a mode, and paddings up to what the input has."""
    if not shape:
        return None
    mode = chance.randrange(2)
    pads = []
    for side in shape:
        most = min(side - (1 - mode), 4) if chance.random() < 0.6 else 0
        pads.append([chance.randint(0, most) for _ in range(2)])
    return Move(
        code="MIRROR_PAD",
        result=tuple(side + sum(pad) for side, pad in zip(shape, pads, strict=True)),
        constants=(np.array(pads, chance.choice((np.int32, np.int64))),),
        table="MirrorPadOptions",
        options={"Mode": mode},
    )


def broadcast_to(chance: Random, shape: Shape) -> Move | None:
    """Draw more for extents of 1, and further dimensions."""
    if len(shape) > MOST_DIMENSIONS:
        return None
    further = min(chance.choice((0, 0, 1, 2)), MOST_DIMENSIONS - len(shape))
    result = (
        *(chance.randint(1, 3) for _ in range(further)),
        *(side if side > 1 else chance.choice((1, 2, 5)) for side in shape),
    )
    if not result:
        return None
    return Move(code="BROADCAST_TO", result=result, constants=(int32(result),))


def reverse(chance: Random, shape: Shape) -> Move | None:
    """Draw neighbouring axes in any order, counted from either end."""
    if not shape:
        return None
    first = chance.randrange(len(shape))
    axes = list(range(first, chance.randint(first + 1, len(shape))))
    chance.shuffle(axes)
    axes = [axis - len(shape) * chance.randrange(2) for axis in axes]
    return Move(code="REVERSE_V2", result=shape, constants=(int32(axes),))


def gather(chance: Random, shape: Shape) -> Move | None:
    """Draw an axis, batches, and indices of any shape."""
    if not shape:
        return None
    axis = chance.randrange(len(shape))
    batch = chance.choice((0, 0, chance.randint(0, axis)))
    further = [chance.randint(1, 3) for _ in range(chance.randrange(3))]
    numbers = np.random.default_rng(chance.randrange(2**32))
    indices = numbers.integers(0, shape[axis], (*shape[:batch], *further)).astype(np.int32)
    counted = batch - indices.ndim if indices.ndim > batch and chance.random() < 0.3 else batch
    return Move(
        code="GATHER",
        result=(*shape[:axis], *further, *shape[axis + 1 :]),
        constants=(indices,),
        table="GatherOptions",
        options={"Axis": axis - len(shape) * chance.randrange(2), "BatchDims": counted},
    )


def gather_nd(chance: Random, shape: Shape) -> Move | None:
    """Draw places of elements, or of slices."""
    if not shape:
        return None
    count = chance.randint(1, min(len(shape), MOST_DIMENSIONS))
    further = [chance.randint(1, 3) for _ in range(chance.randrange(3))]
    numbers = np.random.default_rng(chance.randrange(2**32))
    indices = numbers.integers(0, shape[:count], (*further, count)).astype(np.int32)
    return Move(code="GATHER_ND", result=(*further, *shape[count:]), constants=(indices,))


DRAWS: Mapping[str, Draw] = {
    "BATCH_TO_SPACE_ND": batch_to_space,
    "BROADCAST_TO": broadcast_to,
    "DEPTH_TO_SPACE": depth_to_space,
    "GATHER": gather,
    "GATHER_ND": gather_nd,
    "MIRROR_PAD": mirror_pad,
    "PADV2": pad_with,
    "RESIZE_NEAREST_NEIGHBOR": resize_nearest,
    "REVERSE_V2": reverse,
    "SPACE_TO_BATCH_ND": space_to_batch,
    "SPACE_TO_DEPTH": space_to_depth,
}

TYPES: Mapping[str, Sequence[str]] = {
    "BROADCAST_TO": (*MOVED, "int64"),
    "PADV2": ("int8", "int16", "int32"),
    "RESIZE_NEAREST_NEIGHBOR": MULTIPLIED,
    "REVERSE_V2": (*MOVED, "int64"),
}
"""What they may move beside int8."""


def picked(net: Network) -> bool:
    """Add one of them that a value fits."""
    x = net.pick(types=MOVED)
    if x is None:
        return False
    codes = [code for code in DRAWS if net.dtype(x) in TYPES.get(code, ("int8",))]
    moves = (DRAWS[code](net.chance, net.shape(x)) for code in net.chance.sample(codes, len(codes)))
    fitting = (move for move in moves if move and np.prod(move.result) <= GREATEST_TENSOR)
    move = next(fitting, None)
    if move is None:
        return False
    constants = (net.numbers(each, str(each.dtype)) for each in move.constants)
    alike = [_value(net, x, each) for each in move.alike]
    operands = (x, *constants, *alike)
    net.apply(move.code, operands, move.result, net.like(x), move.table, **move.options)
    return True


def _value(net: Network, x: int, number: int) -> int:
    """Add a number that is quantised as a value, or a new input."""
    if net.few_inputs(2) and net.likely(0.4):
        return net.input((), net.like(x))
    return net.add(Tensor(shape=(), data=np.array(number, net.dtype(x)), **net.like(x)))
