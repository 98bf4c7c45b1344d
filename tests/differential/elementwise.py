# SPDX-License-Identifier: Apache-2.0
"""Operators without weights, on top of what a network has."""

from math import prod

import numpy as np
from tests.differential.network import (
    GREATEST_TENSOR,
    MOVED,
    MULTIPLIED,
    SHARES,
    Network,
    Quantized,
)

BROADCAST_RANK, PADDED_RANK = 6, 5
"""TFLM broadcasts and pads tensors of at most so many dimensions."""


IMAGE_RANK = 4
GREATEST_SHARED = 511
"""TFLM ends the process where exponentials of int8 add up to 512 or more."""

WIDE_SHARES: Quantized = {"dtype": "int16", "scales": (2.0**-15,), "zero_points": (0,)}
FINE_SHARES: Quantized = {"dtype": "int16", "scales": (2.0**-16,), "zero_points": (-(2**15),)}


def binary(net: Network) -> bool:
    """Add an ADD, MUL or SUB of values, constants and new inputs, broadcast or not."""
    x = net.pick(types=MULTIPLIED)
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    other = partner(net, x)
    shape = np.broadcast_shapes(net.shape(x), net.shape(other))
    if prod(shape) > GREATEST_TENSOR:
        return False
    operands = (x, other) if net.likely(0.5) else (other, x)
    code = net.chance.choice(("ADD", "ADD", "MUL", "MUL", "SUB"))
    options = {"FusedActivationFunction": net.chance.randrange(4)}
    result = net.quantization(net.dtype(x))
    net.apply(code, operands, shape, result, f"{code.title()}Options", **options)
    return True


def partner(net: Network, x: int) -> int:
    """Choose what to combine with `x`: itself, another value, a constant, or a new input."""
    choice = net.chance.random()
    if choice < 0.15:
        return x
    dtype = net.dtype(x)
    known = (n for n in net.known(dtype) if n != x)
    fitting = [n for n in known if broadcasts(net.shape(n), net.shape(x))]
    if fitting and choice < 0.6:
        return net.chance.choice(fitting)
    shape, quantization = _narrowed(net, net.shape(x)), net.plain_or_quantized(dtype)
    if choice < 0.9 or not net.few_inputs(3) or dtype == "bool":
        return net.constant(shape, quantization)
    return net.input(shape, quantization)


def broadcasts(first: tuple[int, ...], second: tuple[int, ...]) -> bool:
    """Tell whether two shapes broadcast as TFLM does it."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    ranks = max(len(first), len(second)) <= BROADCAST_RANK
    return ranks and all(a == b or 1 in (a, b) for a, b in pairs)


def _narrowed(net: Network, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Give some dimensions the extent 1 and drop some leading ones, or do nothing."""
    if net.likely(0.4) or not shape:
        return shape
    narrowed = tuple(1 if net.likely(0.4) else extent for extent in shape)
    return narrowed[net.chance.randrange(len(shape)) :]


def quantize(net: Network) -> bool:
    """Add a QUANTIZE from int8 to int8."""
    x = net.pick()
    if x is None:
        return False
    net.apply("QUANTIZE", (x,), net.shape(x), net.quantization())
    return True


def retyped(net: Network) -> bool:
    """Add a QUANTIZE to the other type that is multiplied, now and then by way of int32."""
    x = net.pick(types=MULTIPLIED)
    if x is None:
        return False
    shape, other = net.shape(x), "int8" if net.dtype(x) == "int16" else "int16"
    if net.likely(0.2):
        x = net.apply("QUANTIZE", (x,), shape, net.fresh_quantization("int32"))
        net.values.remove(x)  # what reads int32 takes it for plain numbers
    net.apply("QUANTIZE", (x,), shape, net.quantization(other))
    return True


def another_input(net: Network) -> bool:
    """Add an input of 16 bits, of plain numbers, or of truths; this is no operator."""
    if not net.few_inputs(3):
        return False
    x = net.chance.choice(net.values)
    dtype = net.chance.choice(("int16", "int16", "int32", "bool"))
    net.input(net.shape(x), net.plain_or_quantized(dtype))
    return False


def add_n(net: Network) -> bool:
    """Add an ADD_N of values of one shape that are quantised alike."""
    x = net.pick()
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    alike = [
        n for n in net.known("int8") if net.shape(n) == net.shape(x) and net.like(n) == net.like(x)
    ]
    operands = [x, *net.chance.choices(alike, k=net.chance.randint(1, 4))]
    net.apply("ADD_N", tuple(operands), net.shape(x), net.quantization(), "AddNOptions")
    return True


def softmax(net: Network) -> bool:
    """Add a SOFTMAX of either type, or from int8 to int16."""
    x = net.pick(types=MULTIPLIED)
    if x is None or not net.shape(x) or len(net.shape(x)) > BROADCAST_RANK:
        return False
    if net.dtype(x) == "int8" and net.shape(x)[-1] > GREATEST_SHARED:
        return False
    result = SHARES if net.dtype(x) == "int8" else WIDE_SHARES
    finer = net.dtype(x) == "int8" and net.likely(0.1)
    result = FINE_SHARES if finer else result
    beta = net.chance.choice((1.0, 0.5, 3.25))
    y = net.apply("SOFTMAX", (x,), net.shape(x), result, "SoftmaxOptions", Beta=beta)
    if finer:
        net.values.remove(y)  # what reads int16 wants a zero point of 0
    return True


def mean(net: Network) -> bool:
    """Add a MEAN; axes may be negative and in any order."""
    x = net.pick(types=MULTIPLIED)
    if x is None or not 1 <= len(net.shape(x)) <= BROADCAST_RANK:
        return False
    shape = net.shape(x)
    rank = len(shape)
    axes = net.chance.sample(range(rank), net.chance.randint(1, rank))
    if rank == IMAGE_RANK and net.likely(0.4):
        axes = [1, 2]
    keep = net.likely(0.5)
    result = tuple(1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)
    table = net.numbers([axis - rank * net.chance.randrange(2) for axis in axes])
    scale = net.like(x) if net.likely(0.3) else net.quantization(net.dtype(x))
    net.apply("MEAN", (x, table), result, scale, "ReducerOptions", KeepDims=keep)
    return True


def pad(net: Network) -> bool:
    """Add a PAD, perhaps of nothing."""
    x = net.pick(types=(*MULTIPLIED, "int32"))
    if x is None or not 1 <= len(net.shape(x)) <= PADDED_RANK:
        return False
    shape = net.shape(x)
    pairs = [(net.chance.choice((0, 0, 1, 2)), net.chance.choice((0, 0, 1))) for _ in shape]
    result = tuple(extent + sum(pair) for extent, pair in zip(shape, pairs, strict=True))
    if prod(result) > GREATEST_TENSOR:
        return False
    table = net.numbers(pairs)  # TFLM takes int64 ones for int32 and reads zeros between them
    net.apply("PAD", (x, table), result, net.like(x))
    return True


def concatenation(net: Network) -> bool:
    """Add a CONCATENATION of one to four values and constants that are quantised alike."""
    x = net.pick(types=MOVED)
    if x is None or not 1 <= len(net.shape(x)) <= BROADCAST_RANK:
        return False
    shape, quantization = net.shape(x), net.like(x)
    axis = net.chance.randrange(len(shape))
    fitting = [n for n in net.values if _joins(net, n, x, axis)]
    operands = [x]
    for _ in range(net.chance.randrange(4)):
        longer = (*shape[:axis], net.chance.randint(1, 4), *shape[axis + 1 :])
        known = net.likely(0.8)
        operands.append(net.chance.choice(fitting) if known else net.constant(longer, quantization))
    net.chance.shuffle(operands)
    result = (*shape[:axis], sum(net.shape(n)[axis] for n in operands), *shape[axis + 1 :])
    if prod(result) > GREATEST_TENSOR:
        return False
    options = {"Axis": axis - len(shape) * net.chance.randrange(2)}
    net.apply(
        "CONCATENATION", tuple(operands), result, quantization, "ConcatenationOptions", **options
    )
    return True


def _joins(net: Network, number: int, x: int, axis: int) -> bool:
    """Tell whether a value can be joined with `x` along `axis`."""
    first, second = net.shape(number), net.shape(x)
    fits = first[:axis] + first[axis + 1 :] == second[:axis] + second[axis + 1 :]
    return len(first) == len(second) and fits and net.like(number) == net.like(x)


def reshape(net: Network) -> bool:
    """Add a RESHAPE of a value, or now and then of a constant, with or without a shape operand."""
    x = net.pick(types=MOVED)
    if x is None:
        return False
    if net.likely(0.05):
        x = net.constant(net.shape(x), net.plain_or_quantized(net.dtype(x)))
    elif net.likely(0.05) and (table := net.table()) is not None:
        x = table
    result = _regrouped(net, prod(net.shape(x)))
    wanted = list(result)
    if wanted and net.likely(0.3):
        wanted[net.chance.randrange(len(wanted))] = -1
    if net.likely(0.6):
        net.apply("RESHAPE", (x, net.numbers(wanted)), result, net.like(x))
    else:
        net.apply("RESHAPE", (x,), result, net.like(x), "ReshapeOptions")
    return True


def _regrouped(net: Network, elements: int) -> tuple[int, ...]:
    """Split a number of elements over one to four dimensions, rarely more."""
    extents = []
    for _ in range(net.chance.choice((0, 1, 2, 3, 3, 3, 5))):
        divisors = [d for d in range(1, min(elements, 40) + 1) if elements % d == 0]
        extents.append(net.chance.choice(divisors))
        elements //= extents[-1]
    extents.append(elements)
    net.chance.shuffle(extents)
    return tuple(extents)
