# SPDX-License-Identifier: Apache-2.0
"""Operators that reduce axes or work along one, on top of what a network has."""

from collections.abc import Sequence

from tests.differential.network import MULTIPLIED, Network, Quantized

INT32: Quantized = {"dtype": "int32"}
RANK = 4
"""TFLM reduces and normalises tensors of at most so many dimensions."""

UNIT: Quantized = {"scales": (1 / 128,), "zero_points": (0,)}
LOGARITHMS: Quantized = {"scales": (1 / 16,), "zero_points": (127,)}
LEAST_SCALE, GREATEST_SCALE = 1e-4, 1e4
"""TFLM aborts where a factor of CUMSUM or LOG_SOFTMAX is no fraction."""


def reduction(net: Network) -> bool:
    """Add a SUM, REDUCE_MAX, REDUCE_MIN or REDUCE_ALL; axes may be negative and in any order."""
    code = net.chance.choice(("SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_ALL"))
    x = _value(net, {"SUM": MULTIPLIED, "REDUCE_ALL": ("bool",)}.get(code, ("int8",)))
    if x is None:
        return False
    shape, rank = net.shape(x), len(net.shape(x))
    axes = net.chance.sample(range(rank), net.chance.randint(1, rank))
    keep = net.likely(0.5)
    result = tuple(1 if at in axes else n for at, n in enumerate(shape) if keep or at not in axes)
    written = [axis - rank * net.chance.randrange(2) for axis in axes]
    table = net.numbers(
        written[0] if rank > 1 and written[1:] == [] and net.likely(0.3) else written
    )
    scale = net.quantization(net.dtype(x)) if code == "SUM" else net.like(x)
    net.apply(code, (x, table), result, scale, "ReducerOptions", KeepDims=keep)
    return True


def extreme(net: Network) -> bool:
    """Add an ARG_MAX or ARG_MIN, whose result is int32."""
    x = _value(net)
    if x is None:
        return False
    shape, axis = net.shape(x), net.chance.randrange(len(net.shape(x)))
    table = net.numbers(axis - len(shape) * net.chance.randrange(2))
    result = shape[:axis] + shape[axis + 1 :]
    code = net.chance.choice(("ARG_MAX", "ARG_MIN"))
    net.apply(code, (x, table), result, INT32, f"{code.title().replace('_', '')}Options")
    return True


def cumsum(net: Network) -> bool:
    """Add a CUMSUM."""
    x = _value(net)
    result = net.quantization()
    if x is None or not _usual(net.scale(x)) or not _usual(result["scales"][0]):
        return False
    rank = len(net.shape(x))
    axis = net.chance.randrange(-rank, rank)
    options = {"Exclusive": net.likely(0.5), "Reverse": net.likely(0.5)}
    operands = (x, net.numbers(axis))
    net.apply("CUMSUM", operands, net.shape(x), result, "CumsumOptions", **options)
    return True


def normalization(net: Network) -> bool:
    """Add an L2_NORMALIZATION or a LOG_SOFTMAX."""
    x = _value(net)
    if x is None or not _usual(net.scale(x)):
        return False
    if net.likely(0.5):
        net.apply("L2_NORMALIZATION", (x,), net.shape(x), UNIT, "L2NormOptions")
    else:
        net.apply("LOG_SOFTMAX", (x,), net.shape(x), LOGARITHMS, "LogSoftmaxOptions")
    return True


def _value(net: Network, types: Sequence[str] = ("int8",)) -> int | None:
    x = net.pick(types=types)
    return x if x is not None and 1 <= len(net.shape(x)) <= RANK else None


def _usual(scale: float) -> bool:
    return LEAST_SCALE < scale < GREATEST_SCALE
