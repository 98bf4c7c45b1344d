# SPDX-License-Identifier: Apache-2.0
"""Operators that work element by element."""

from dataclasses import replace

import numpy as np
from tests.drawn.drawing import Drawing, UnsuitableError
from tests.drawn.file import Value


def like(value: Value, **changes: object) -> Value:
    """Return a value like another one, of a run's numbers."""
    return replace(value, data=None, **changes)  # type: ignore[arg-type]


def shrunk(d: Drawing, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts to `shape`: some extents are 1, some in front left out."""
    kept = [1 if d.chance(0.3) else extent for extent in shape]
    return tuple(kept[d.number(0, len(kept) - 1) if d.chance(0.2) else 0 :])


def second(d: Drawing, x: int, own_grid: bool = True) -> tuple[int, tuple[int, ...]]:
    """Return another operand for `x`, and the shape of both together."""
    value = d.values[x]
    mates = [
        i
        for i in d.live
        if like(d.values[i]) == like(value)
        or (own_grid and (d.values[i].shape, d.values[i].dtype) == (value.shape, value.dtype))
    ]
    if d.chance(0.5):
        mate = d.one_of(mates)
    else:
        shape = shrunk(d, value.shape) if d.chance(0.6) else value.shape
        grid = d.grid(shape, value.dtype) if own_grid else like(value, shape=shape)
        mate = d.given(grid)
    return mate, np.broadcast_shapes(value.shape, d.values[mate].shape)


def arithmetic(d: Drawing) -> None:
    """ADD, SUB, MUL, SQUARED_DIFFERENCE: operands and result each on a grid."""
    code, table = d.one_of(
        (
            ("ADD", "AddOptions"),
            ("SUB", "SubOptions"),
            ("MUL", "MulOptions"),
            ("SQUARED_DIFFERENCE", ""),
        )
    )
    x = d.operand((*("int8",) * 3, "int16", "int32"), (1, 2, 3, 4))
    y, shape = second(d, x)
    operands = [x, y] if d.chance(0.5) else [y, x]
    clamp = {"FusedActivationFunction": d.one_of((0, 0, 1, 3))} if table else {}
    a, b = d.values[x], d.values[y]
    wide = None
    if a.scales:
        near = {"MUL": a.scale * b.scale * 100, "SQUARED_DIFFERENCE": (a.scale + b.scale) ** 2 * 50}
        wide = near.get(code, a.scale + b.scale) * float(np.exp(d.rng.normal(0, 0.5)))
    d.result(code, operands, [d.grid(shape, a.dtype, wide)], table, **clamp)


def extremes(d: Drawing) -> None:
    """MAXIMUM and MINIMUM: all on one grid."""
    x = d.operand(("int8", "int8", "int16", "int32", "int64"), (1, 2, 3, 4))
    y, shape = second(d, x, own_grid=False)
    code = d.one_of(("MAXIMUM", "MINIMUM"))
    d.result(code, [x, y], [like(d.values[x], shape=shape)], "MaximumMinimumOptions")


def comparison(d: Drawing) -> None:
    """The six comparisons, and logic on what they make."""
    x = d.operand(("int8", "int8", "int32", "int64"), (1, 2, 3, 4))
    y, shape = second(d, x)
    names = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
    d.result(d.one_of(names), [x, y], [Value(shape=shape, dtype="bool")])


def logic(d: Drawing) -> None:
    """AND, OR, NOT."""
    x = d.operand(("bool",), (1, 2, 3, 4))
    if d.chance(0.4):
        d.result("LOGICAL_NOT", [x], [like(d.values[x])])
        return
    y, shape = second(d, x, own_grid=False)
    d.result(d.one_of(("LOGICAL_AND", "LOGICAL_OR")), [x, y], [like(d.values[x], shape=shape)])


def choice(d: Drawing) -> None:
    """SELECT_V2 of two values on one grid."""
    x = d.operand(("int8", "int16"), (1, 2, 3, 4))
    y, shape = second(d, x, own_grid=False)
    condition = d.given(Value(shape=shrunk(d, shape), dtype="bool"))
    whole = np.broadcast_shapes(shape, d.values[condition].shape)
    d.result("SELECT_V2", [condition, x, y], [like(d.values[x], shape=whole)])


_CURVES = {
    "LOGISTIC": {"int8": (1 / 256, -128), "int16": (1 / 32768, 0)},
    "TANH": {"int8": (1 / 128, 0), "int16": (1 / 32768, 0)},
}


def curve(d: Drawing) -> None:
    """LOGISTIC and TANH, whose result has one grid."""
    x = d.operand(suits=lambda value: value.dtype == "int8" or value.scale < 2.5)
    code = d.one_of(tuple(_CURVES))
    value = d.values[x]
    scale, zero = _CURVES[code][value.dtype]
    d.result(code, [x], [like(value, scales=(scale,), zero_points=(zero,))])


def rectifier(d: Drawing) -> None:
    """RELU, RELU6, LEAKY_RELU, HARD_SWISH, ABS, ELU."""
    code = d.one_of(("RELU", "RELU6", "LEAKY_RELU", "HARD_SWISH", "ABS", "ELU"))
    x = d.operand(("int8",) if code in ("HARD_SWISH", "ELU") else ("int8", "int16"))
    value = d.values[x]
    result = like(value)
    if code != "RELU6" and not d.chance(0.2):
        near = value.scale * float(np.exp(d.rng.normal(0, 0.4)))
        result = d.grid(value.shape, value.dtype, near)
    if code == "LEAKY_RELU":
        alpha = float(np.float32(d.rng.uniform(0, 1.2)))
        d.result(code, [x], [result], "LeakyReluOptions", Alpha=alpha)
    else:
        d.result(code, [x], [result])


def slopes(d: Drawing) -> None:
    """PRELU with one slope for each channel, or for each place."""
    x = d.operand(("int8",), (2, 3, 4))
    value = d.values[x]
    shape = value.shape[1:] if d.chance(0.3) else (*(1,) * (len(value.shape) - 2), value.shape[-1])
    alpha = d.grid(shape, "int8")
    slope = d.add_constant(replace(alpha, data=d.numbers(shape, "int8")))
    near = value.scale * float(np.exp(d.rng.normal(0, 0.5)))
    d.result("PRELU", [x, slope], [d.grid(value.shape, "int8", near)])


def requantised(d: Drawing) -> None:
    """QUANTIZE between types and grids."""
    x = d.operand()
    value = d.values[x]
    near = value.scale * float(np.exp(d.rng.normal(0, 1)))
    if value.dtype == "int8" and d.chance(0.3):
        result = d.grid(value.shape, "int16", near / 128)
    elif value.dtype == "int16" and d.chance(0.6):
        result = d.grid(value.shape, "int8", near * 128)
    else:
        result = d.grid(value.shape, value.dtype, near)
    d.result("QUANTIZE", [x], [result])


def cast(d: Drawing) -> None:
    """CAST between plain numbers."""
    x = d.operand(("int8", "int16", "int32", "bool"), (1, 2, 3, 4))
    value = d.values[x]
    dtype = d.one_of(("int8", "int16", "int32"))
    if dtype == value.dtype:
        raise UnsuitableError
    grid = d.grid(value.shape, dtype)
    d.result("CAST", [x], [grid], "CastOptions")


def zeros(d: Drawing) -> None:
    """ZEROS_LIKE."""
    x = d.operand(("int8", "int32", "int64"))
    d.result("ZEROS_LIKE", [x], [like(d.values[x])])


def several(d: Drawing) -> None:
    """ADD_N."""
    x = d.operand(("int8",))
    value = d.values[x]
    more = [d.given(like(value)) for _ in range(d.number(1, 3))]
    near = value.scale * (1 + len(more))
    d.result("ADD_N", [x, *more], [d.grid(value.shape, "int8", near)])


def inverse_root(d: Drawing) -> None:
    """RSQRT of what is not negative."""
    x = d.given(Value(shape=d.shape(2), dtype="int8", scales=(d.scale(),), zero_points=(-128,)))
    scale = float(np.float32(0.02 / np.sqrt(d.values[x].scale) / np.exp(d.rng.random())))
    d.result("RSQRT", [x], [d.grid(d.values[x].shape, "int8", scale)])
