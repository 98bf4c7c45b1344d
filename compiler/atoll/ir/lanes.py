# SPDX-License-Identifier: Apache-2.0
"""Vectorized loops: how what an iteration computes differs from the iteration before."""

from collections.abc import Collection, Mapping

from atoll.ir.scalars import Binary, Dot, Execute, Expr, Load, Operation, Var, Word, operands


def step_of(expr: Expr, steps: Mapping[str, int | None], own: Collection[str]) -> int | None:
    """Return by how much `expr` grows from lane to lane, None if that is not known.

    Args:
        expr: any of the loop's body.
        steps: of variables; others are the same in all lanes.
        own: buffers of which each lane has its own.
    """
    match expr:
        case Var(name):
            return steps.get(name, 0)
        case Binary(Operation.ADD | Operation.SUB as operation, left, right):
            first, second = (step_of(each, steps, own) for each in (left, right))
            if first is None or second is None:
                return None
            return first + second if operation is Operation.ADD else first - second
        case Load(buffer) if buffer in own:
            return None
        case Dot() | Word() | Execute():
            return None
    same = all(step_of(part, steps, own) == 0 for part in operands(expr))
    return 0 if same else None
