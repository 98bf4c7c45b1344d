# SPDX-License-Identifier: Apache-2.0
"""What the operations of the loop program compute, on Python integers."""

from collections.abc import Callable

from atoll.ir.tir import Conversion, Operation, Type


def wrap(value: int, type: Type) -> int:
    """Return `value` modulo 2^bits, in the signed range of `type` (0 or 1 for `I1`)."""
    if type is Type.I1:
        return value & 1
    half = 1 << (type.bits - 1)
    return ((value + half) & (2 * half - 1)) - half


def divide(dividend: int, divisor: int) -> int:
    """Divide, truncating toward zero as C does."""
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


_EXACT: dict[Operation, Callable[[int, int], int]] = {
    Operation.ADD: lambda a, b: a + b,
    Operation.SUB: lambda a, b: a - b,
    Operation.MUL: lambda a, b: a * b,
    Operation.DIV: divide,
    Operation.REM: lambda a, b: a - divide(a, b) * b,
    Operation.AND: lambda a, b: a & b,
    Operation.OR: lambda a, b: a | b,
    Operation.XOR: lambda a, b: a ^ b,
    Operation.MIN: min,
    Operation.MAX: max,
    Operation.LT: lambda a, b: int(a < b),
    Operation.LE: lambda a, b: int(a <= b),
    Operation.EQ: lambda a, b: int(a == b),
    Operation.NE: lambda a, b: int(a != b),
}


def evaluate(operation: Operation, left: int, right: int, type: Type) -> int:
    """Apply `operation` to two values of `type`; a comparison gives 0 or 1."""
    amount = right % type.bits
    match operation:
        case Operation.SHL:
            return wrap(left << amount, type)
        case Operation.SHR:
            return left >> amount
    exact = _EXACT[operation](left, right)
    return exact if operation.compares else wrap(exact, type)


def convert(conversion: Conversion, value: int, source: Type, target: Type) -> int:
    """Apply a cast from `source` to `target`."""
    if conversion is Conversion.ZEXT:
        return wrap(value & ((1 << source.bits) - 1), target)
    return wrap(value, target)
