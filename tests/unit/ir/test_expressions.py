# SPDX-License-Identifier: Apache-2.0
"""Constants fold, names stay unique, and what cannot fold keeps its form."""

import pytest

from atoll.ir.arithmetic import convert, evaluate, wrap
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, binary, cast, maximum, multiply, select, subtract
from atoll.ir.tir import Const, Conversion, Direction, Expr, Operation, Type, Var

X = Var("x")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (add(X, 0), "x"),
        (add(0, X), "x"),
        (multiply(X, 1), "x"),
        (multiply(1, X), "x"),
        (multiply(X, 0), "0"),
        (add(2, 3), "5"),
        (subtract(X, 0), "x"),
        (subtract(0, X), "(0 - x)"),
        (add(X, 1, X), "((x + 1) + x)"),
        (maximum(3, -4), "3"),
        (binary(Operation.LT, 3, 4), "1:i1"),
        (select(Const(1, Type.I1), X, 4), "x"),
        (cast(Const(-1), Type.I64), "-1:i64"),
        (cast(Const(300), Type.I8), "44:i8"),
        (cast(binary(Operation.LT, X, 4), Type.I32), "zext.i32((x < 4))"),
        (add(Const(2**31 - 1), 1), "-2147483648"),
    ],
)
def test_folding(expr: Expr, text: str) -> None:
    assert str(expr) == text


@pytest.mark.parametrize(
    ("operation", "left", "right", "expected"),
    [
        (Operation.DIV, -7, 2, -3),
        (Operation.REM, -7, 2, -1),
        (Operation.SHR, -7, 1, -4),
        (Operation.SHL, 1, 31, -(2**31)),
        (Operation.SHL, 1, 33, 2),
        (Operation.MUL, 2**30, 4, 0),
        (Operation.MIN, -1, 1, -1),
    ],
)
def test_arithmetic_wraps(operation: Operation, left: int, right: int, expected: int) -> None:
    assert evaluate(operation, left, right, Type.I32) == expected


def test_conversions() -> None:
    assert convert(Conversion.ZEXT, -1, Type.I8, Type.I32) == 255
    assert convert(Conversion.SEXT, -1, Type.I8, Type.I32) == -1
    assert convert(Conversion.TRUNC, 200, Type.I32, Type.I8) == -56
    assert wrap(3, Type.I1) == 1


def test_operands_of_two_types_are_our_bug() -> None:
    with pytest.raises(AssertionError, match="differ in type"):
        add(X, Var("y", Type.I8))


def test_builder_names_and_loops() -> None:
    builder = FunctionBuilder("f")
    x = builder.buffer("x", Type.I8, 4, Direction.BOTH)
    with builder.loop("i", 0, 2) as i, builder.loop("i", 2, 3) as j:
        assert j == Const(2)
        first, second = builder.let("v", add(i, 1)), builder.let("v", add(i, 2))
        assert builder.let("v", first) == first
        x[second] = x[first]
    assert str(builder.kernel()) == (
        "function @f(x: i8[4] readwrite) {\n"
        "  for i in 0 .. 2 {\n"
        "    let v = (i + 1)\n"
        "    let v_2 = (i + 2)\n"
        "    x[v_2] = x[v]\n"
        "  }\n"
        "}\n"
    )
