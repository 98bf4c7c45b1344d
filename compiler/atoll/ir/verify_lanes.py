# SPDX-License-Identifier: Apache-2.0
"""The rules of vectorized loops: lanes do not touch each other's elements, nor branch apart."""

from collections.abc import Iterable, Iterator, Mapping

from atoll.ir.lanes import step_of
from atoll.ir.scalars import Call, Dot, Execute, Expr, Load, Word
from atoll.ir.statements import Allocate, For, Let, PrimFunc, Return, Stmt, Store
from atoll.ir.walk import expressions_of, subexpressions
from atoll.resolve.storage_scope import LOCAL


def lane_faults(loop: For, functions: Mapping[str, PrimFunc]) -> Iterator[str]:
    """Yield what keeps the iterations of a vectorized loop from being computed at once.

    Args:
        loop: well-typed.
        functions: those that it may call.
    """
    yield from _Rules(loop, functions).faults(loop.body, {loop.variable: 1})


class _Rules:
    """Follows by how much variables grow from lane to lane."""

    def __init__(self, loop: For, functions: Mapping[str, PrimFunc]) -> None:
        every = (*loop.body, *(each for inner in _inner_loops(loop.body) for each in inner.body))
        self._variable = loop.variable
        self._functions = functions
        self._own = {each.buffer for each in every if isinstance(each, Allocate)}
        self._stored = {each.buffer for each in every if isinstance(each, Store)} - self._own

    def faults(self, body: Iterable[Stmt], steps: dict[str, int | None]) -> Iterator[str]:
        """Yield what lanes cannot do, and add to `steps` what statements name."""
        for statement in body:
            if isinstance(statement, For) and not statement.vectorized:
                bounds = (statement.begin, statement.end)
                if any(step_of(each, steps, self._own) != 0 for each in bounds):
                    yield f"lanes of '{self._variable}' go through '{statement.variable}' unequally"
                yield from self.faults(statement.body, {**steps, statement.variable: 0})
                continue
            suits = isinstance(statement, Let | Store | Allocate)
            if not suits or (isinstance(statement, Allocate) and statement.scope != LOCAL):
                first, *_ = str(statement).splitlines()
                yield f"vectorized loop '{self._variable}' has the statement {first}"
            for part in (p for each in expressions_of(statement) for p in subexpressions(each)):
                yield from self._expression(part, steps)
            if isinstance(statement, Store):
                grows = step_of(statement.index, steps, self._own)
                if grows != int(statement.buffer not in self._own):
                    yield f"lanes of '{self._variable}' store {statement}"
            if isinstance(statement, Let):
                steps[statement.variable] = step_of(statement.value, steps, self._own)

    def _expression(self, part: Expr, steps: Mapping[str, int | None]) -> Iterator[str]:
        if isinstance(part, Load):
            own = part.buffer in self._own
            grows = step_of(part.index, steps, self._own)
            if part.buffer in self._stored or grows not in ((0,) if own else (0, 1)):
                yield f"lanes of '{self._variable}' load {part}"
        elif isinstance(part, Dot | Word | Execute) or (
            isinstance(part, Call) and _branches(part, self._functions)
        ):
            yield f"lanes of '{self._variable}' cannot compute {part}"


def _inner_loops(body: Iterable[Stmt]) -> Iterator[For]:
    for each in body:
        if isinstance(each, For):
            yield each
            yield from _inner_loops(each.body)


def _branches(call: Call, functions: Mapping[str, PrimFunc]) -> bool:
    callee = functions.get(call.function)
    return callee is not None and not all(isinstance(s, Let | Return) for s in callee.body)
