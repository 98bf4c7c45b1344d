# SPDX-License-Identifier: Apache-2.0
"""Loops over the elements of a result, with the place of each in inputs that are broadcast."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from math import prod

from atoll.ir.expressions import add, multiply
from atoll.ir.tir import Const, Expr
from atoll.ops.kernel_builder import KernelBuilder

Shape = tuple[int, ...]


@contextmanager
def broadcast(
    builder: KernelBuilder, shapes: Sequence[Shape], result: Shape, neighbours: int
) -> Iterator[list[tuple[list[Expr], Expr]]]:
    """Loop over `result`: yield the index into each input and into the output.

    Of each element of an iteration: the innermost loop makes a few neighbours at once.
    """
    extents, steps = _merge_dimensions(shapes, result)
    places: list[Expr] = [Const(0)] * len(shapes)
    place: Expr = Const(0)
    most = len(extents) - 1
    at_once = _largest_divisor(extents[most], neighbours) if extents else 1
    with ExitStack() as nest:
        for level, (extent, step) in enumerate(zip(extents, steps, strict=True)):
            count = at_once if level == most else 1
            i = nest.enter_context(builder.loop(f"i{level}", 0, extent // count))
            inner = count * prod(extents[level + 1 :])
            place = builder.let(f"y{level}", add(place, multiply(i, inner)))
            places = [
                builder.let(f"x{level}", add(index, multiply(i, count * stride)))
                for index, stride in zip(places, step, strict=True)
            ]
        strides = steps[most] if steps else (0,) * len(shapes)
        yield [
            (
                [
                    add(index, number * stride)
                    for index, stride in zip(places, strides, strict=True)
                ],
                add(place, number),
            )
            for number in range(at_once)
        ]


def _largest_divisor(extent: int, most: int) -> int:
    return next(count for count in range(most, 0, -1) if extent % count == 0)


def _merge_dimensions(
    shapes: Sequence[Shape], result: Shape
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Join neighbouring dimensions that broadcast alike.

    Returns:
        Extent of each loop, outermost first, and how far each input moves per iteration.
    """
    padded = [(1,) * (len(result) - len(shape)) + shape for shape in shapes]
    counted = [d for d in range(len(result)) if result[d] > 1]

    def spread(d: int) -> tuple[bool, ...]:
        return tuple(shape[d] > 1 for shape in padded)

    groups = [(moves, list(dims)) for moves, dims in groupby(counted, key=spread)]
    extents = [prod(result[d] for d in dims) for _, dims in groups]
    steps = [
        tuple(
            prod(shape[dims[-1] + 1 :]) if moving else 0
            for moving, shape in zip(moves, padded, strict=True)
        )
        for moves, dims in groups
    ]
    return extents, steps
