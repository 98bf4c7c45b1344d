# SPDX-License-Identifier: Apache-2.0
"""Operators that take a tensor apart into several, and what stacks several into one."""

from itertools import pairwise
from random import Random

from tests.differential.network import MULTIPLIED, Network

TYPES = (*MULTIPLIED, "int32")
MOST_DIMENSIONS = 5
MOST_PARTS = 5


def split(net: Network) -> bool:
    """Add a SPLIT into equal parts."""
    x = net.pick(types=TYPES)
    if x is None or not 1 <= len(net.shape(x)) <= MOST_DIMENSIONS:
        return False
    shape = net.shape(x)
    axis = net.chance.randrange(len(shape))
    fitting = [n for n in range(1, MOST_PARTS + 1) if shape[axis] % n == 0]
    count = net.chance.choice(fitting)
    extents = [shape[axis] // count] * count
    inputs = (net.numbers(_either_end(net.chance, axis, len(shape))), x)
    options = {"NumSplits": count}
    shapes = [_with(shape, axis, extent) for extent in extents]
    net.apply_to_several("SPLIT", inputs, shapes, net.like(x), "SplitOptions", **options)
    return True


def split_v(net: Network) -> bool:
    """Add a SPLIT_V into parts of drawn sizes; TFLM reads these off the results."""
    x = net.pick(types=TYPES)
    if x is None or not 1 <= len(net.shape(x)) <= MOST_DIMENSIONS:
        return False
    shape = net.shape(x)
    axis = net.chance.randrange(len(shape))
    extents = parts_of(net.chance, shape[axis])
    sizes = list(extents)
    if net.likely(0.3):
        sizes[net.chance.randrange(len(sizes))] = -1
    at = net.numbers(_either_end(net.chance, axis, len(shape)))
    shapes = [_with(shape, axis, extent) for extent in extents]
    net.apply_to_several(
        "SPLIT_V",
        (x, net.numbers(sizes), at),
        shapes,
        net.like(x),
        "SplitVOptions",
        NumSplits=len(sizes),
    )
    return True


def unpack(net: Network) -> bool:
    """Add an UNPACK of a short axis."""
    x = net.pick(types=TYPES)
    if x is None or not 2 <= len(net.shape(x)) <= MOST_DIMENSIONS:
        return False
    shape = net.shape(x)
    short = [axis for axis, extent in enumerate(shape) if extent <= MOST_PARTS]
    if not short:
        return False
    axis = net.chance.choice(short)
    shapes = [(*shape[:axis], *shape[axis + 1 :])] * shape[axis]
    options = {"Axis": _either_end(net.chance, axis, len(shape)), "Num": shape[axis]}
    net.apply_to_several("UNPACK", (x,), shapes, net.like(x), "UnpackOptions", **options)
    return True


def pack(net: Network) -> bool:
    """Add a PACK of tensors alike, one of which may be a constant or there twice."""
    x = net.pick(types=TYPES)
    if x is None or len(net.shape(x)) >= MOST_DIMENSIONS:
        return False
    shape = net.shape(x)
    alike = [n for n in net.values if net.shape(n) == shape and net.like(n) == net.like(x)]
    operands = [x, *net.chance.choices(alike, k=net.chance.randrange(3))]
    if net.likely(0.3):
        operands.append(net.constant(shape, net.like(x)))
    net.chance.shuffle(operands)
    axis = net.chance.randint(0, len(shape))
    options = {
        "Axis": _either_end(net.chance, axis, len(shape) + 1),
        "ValuesCount": len(operands),
    }
    result = (*shape[:axis], len(operands), *shape[axis:])
    net.apply("PACK", tuple(operands), result, net.like(x), "PackOptions", **options)
    return True


def parts_of(chance: Random, extent: int) -> list[int]:
    """Cut an extent into up to five parts of one or more."""
    inner = range(1, extent)
    cuts = sorted(chance.sample(inner, chance.randint(0, min(MOST_PARTS - 1, len(inner)))))
    return [last - first for first, last in pairwise([0, *cuts, extent])]


def _either_end(chance: Random, axis: int, dimensions: int) -> int:
    return axis - dimensions * chance.randrange(2)


def _with(shape: tuple[int, ...], axis: int, extent: int) -> tuple[int, ...]:
    return (*shape[:axis], extent, *shape[axis + 1 :])
