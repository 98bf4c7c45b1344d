# SPDX-License-Identifier: Apache-2.0
"""A network for tests that has each elementwise kind that `tests/tflite_samples.py` has not."""

from types import ModuleType
from typing import Any

from tests.operator_samples import SCALE, Tree

SHAPE = (1, 6, 6, 8)
LOGISTIC: dict[str, Any] = {"scales": (1 / 256,), "zero_points": (-128,)}
WIDE = 2.0**-12
TANH: dict[str, Any] = {"scales": (1 / 128,), "zero_points": (0,)}


def elements(builder: ModuleType) -> Any:
    """Make a network of elementwise kinds."""
    tree = Tree(builder)
    x = tree.add(SHAPE, **SCALE)
    other = _curves(tree, x)
    _pairs(tree, x, other)
    _truths(tree, x, other)
    return tree.model()


def _curves(tree: Tree, x: int) -> int:
    """Add each kind of one operand, and return the last result quantised as the input."""
    for code in ("ELU", "HARD_SWISH", "RELU", "RELU6", "RSQRT"):
        tree.apply(code, (x,), tree.add(SHAPE, **SCALE))
    tree.apply("LEAKY_RELU", (x,), tree.add(SHAPE, **SCALE), "LeakyReluOptions", Alpha=0.25)
    tree.apply("LOGISTIC", (x,), tree.add(SHAPE, **LOGISTIC))
    tree.apply("TANH", (x,), tree.add(SHAPE, **TANH))
    for code in ("EXP", "LOG"):
        tree.apply(code, (x,), tree.add(SHAPE, **SCALE))
    tree.apply("GELU", (x,), tree.add(SHAPE, **SCALE), "GeluOptions", Approximate=False)
    real = tree.apply("DEQUANTIZE", (x,), tree.add(SHAPE, dtype="float32"))
    real = tree.apply("SIN", (real,), tree.add(SHAPE, dtype="float32"))
    tree.apply("QUANTIZE", (real,), tree.add(SHAPE, **TANH))
    return tree.apply("ABS", (x,), tree.add(SHAPE, **SCALE))


def _pairs(tree: Tree, x: int, other: int) -> None:
    """Add each kind of two operands."""
    alpha = tree.weights((1, 1, 8))
    tree.apply("PRELU", (x, alpha), tree.add(SHAPE, **SCALE))
    tree.apply("SUB", (x, alpha), tree.add(SHAPE, **SCALE), "SubOptions")
    for code in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        tree.apply(code, (x, other), tree.add(SHAPE, **SCALE))
    tree.apply("DIV", (x, alpha), tree.add(SHAPE, **SCALE), "DivOptions")
    tree.apply("ADD_N", (x, other, x), tree.add(SHAPE, **SCALE))


def _truths(tree: Tree, x: int, other: int) -> None:
    """Add what makes and takes truth values."""
    y = tree.weights((8,))
    codes = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
    truths = [tree.apply(code, (x, y), tree.add(SHAPE, dtype="bool")) for code in codes]
    for code, pair in (("LOGICAL_AND", truths[:2]), ("LOGICAL_OR", truths[2:4])):
        tree.apply(code, (pair[0], pair[1]), tree.add(SHAPE, dtype="bool"))
    away = tree.apply("LOGICAL_NOT", (truths[4],), tree.add(SHAPE, dtype="bool"))
    tree.apply("CAST", (away,), tree.add(SHAPE, dtype="int32"))
    tree.apply("SELECT_V2", (truths[5], x, other), tree.add(SHAPE, **SCALE))


def _numbers(tree: Tree, x: int) -> None:
    """Add arithmetic on int32."""
    y, *numbers = (tree.apply("CAST", (each,), tree.add(SHAPE, dtype="int32")) for each in (x, x))
    constant = tree.numbers(*range(-4, 4))
    for code in ("ADD", "SUB", "MUL", "DIV"):
        table = f"{code.title()}Options"
        y = tree.apply(code, (y, constant), tree.add(SHAPE, dtype="int32"), table)
    tree.apply("SQUARED_DIFFERENCE", (y, numbers[0]), tree.add(SHAPE, dtype="int32"))


def wide_elements(builder: ModuleType) -> Any:
    """Make a network of elementwise kinds on int16 and int32."""
    tree = Tree(builder)
    x = tree.add(SHAPE, **SCALE)
    wide = tree.apply("QUANTIZE", (x,), _wide(tree))
    tree.apply("RELU6", (wide,), _wide(tree))
    for code in ("LOGISTIC", "RELU", "RSQRT", "TANH"):
        scale = 2.0**-15 if code in ("LOGISTIC", "TANH") else 0.0003
        tree.apply(code, (wide,), _wide(tree, scale))
    other = tree.apply("ABS", (wide,), _wide(tree))
    tree.apply("LEAKY_RELU", (wide,), _wide(tree, 0.0003), "LeakyReluOptions", Alpha=0.25)
    for code in ("ADD", "SUB", "MUL"):
        tree.apply(code, (wide, other), _wide(tree, 0.0003), f"{code.title()}Options")
    for code in ("MAXIMUM", "SQUARED_DIFFERENCE"):
        tree.apply(code, (wide, other), _wide(tree))
    tree.apply("PRELU", (wide, tree.weights((8,))), _wide(tree))
    for source, scale, zero in ((x, 2.0**-16, -(2**15)), (wide, 2.0**-15, 0)):
        shares = tree.add(SHAPE, dtype="int16", scales=(scale,), zero_points=(zero,))
        tree.apply("SOFTMAX", (source,), shares, "SoftmaxOptions", Beta=1.0)
    tree.apply("QUANTIZE", (wide,), tree.add(SHAPE, **SCALE))
    _numbers(tree, x)
    return tree.model()


def _wide(tree: Tree, scale: float = WIDE) -> int:
    return tree.add(SHAPE, dtype="int16", scales=(scale,), zero_points=(0,))
