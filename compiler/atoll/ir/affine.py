# SPDX-License-Identifier: Apache-2.0
"""Indices that are sums of loop variables: their extreme values are certain to occur."""

from collections.abc import Mapping

from atoll.ir.ranges import Range
from atoll.ir.scalars import Binary, Const, Expr, Operation, Var
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Affine:
    """`constant` + the sum of coefficient x variable; no coefficient is 0."""

    constant: int
    coefficients: Mapping[str, int]

    def plus(self, other: "Affine", factor: int) -> "Affine":
        """Return this + factor x other."""
        names = {*self.coefficients, *other.coefficients}
        sums = {
            name: self.coefficients.get(name, 0) + factor * other.coefficients.get(name, 0)
            for name in sorted(names)
        }
        constant = self.constant + factor * other.constant
        return Affine(constant, {name: value for name, value in sums.items() if value})


def affine(expr: Expr, known: Mapping[str, Affine]) -> Affine | None:
    """Return `expr` as a sum over loop variables, None if it is not one.

    Args:
        expr: an `I32`.
        known: what variables are; loop variables stand for themselves.
    """
    match expr:
        case Const(value):
            return Affine(value, {})
        case Var(name):
            return known.get(name)
        case Binary(Operation.ADD | Operation.SUB | Operation.MUL as operation, left, right):
            a, b = affine(left, known), affine(right, known)
            return _combine(operation, a, b) if a and b else None
    return None


def _combine(operation: Operation, a: Affine, b: Affine) -> Affine | None:
    match operation:
        case Operation.ADD:
            return a.plus(b, 1)
        case Operation.SUB:
            return a.plus(b, -1)
    if not b.coefficients:
        return Affine(0, {}).plus(a, b.constant)
    return None if a.coefficients else Affine(0, {}).plus(b, a.constant)


def extremes(index: Affine, loops: Mapping[str, Range]) -> Range:
    """Return the least and the greatest value over all iterations; both occur."""
    low = high = index.constant
    for name, coefficient in index.coefficients.items():
        ends = (coefficient * loops[name].low, coefficient * loops[name].high)
        low, high = low + min(ends), high + max(ends)
    return Range(low, high)
