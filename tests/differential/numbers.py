# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on int32, quotients, and zeros, on top of what a network has."""

import numpy as np
from numpy.typing import NDArray
from tests.differential.elementwise import BROADCAST_RANK
from tests.differential.network import Network, Quantized, float32
from tests.tflite_builder import Operator, Tensor

TABLES = {"ADD": "AddOptions", "SUB": "SubOptions", "MUL": "MulOptions", "DIV": "DivOptions"}
CODES = (*TABLES, "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM")


def numbers(net: Network) -> bool:
    """Cast a value to int32, compute with constants and with itself, and cast the low bits back."""
    x = net.pick()
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    y = _apply(net, "CAST", (x,), x)
    for _ in range(net.chance.randint(1, 3)):
        code = net.chance.choice(CODES)
        other = net.numbers(_factors(net, net.shape(x)[-1:]))
        if code != "DIV" and net.likely(0.3):
            other = y
        operands = (y, other) if code == "DIV" or net.likely(0.5) else (other, y)
        y = _apply(net, code, operands, x)
    net.apply("CAST", (y,), net.shape(x), net.quantization())
    return True


def _factors(net: Network, shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Draw int32 values, none of them 0, for a DIV too."""
    rng = np.random.default_rng(net.chance.randrange(2**32))
    reach = net.chance.choice((5, 1000, 2**31 - 1))
    signs = rng.choice((-1, 1), shape)
    factors: NDArray[np.int64] = rng.integers(1, reach, shape, np.int64, endpoint=True) * signs
    return factors.astype(np.int32)


def _apply(net: Network, code: str, inputs: tuple[int, ...], like: int) -> int:
    """Add an operator with an int32 result, which only this step reads."""
    result = net.add(Tensor(shape=net.shape(like), dtype="int32"))
    options: dict[str, int] = {}
    if code in ("SUB", "MUL", "DIV"):
        options["FusedActivationFunction"] = net.chance.randrange(4)
    net.operators.append(
        Operator(
            code=code,
            inputs=inputs,
            outputs=(result,),
            table=TABLES.get(code, ""),
            options=options,
        )
    )
    return result


def quotient(net: Network) -> bool:
    """Add a DIV by a constant without zeros, with a factor that TFLM rounds."""
    x = net.pick()
    if x is None or len(net.shape(x)) > BROADCAST_RANK:
        return False
    divisor = net.fresh_quantization()
    scale = net.scale(x) / divisor["scales"][0] / 2 ** net.chance.uniform(6.01, 14)
    if not 1e-30 < scale < 1e30:
        return False
    (zero,) = divisor["zero_points"]
    values = net.random_values(net.shape(x)[-1:])
    values[values == zero] = zero + 1 if zero < 127 else zero - 1
    constant = net.add(Tensor(shape=values.shape, data=values, **divisor))
    result: Quantized = {
        "scales": (float32(scale),),
        "zero_points": (net.chance.randint(-128, 127),),
    }
    options = {"FusedActivationFunction": net.chance.randrange(4)}
    net.apply("DIV", (x, constant), net.shape(x), result, "DivOptions", **options)
    return True


def zeros(net: Network) -> bool:
    """Add a ZEROS_LIKE, or a cast of what BROADCAST_ARGS makes of the value's shape."""
    x = net.pick()
    if x is None or not 1 <= len(net.shape(x)) <= BROADCAST_RANK:
        return False
    if net.likely(0.5):
        net.apply("ZEROS_LIKE", (x,), net.shape(x), net.quantization())
        return True
    rank = len(net.shape(x))
    shape, wanted = (net.add(Tensor(shape=(rank,), dtype="int32")) for _ in range(2))
    options = {"OutType": 2}
    net.operators.append(
        Operator(code="SHAPE", inputs=(x,), outputs=(shape,), table="ShapeOptions", options=options)
    )
    ones = net.numbers([1] * net.chance.randint(1, rank))
    args = (shape, ones) if net.likely(0.5) else (ones, shape)
    net.operators.append(Operator(code="BROADCAST_ARGS", inputs=args, outputs=(wanted,)))
    net.apply("CAST", (wanted,), (rank,), net.quantization())
    return True
