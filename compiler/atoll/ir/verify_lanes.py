# SPDX-License-Identifier: Apache-2.0
"""The rules of vectorized loops: lanes do not touch each other's elements, nor branch."""

from collections.abc import Iterator, Mapping

from atoll.ir.lanes import step_of
from atoll.ir.scalars import Call, Const, Dot, Execute, Load, Word
from atoll.ir.statements import Allocate, For, Let, PrimFunc, Return, Store
from atoll.ir.walk import expressions_of, subexpressions
from atoll.resolve.storage_scope import LOCAL


def lane_faults(loop: For, functions: Mapping[str, PrimFunc]) -> Iterator[str]:
    """Yield what keeps the iterations of a vectorized loop from being computed at once.

    Args:
        loop: well-typed.
        functions: those that it may call.
    """
    match loop:
        case For(begin=Const(begin), end=Const(end)) if begin < end:
            pass
        case _:
            yield f"vectorized loop '{loop.variable}' lacks literal bounds with iterations between"
    own = {each.buffer for each in loop.body if isinstance(each, Allocate)}
    stored = {each.buffer for each in loop.body if isinstance(each, Store)} - own
    steps: dict[str, int | None] = {loop.variable: 1}
    for statement in loop.body:
        suits = isinstance(statement, Let | Store | Allocate)
        if not suits or (isinstance(statement, Allocate) and statement.scope != LOCAL):
            first, *_ = str(statement).splitlines()
            yield f"vectorized loop '{loop.variable}' has the statement {first}"
        for part in (p for each in expressions_of(statement) for p in subexpressions(each)):
            if isinstance(part, Load):
                grows = step_of(part.index, steps, own)
                if part.buffer in stored or grows not in ((0,) if part.buffer in own else (0, 1)):
                    yield f"lanes of '{loop.variable}' load {part}"
            elif isinstance(part, Dot | Word | Execute) or (
                isinstance(part, Call) and _branches(part, functions)
            ):
                yield f"lanes of '{loop.variable}' cannot compute {part}"
        if isinstance(statement, Store):
            grows = step_of(statement.index, steps, own)
            if grows != int(statement.buffer not in own):
                yield f"lanes of '{loop.variable}' store {statement}"
        if isinstance(statement, Let):
            steps[statement.variable] = step_of(statement.value, steps, own)


def _branches(call: Call, functions: Mapping[str, PrimFunc]) -> bool:
    callee = functions.get(call.function)
    return callee is not None and not all(isinstance(s, Let | Return) for s in callee.body)
