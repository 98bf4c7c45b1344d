# SPDX-License-Identifier: Apache-2.0
"""Which types the parts of an expression may have."""

from collections.abc import Iterator, Mapping

from atoll.ir.ranges import Range, range_of_type
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Dot,
    Execute,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Word,
)
from atoll.ir.statements import PrimFunc

_LOGICAL = (Operation.AND, Operation.OR, Operation.XOR, Operation.EQ, Operation.NE)


def type_faults(expr: Expr, functions: Mapping[str, PrimFunc]) -> Iterator[str]:  # noqa: C901 - a case for each kind
    """Yield what is wrong with `expr` itself; its parts are checked on their own.

    Args:
        expr: any expression.
        functions: those that may be called.
    """
    match expr:
        case Const(value, type):
            if not Range(value, value).within(range_of_type(type)):
                yield f"{value} is no {type}"
        case Load() if expr.index.type is not Type.I32:
            yield f"index of {expr} is an {expr.index.type}"
        case Binary():
            yield from _binary(expr)
        case Select():
            if expr.condition.type is not Type.I1:
                yield f"condition of {expr} is an {expr.condition.type}"
            if expr.then.type is not expr.otherwise.type:
                yield f"{expr} chooses between {expr.then.type} and {expr.otherwise.type}"
        case Cast():
            yield from _cast(expr)
        case Call():
            yield from _call(expr, functions)
        case Dot():
            if expr.start.type is not Type.I32 or expr.length < 1:
                yield f"{expr} adds {expr.length} products to an {expr.start.type}"
            if not expr.left.type is expr.right.type is Type.I8:
                yield f"{expr} multiplies {expr.left.type} and {expr.right.type}"
            if expr.align < 1 or expr.align & (expr.align - 1) or expr.length % expr.align:
                yield f"{expr} is not made of parts of {expr.align}"
        case Word():
            if expr.first.type is not Type.I8:
                yield f"{expr} is made of {expr.first.type}"
        case Execute():
            if not expr.a.type is expr.b.type is Type.I32:
                yield f"operands of {expr} are {expr.a.type} and {expr.b.type}"


def _binary(expr: Binary) -> Iterator[str]:
    if expr.left.type is not expr.right.type:
        yield f"operands of {expr} are {expr.left.type} and {expr.right.type}"
    elif expr.left.type is Type.I1 and expr.operation not in _LOGICAL:
        yield f"'{expr.operation}' cannot be applied to an i1"


def _cast(expr: Cast) -> Iterator[str]:
    source, widens = expr.value.type, expr.conversion is not Conversion.TRUNC
    if source.bits == expr.type.bits or (source.bits < expr.type.bits) is not widens:
        yield f"{expr} turns an {source} into an {expr.type}"
    elif source is Type.I1 and expr.conversion is Conversion.SEXT:
        yield f"{expr} takes the sign of an i1"


def _call(expr: Call, functions: Mapping[str, PrimFunc]) -> Iterator[str]:
    callee = functions.get(expr.function)
    if callee is None or callee.result is None:
        yield f"{expr} calls no scalar function that is defined before"
        return
    given = [argument.type for argument in expr.arguments]
    wanted = [parameter.type for parameter in callee.parameters]
    if given != wanted or expr.type is not callee.result:
        yield f"{expr} does not match the signature of '{callee.name}'"
