# SPDX-License-Identifier: Apache-2.0
"""Whole numbers computed from names: costs, values of registers, counts.

``40 + 3 * ceil(elements, data_bytes)``, with ``+ - * // % << >> & |``, ``min``, ``max``, ``ceil``
(the quotient, rounded up) and names such as ``elements`` or ``input1.address``.
"""

import ast
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from atoll.records import dataclass

LONGEST = 400
"""Characters of an expression at most; Atoll's own may put as many around one."""

MOST = 2**64
"""A value that is greater, of any part of an expression, is refused."""

_MOST_SHIFT = 63

Apply = Callable[[int, int], int]


def _quotient(left: int, right: int) -> int:
    return left // right


def _ceil(left: int, right: int) -> int:
    return -(-left // right)


def _shift_left(value: int, places: int) -> int:
    return value << places


def _right(value: int, places: int) -> int:
    return value >> places


_OPERATORS: Mapping[type[ast.operator], tuple[str, Apply]] = MappingProxyType(
    {
        ast.Add: ("+", lambda a, b: a + b),
        ast.Sub: ("-", lambda a, b: a - b),
        ast.Mult: ("*", lambda a, b: a * b),
        ast.FloorDiv: ("//", _quotient),
        ast.Mod: ("%", lambda a, b: a % b),
        ast.LShift: ("<<", _shift_left),
        ast.RShift: (">>", _right),
        ast.BitAnd: ("&", lambda a, b: a & b),
        ast.BitOr: ("|", lambda a, b: a | b),
    }
)
_FUNCTIONS: Mapping[str, Apply] = MappingProxyType({"min": min, "max": max, "ceil": _ceil})
_C_FUNCTIONS = MappingProxyType(
    {
        "min": "({0} < {1} ? {0} : {1})",
        "max": "({0} > {1} ? {0} : {1})",
        "ceil": "(({0} + {1} - 1u) / {1})",
        "//": "({0} / {1})",
    }
)


class ExpressionError(ValueError):
    """A text that is no expression, or an expression that has no value."""


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Name:
    """What the name stands for."""

    name: str


@dataclass(frozen=True, slots=True)
class Applied:
    """An operator such as ``+``, or a function such as ``min``, with its two arguments."""

    operation: str
    left: "Expression"
    right: "Expression"


Expression = Number | Name | Applied


@cache
def parse(text: str) -> Expression:
    """Read an expression.

    Raises:
        ExpressionError: it is none; the message completes "it".
    """
    if len(text) > 2 * LONGEST:
        raise ExpressionError(f"is longer than {LONGEST} characters")
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as fault:
        raise ExpressionError("is no expression such as '40 + 3 * elements'") from fault
    return _read(tree.body)


def _read(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=bool()):
            raise ExpressionError("has a truth value, which is not a number")
        case ast.Constant(value=int() as value):
            return Number(value)
        case ast.Name(id=name):
            return Name(name)
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return Name(f"{owner}.{name}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Applied("-", Number(0), _read(operand))
        case ast.BinOp(op=operation, left=left, right=right) if type(operation) in _OPERATORS:
            return Applied(_OPERATORS[type(operation)][0], _read(left), _read(right))
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]):
            if name in _FUNCTIONS:
                return Applied(name, _read(left), _read(right))
    shown = ast.unparse(node)
    remedy = "write '//' or 'ceil(a, b)'" if "/" in shown else "use + - * // % << >> & |"
    known = ", ".join(f"{name}(a, b)" for name in _FUNCTIONS)
    raise ExpressionError(f"has '{shown:.60}', which is not supported: {remedy}, {known}")


def names_of(expression: Expression) -> frozenset[str]:
    """Return the names that an expression has."""
    match expression:
        case Name(name):
            return frozenset({name})
        case Applied(_, left, right):
            return names_of(left) | names_of(right)
    return frozenset()


def value_of(expression: Expression, values: Mapping[str, int]) -> int:
    """Compute an expression.

    Raises:
        ExpressionError: it divides by 0, shifts too far, or is too large.
        KeyError: a name has no value.
    """
    match expression:
        case Number(value):
            return value
        case Name(name):
            return values[name]
        case Applied(operation, one, other):
            return _apply(operation, value_of(one, values), value_of(other, values))


_BY_WORD: Mapping[str, Apply] = MappingProxyType({**dict(_OPERATORS.values()), **_FUNCTIONS})


def _apply(operation: str, left: int, right: int) -> int:
    if operation in ("<<", ">>") and not 0 <= right <= _MOST_SHIFT:
        raise ExpressionError(f"shifts by {right}, which is not 0 to {_MOST_SHIFT}")
    try:
        value = _BY_WORD[operation](left, right)
    except ZeroDivisionError as fault:
        raise ExpressionError("divides by 0") from fault
    if abs(value) > MOST:
        raise ExpressionError("has a value of more than 64 bits")
    return value


def c_text(expression: Expression, names: Mapping[Expression, str]) -> str:
    """Write an expression in C, of ``uint32_t``.

    Args:
        expression: computed while the program runs; its values are not negative.
        names: what C has for parts of it, the names among them.
    """
    if expression in names:
        return names[expression]
    match expression:
        case Number(value):
            return f"{value & 0xFFFF_FFFF}u"
        case Applied(operation, left, right):
            form = _C_FUNCTIONS.get(operation, f"({{0}} {operation} {{1}})")
            return form.format(c_text(left, names), c_text(right, names))
    raise AssertionError(f"C has no name for {expression}")
