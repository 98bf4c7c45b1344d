# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements, on top of what a network has."""

from random import Random

from tests.differential.network import MOVED, MULTIPLIED, Network

MOST_TRANSPOSED, MOST_STRIDED = 5, 4
UNDONE = 0.3


def transpose(net: Network) -> bool:
    """Add a TRANSPOSE, perhaps one that changes nothing, or one that a second one undoes."""
    x = net.pick(types=MULTIPLIED)
    if x is None or not 1 <= len(net.shape(x)) <= MOST_TRANSPOSED:
        return False
    shape = net.shape(x)
    order = net.chance.sample(range(len(shape)), len(shape))
    turned = _turned(net, x, order)
    if net.likely(UNDONE):
        back = _turned(net, turned, sorted(range(len(order)), key=order.__getitem__))
        net.apply("QUANTIZE", (back,), shape, net.quantization(net.dtype(x)))
    return True


def _turned(net: Network, x: int, order: list[int]) -> int:
    shape = tuple(net.shape(x)[at] for at in order)
    return net.apply("TRANSPOSE", (x, net.numbers(order)), shape, net.like(x))


def squeeze(net: Network) -> bool:
    """Add a SQUEEZE of all extents of 1, if there are any."""
    x = net.pick(types=MOVED)
    if x is None or 1 not in net.shape(x):
        return False
    net.apply("SQUEEZE", (x,), tuple(n for n in net.shape(x) if n != 1), net.like(x))
    return True


def expand_dims(net: Network) -> bool:
    """Add an EXPAND_DIMS at an axis that counts from either end."""
    x = net.pick(types=MULTIPLIED)
    if x is None or len(net.shape(x)) > MOST_TRANSPOSED:
        return False
    shape = net.shape(x)
    axis = net.chance.randint(0, len(shape))
    table = net.numbers([axis - (len(shape) + 1) * net.chance.randrange(2)])
    net.apply("EXPAND_DIMS", (x, table), (*shape[:axis], 1, *shape[axis:]), net.like(x))
    return True


def slice(net: Network) -> bool:
    """Add a SLICE, perhaps of all."""
    x = net.pick(types=MOVED)
    if x is None or not 1 <= len(net.shape(x)) <= MOST_TRANSPOSED:
        return False
    begin, size, result = slice_of(net.chance, net.shape(x))
    net.apply("SLICE", (x, net.numbers(begin), net.numbers(size)), result, net.like(x))
    return True


def strided_slice(net: Network) -> bool:
    """Add a STRIDED_SLICE."""
    x = net.pick(types=MOVED)
    if x is None or not 1 <= len(net.shape(x)) <= MOST_STRIDED:
        return False
    tables, masks, result = strided_slice_of(net.chance, net.shape(x))
    operands = (x, *(net.numbers(table) for table in tables))
    net.apply("STRIDED_SLICE", operands, result, net.like(x), "StridedSliceOptions", **masks)
    return True


def slice_of(
    chance: Random, shape: tuple[int, ...]
) -> tuple[list[int], list[int], tuple[int, ...]]:
    """Draw begin, size and the result's shape."""
    begin = [chance.choice((0, chance.randrange(extent))) for extent in shape]
    rest = [extent - first for extent, first in zip(shape, begin, strict=True)]
    result = tuple(chance.choice((each, chance.randint(1, each))) for each in rest)
    pairs = zip(rest, result, strict=True)
    size = [-1 if each == left and chance.random() < 0.5 else each for left, each in pairs]
    return begin, size, result


def strided_slice_of(
    chance: Random, shape: tuple[int, ...]
) -> tuple[list[list[int]], dict[str, int], tuple[int, ...]]:
    """Draw begin, end and strides, options, and the result's shape."""
    masks = {"BeginMask": 0, "EndMask": 0, "ShrinkAxisMask": 0}
    rows, result = [], []
    for at, extent in enumerate(shape):
        step = chance.choice((1, 1, 1, 2, 3, -1, -1, -2, -3))
        first, last = sorted(chance.choices(range(extent), k=2), reverse=step < 0)
        stop = last + (1 if step > 0 else -1)
        begin = first - extent * chance.randrange(2)
        end = stop - extent * chance.randrange(2) if 0 <= stop < extent else stop
        end = -extent - 1 - chance.randrange(9) if stop < 0 else end
        if chance.random() < 0.2:
            masks["BeginMask"] |= 1 << at
            begin, first = chance.randint(-9, 9), 0 if step > 0 else extent - 1
        if chance.random() < 0.2:
            masks["EndMask"] |= 1 << at
            end, stop = chance.randint(-9, 9), extent if step > 0 else -1
        if step > 0 and chance.random() < 0.15:
            masks["ShrinkAxisMask"] |= 1 << at
            end = chance.randint(-9, 9)
        else:
            result.append(len(range(first, stop, step)))
        rows.append((begin, end, step))
    return [list(table) for table in zip(*rows, strict=True)], masks, tuple(result)
