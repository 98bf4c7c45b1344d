# SPDX-License-Identifier: Apache-2.0
"""Which values an integer expression can take: intervals that always hold the value."""

from collections.abc import Mapping

from atoll.ir.arithmetic import divide
from atoll.ir.scalars import Binary, Cast, Const, Conversion, Expr, Operation, Select, Type, Var
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Range:
    """All integers from `low` through `high`."""

    low: int
    high: int

    def join(self, other: "Range") -> "Range":
        """Return the least range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def within(self, other: "Range") -> bool:
        """Tell whether `other` holds all of this range."""
        return other.low <= self.low and self.high <= other.high


Ranges = Mapping[str, Range]


def range_of_type(type: Type) -> Range:
    """Return all values of a type."""
    if type is Type.I1:
        return Range(0, 1)
    return Range(-(1 << (type.bits - 1)), (1 << (type.bits - 1)) - 1)


def range_of(expr: Expr, ranges: Ranges) -> Range:
    """Return a range that holds every value of `expr`.

    Args:
        expr: well-typed.
        ranges: of variables; others may have any value of their type.
    """
    everything = range_of_type(expr.type)
    found = _exact(expr, ranges)
    return found if found is not None and found.within(everything) else everything


def never_wraps(expr: Expr, ranges: Ranges) -> bool:
    """Tell whether the exact result of `expr` is surely a value of its type."""
    found = _exact(expr, ranges)
    return found is not None and found.within(range_of_type(expr.type))


def _exact(expr: Expr, ranges: Ranges) -> Range | None:
    """Return the range before wrapping, None if nothing is known."""
    match expr:
        case Const(value):
            return Range(value, value)
        case Var(name):
            return ranges.get(name)
        case Select():
            return range_of(expr.then, ranges).join(range_of(expr.otherwise, ranges))
        case Cast():
            source = range_of(expr.value, ranges)
            return None if expr.conversion is Conversion.ZEXT and source.low < 0 else source
        case Binary():
            left, right = range_of(expr.left, ranges), range_of(expr.right, ranges)
            return _binary(expr.operation, left, right, expr.type)
    return None


def _binary(operation: Operation, a: Range, b: Range, type: Type) -> Range | None:
    match operation:
        case Operation.ADD:
            return Range(a.low + b.low, a.high + b.high)
        case Operation.SUB:
            return Range(a.low - b.high, a.high - b.low)
        case Operation.MUL:
            return _hull([x * y for x in (a.low, a.high) for y in (b.low, b.high)])
        case Operation.MIN:
            return Range(min(a.low, b.low), min(a.high, b.high))
        case Operation.MAX:
            return Range(max(a.low, b.low), max(a.high, b.high))
        case Operation.DIV if b.low > 0:
            return _hull([divide(x, y) for x in (a.low, a.high) for y in (b.low, b.high)])
        case Operation.REM if b.low > 0 and a.low >= 0:
            return Range(0, min(a.high, b.high - 1))
        case Operation.AND if b.low >= 0:
            return Range(0, b.high)
        case Operation.SHR if b.low >= 0 and b.high < type.bits:
            return _hull([x >> y for x in (a.low, a.high) for y in (b.low, b.high)])
        case Operation.SHL if b.low >= 0 and b.high < type.bits:
            return _hull([x << y for x in (a.low, a.high) for y in (b.low, b.high)])
    return None


def _hull(corners: list[int]) -> Range:
    return Range(min(corners), max(corners))
