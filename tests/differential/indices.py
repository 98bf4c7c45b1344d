# SPDX-License-Identifier: Apache-2.0
"""Look up what the network itself computes the places of, and shapes that it computes itself."""

from math import prod

import numpy as np
from tests.differential.moves import slice_of
from tests.differential.network import GREATEST_TENSOR, MOVED, MULTIPLIED, Network, Quantized
from tests.differential.rows import INT32
from tests.tflite_builder import Tensor

MOST_RANK = 5


def gather(net: Network) -> bool:
    """Add a GATHER with computed indices, at times from weights, as embeddings are."""
    x = net.table() if net.likely(0.3) else net.pick()
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    axis = net.chance.randrange(len(shape))
    indices = _places(net, (shape[axis],), MOST_RANK + 1 - len(shape))
    if indices is None:
        return False
    batch = net.chance.randint(0, axis) if net.shape(indices)[:axis] == shape[:axis] else 0
    further = net.shape(indices)[batch:]
    result = (*shape[:axis], *further, *shape[axis + 1 :])
    if prod(result) > GREATEST_TENSOR:
        return False
    options = {"Axis": axis - len(shape) * net.chance.randrange(2), "BatchDims": batch}
    net.apply("GATHER", (x, indices), result, net.like(x), "GatherOptions", **options)
    return True


def embedding(net: Network) -> bool:
    """Add an EMBEDDING_LOOKUP of a table or a value, with constant or computed indices."""
    x = net.pick() if net.likely(0.5) else None
    if x is None or len(net.shape(x)) < 2:
        shape = (net.chance.randint(1, 9), net.chance.randint(1, 9))
        x = net.constant(shape, net.quantization())
    rows = net.shape(x)[0]
    indices = _places(net, (rows,), 1) if net.likely(0.5) else None
    if indices is None or len(net.shape(indices)) != 1:
        indices = net.numbers([net.chance.randrange(rows) for _ in range(net.chance.randint(1, 5))])
    result = (*net.shape(indices), *net.shape(x)[1:])
    if prod(result) > GREATEST_TENSOR:
        return False
    net.apply("EMBEDDING_LOOKUP", (indices, x), result, net.like(x))
    return True


def updated(net: Network) -> bool:
    """Add a DYNAMIC_UPDATE_SLICE, which begins anywhere, with a part of the value or a constant."""
    x = net.pick(types=(*MULTIPLIED, "int32"))
    if x is None or not 1 <= len(net.shape(x)) <= MOST_RANK:
        return False
    begin, size, part = slice_of(net.chance, net.shape(x))
    if net.likely(0.5):
        operands = (x, net.numbers(begin), net.numbers(size))
        update = net.apply("SLICE", operands, part, net.like(x))
    else:
        update = net.constant(part, net.like(x))
    known = [n for n in net.known("int32") if net.shape(n) == (len(part),)]
    if known and net.likely(0.7):
        where = net.chance.choice(known)
    else:
        where = net.numbers([net.chance.randint(-2, extent + 1) for extent in net.shape(x)])
    net.apply("DYNAMIC_UPDATE_SLICE", (x, update, where), net.shape(x), net.like(x))
    return True


def gather_nd(net: Network) -> bool:
    """Add a GATHER_ND with computed indices; each has a number, or several."""
    x = net.pick()
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    count = net.chance.randint(1, min(len(shape), MOST_RANK))
    indices = _places(net, shape[:count], MOST_RANK - len(shape) + count)
    if indices is None:
        return False
    places = net.shape(indices)
    if places[-1:] != (count,):
        if count > 1:
            return False
        places = (*places, 1)
        indices = net.apply("RESHAPE", (indices, net.numbers(places)), places, INT32)
    result = (*places[:-1], *shape[count:])
    if prod(result) > GREATEST_TENSOR:
        return False
    net.apply("GATHER_ND", (x, indices), result, net.like(x))
    return True


def shape_of(net: Network) -> bool:
    """Add a SHAPE of any value."""
    x = net.pick(types=MOVED)
    if x is None or not net.shape(x):
        return False
    net.apply("SHAPE", (x,), (len(net.shape(x)),), INT32, "ShapeOptions", OutType=2)
    return True


def reshaped(net: Network) -> bool:
    """Add SHAPE, STRIDED_SLICE, PACK and RESHAPE as Keras exports them: [N, -1]."""
    x = net.pick(types=MOVED)
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    at = net.chance.randrange(len(shape))
    first = _extent(net, x, at)
    rest = net.add(Tensor(shape=(), dtype="int32", data=np.array(-1, np.int32)))
    turned = net.likely(0.3)
    operands = (rest, first) if turned else (first, rest)
    wanted = net.apply("PACK", operands, (2,), INT32, "PackOptions", ValuesCount=2)
    result = (shape[at], prod(shape) // shape[at])
    result = result[::-1] if turned else result
    net.apply("RESHAPE", (x, wanted), result, net.like(x))
    return True


def filled(net: Network) -> bool:
    """Add a FILL with a constant, a scalar, or an extent; TFLM takes only constant shapes."""
    x = net.pick(types=MOVED)
    if x is None or not net.shape(x):
        return False
    shape = net.shape(x)
    kind: Quantized = net.quantization() if net.likely(0.6) else INT32
    scalars = [n for n in net.known("int8", "int32") if not net.shape(n)]
    if scalars and net.likely(0.7):
        value = net.chance.choice(scalars)
    elif kind is INT32 and net.likely(0.5):
        value = _extent(net, x, net.chance.randrange(len(shape)))
    else:
        value = net.constant((), kind)
    net.apply("FILL", (net.numbers(shape), value), shape, net.like(value))
    return True


def _shape(net: Network, x: int) -> int:
    rank = len(net.shape(x))
    return net.apply("SHAPE", (x,), (rank,), INT32, "ShapeOptions", OutType=2)


def _extent(net: Network, x: int, at: int) -> int:
    """Add what takes one extent of a value from its shape."""
    bounds = (net.numbers([at]), net.numbers([at + 1]), net.numbers([1]))
    table, masks = "StridedSliceOptions", {"ShrinkAxisMask": 1}
    return net.apply("STRIDED_SLICE", (_shape(net, x), *bounds), (), INT32, table, **masks)


def _places(net: Network, extents: tuple[int, ...], most: int) -> int | None:
    """Add numbers within extents, the last dimension along these if there are several.

    They are what ARG_MAX finds in an axis that is no longer, truth values, or any numbers between
    bounds.
    """
    way = net.chance.randrange(3)
    found = None
    if way == 0 and len(extents) == 1:
        found = _greatest(net, extents[0])
    if way == 1 and min(extents) > 1 and (truth := net.pick(types=("bool",))) is not None:
        found = net.apply("CAST", (truth,), net.shape(truth), INT32)
    if found is None and (numbers := net.pick(types=("int32",))) is not None:
        several = net.shape(numbers)[-1:] == (len(extents),)
        most_of = [each - 1 for each in extents] if several else [min(extents) - 1]
        shape = net.shape(numbers) or (1,)
        low = net.apply("MAXIMUM", (numbers, net.numbers([0])), shape, INT32)
        found = net.apply("MINIMUM", (low, net.numbers(most_of)), shape, INT32)
    fits = found is not None and len(net.shape(found)) <= most
    return found if fits else None


def _greatest(net: Network, extent: int) -> int | None:
    fitting = [
        (number, axis)
        for number in net.known("int8")
        if len(net.shape(number)) <= 4
        for axis, side in enumerate(net.shape(number))
        if side <= extent
    ]
    if not fitting:
        return None
    x, axis = net.chance.choice(fitting)
    shape = net.shape(x)
    operands = (x, net.numbers(axis))
    return net.apply("ARG_MAX", operands, shape[:axis] + shape[axis + 1 :], INT32, "ArgMaxOptions")
