# SPDX-License-Identifier: Apache-2.0
"""Expressions with constants folded, so that lowerings need no special cases."""

from atoll.ir.arithmetic import convert, evaluate
from atoll.ir.tir import Binary, Cast, Const, Conversion, Expr, Operation, Select, Type

Operand = Expr | int

_RIGHT_IDENTITY = {
    Operation.ADD: 0,
    Operation.SUB: 0,
    Operation.MUL: 1,
    Operation.DIV: 1,
    Operation.SHL: 0,
    Operation.SHR: 0,
    Operation.OR: 0,
    Operation.XOR: 0,
}
_COMMUTES = (Operation.ADD, Operation.MUL, Operation.OR, Operation.XOR)


def binary(operation: Operation, left: Operand, right: Operand) -> Expr:
    """Apply `operation`; a Python integer takes the type of the other operand, or `I32`."""
    left, right = _unify_types(left, right)
    match left, right:
        case Const(), Const():
            value = evaluate(operation, left.value, right.value, left.type)
            return Const(value, Type.I1 if operation.compares else left.type)
        case Const(), _ if operation in _COMMUTES:
            left, right = right, left
    if isinstance(right, Const):
        if _RIGHT_IDENTITY.get(operation) == right.value:
            return left
        if operation is Operation.MUL and right.value == 0:
            return right
    return Binary(operation, left, right)


def _unify_types(left: Operand, right: Operand) -> tuple[Expr, Expr]:
    if isinstance(left, int):
        left = Const(left, Type.I32 if isinstance(right, int) else right.type)
    if isinstance(right, int):
        right = Const(right, left.type)
    assert left.type is right.type, f"{left} and {right} differ in type"
    return left, right


def add(*terms: Operand) -> Expr:
    """Sum at least one term."""
    total: Operand = 0 if isinstance(terms[0], int) else Const(0, terms[0].type)
    for term in terms:
        total = binary(Operation.ADD, total, term)
    return _unify_types(total, total)[0]


def subtract(left: Operand, right: Operand) -> Expr:
    """Return `left` - `right`."""
    return binary(Operation.SUB, left, right)


def multiply(left: Operand, right: Operand) -> Expr:
    """Return `left` * `right`."""
    return binary(Operation.MUL, left, right)


def minimum(left: Operand, right: Operand) -> Expr:
    """Return the smaller operand."""
    return binary(Operation.MIN, left, right)


def maximum(left: Operand, right: Operand) -> Expr:
    """Return the larger operand."""
    return binary(Operation.MAX, left, right)


def clamp(value: Operand, low: int, high: int) -> Expr:
    """Return the value of low..high that is nearest to `value`."""
    return minimum(maximum(value, low), high)


def select(condition: Expr, then: Operand, otherwise: Operand) -> Expr:
    """Choose by an `I1`."""
    then, otherwise = _unify_types(then, otherwise)
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    return Select(condition, then, otherwise)


def cast(value: Expr, type: Type) -> Expr:
    """Widen with the sign, or keep the low bits; an `I1` widens to 0 or 1."""
    if value.type is type:
        return value
    if value.type.bits > type.bits:
        conversion = Conversion.TRUNC
    else:
        conversion = Conversion.ZEXT if value.type is Type.I1 else Conversion.SEXT
    if isinstance(value, Const):
        return Const(convert(conversion, value.value, value.type, type), type)
    return Cast(conversion, value, type)
