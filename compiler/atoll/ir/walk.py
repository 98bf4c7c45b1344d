# SPDX-License-Identifier: Apache-2.0
"""Visit the statements and expressions of a function."""

from collections.abc import Iterable, Iterator

from atoll.ir.scalars import Call, Execute, Expr, operands
from atoll.ir.statements import (
    CallExtern,
    For,
    If,
    Let,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
)
from atoll.isa.function_unit import Instruction
from atoll.resolve.c_functions import CFunction


def blocks_of(statement: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """Return the blocks inside `statement`."""
    match statement:
        case For():
            return (statement.body,)
        case If():
            return (statement.then, statement.otherwise)
    return ()


def expressions_of(statement: Stmt) -> tuple[Expr, ...]:
    """Return the expressions that `statement` itself evaluates, in order."""
    match statement:
        case For():
            return (statement.begin, statement.end)
        case Store():
            return (statement.index, statement.value)
        case Let() | Return():
            return (statement.value,)
        case If():
            return (statement.condition,)
        case RuntimeAllocate():
            return (statement.elements,)
    return ()


def statements(body: Iterable[Stmt]) -> Iterator[Stmt]:
    """Yield every statement of a block and of the blocks inside, in order."""
    for statement in body:
        yield statement
        for block in blocks_of(statement):
            yield from statements(block)


def runtime_allocations(function: PrimFunc) -> tuple[RuntimeAllocate, ...]:
    """Return what `function` takes from heaps; a kernel that takes anything returns a status."""
    return tuple(s for s in statements(function.body) if isinstance(s, RuntimeAllocate))


def externs(functions: Iterable[PrimFunc]) -> tuple[CFunction, ...]:
    """Return the functions of C that `functions` call, each once."""
    found = (
        statement.function
        for function in functions
        for statement in statements(function.body)
        if isinstance(statement, CallExtern)
    )
    return tuple(dict.fromkeys(found))


def subexpressions(expr: Expr) -> Iterator[Expr]:
    """Yield `expr` and everything in it."""
    waiting = [expr]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += reversed(operands(each))


def executed_instructions(functions: Iterable[PrimFunc]) -> tuple[Instruction, ...]:
    """Return the instructions of function units that `functions` execute, each once."""
    found = (
        expr.instruction
        for function in functions
        for statement in statements(function.body)
        for evaluated in expressions_of(statement)
        for expr in subexpressions(evaluated)
        if isinstance(expr, Execute)
    )
    return tuple(dict.fromkeys(found))


def callees(function: PrimFunc) -> tuple[str, ...]:
    """Return the names of the functions that `function` calls, each once, in order."""
    found = (
        expr.function
        for statement in statements(function.body)
        for evaluated in expressions_of(statement)
        for expr in subexpressions(evaluated)
        if isinstance(expr, Call)
    )
    return tuple(dict.fromkeys(found))
