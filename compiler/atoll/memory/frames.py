"""Stack bytes of loop programs, callees included."""

from collections.abc import Iterable, Iterator, Sequence

from atoll.errors import PlanError
from atoll.ir.scalars import Call, Expr, operands
from atoll.ir.tir import Allocate, For, If, Let, PrimFunc, Return, Stmt, Store

STACK_ALIGNMENT = 16

FRAME_ALLOWANCE = 192
"""Bytes per function for saved registers, spills and the return address (rv32: 13 saved
registers are 52 bytes)."""


class FrameDepths:
    """Stack bytes of functions with all that they call; recursion is refused."""

    def __init__(self, functions: Iterable[PrimFunc]) -> None:
        """Take functions in an order in which callees come first."""
        self._depths: dict[str, int] = {}
        self._deepest: dict[str, str] = {}
        for function in functions:
            self._visit(function)

    def of(self, name: str) -> int:
        """Return the bytes of `name` and its deepest callees."""
        return self._depths[name]

    def path(self, name: str) -> tuple[str, ...]:
        """Return `name` and its deepest callees, outermost first."""
        calls = [name]
        while calls[-1] in self._deepest:
            calls.append(self._deepest[calls[-1]])
        return tuple(calls)

    def _visit(self, function: PrimFunc) -> None:
        """Record one function; the module lists callees first, which also rules recursion out."""
        callees = sorted(set(_callees(function.body)))
        for callee in callees:
            if callee not in self._depths:
                raise PlanError(
                    "E065",
                    f"function '{function.name}' calls '{callee}', which is not before it: "
                    "the stack of a recursive program has no bound",
                    remedy="list callees first, without cycles",
                )
        own = FRAME_ALLOWANCE + sum(_allocations(function.body))
        below = max((self._depths[callee] for callee in callees), default=0)
        self._depths[function.name] = own + below
        if callees:
            self._deepest[function.name] = max(callees, key=lambda name: self._depths[name])


def _allocations(body: Sequence[Stmt]) -> Iterator[int]:
    """Yield the bytes of every allocation that is in no pool, as if all lived at once."""
    for statement in body:
        match statement:
            case Allocate() if not statement.pools:
                alignment = max(statement.align, STACK_ALIGNMENT)
                yield -(-statement.size // alignment) * alignment
            case For():
                yield from _allocations(statement.body)
            case If():
                yield from _allocations((*statement.then, *statement.otherwise))


def _callees(body: Sequence[Stmt]) -> Iterator[str]:
    for statement in body:
        for expression in _expressions(statement):
            yield from _called(expression)
        match statement:
            case For():
                yield from _callees(statement.body)
            case If():
                yield from _callees((*statement.then, *statement.otherwise))


def _expressions(statement: Stmt) -> tuple[Expr, ...]:
    match statement:
        case For():
            return (statement.begin, statement.end)
        case Store():
            return (statement.index, statement.value)
        case Let() | Return():
            return (statement.value,)
        case If():
            return (statement.condition,)
    return ()


def _called(expression: Expr) -> Iterator[str]:
    if isinstance(expression, Call):
        yield expression.function
    for operand in operands(expression):
        yield from _called(operand)
