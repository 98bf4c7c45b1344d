"""Kernels of the loop program as Python source: a second way to run them, without LLVM.

The numbers of Python have no width. The source computes what the program means as long as no
sum, difference, product or shift leaves the range of its type; casts do wrap.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from atoll.ir.arithmetic import divide, wrap
from atoll.ir.tir import (
    Allocate,
    Binary,
    Cast,
    Const,
    Conversion,
    Expr,
    For,
    If,
    Let,
    Load,
    Operation,
    PrimFunc,
    Select,
    Stmt,
    Store,
    Type,
    Var,
)
from atoll.ir.walk import expressions_of, statements, subexpressions

_INDENT = "    "
_HELPERS = {"divide": divide, "wrap": wrap, **{type.name: type for type in Type}}


def python_function(kernel: PrimFunc) -> Callable[..., None]:
    """Return `kernel` as a Python function of lists, or other mutable sequences of integers."""
    names: dict[str, Any] = dict(_HELPERS)
    exec(compile(python_source(kernel), f"<{kernel.name}>", "exec"), names)
    function: Callable[..., None] = names[kernel.name]
    return function


def python_source(kernel: PrimFunc) -> str:
    """Return the text of a Python function with the parameters of `kernel`.

    Local buffers of which only the first element is used become variables.
    """
    parameters = ", ".join(_name(parameter.name) for parameter in kernel.parameters)
    body = _Printer(_scalars(kernel)).block(kernel.body)
    return f"def {kernel.name}({parameters}):\n" + "".join(f"{_INDENT}{line}\n" for line in body)


def _scalars(kernel: PrimFunc) -> set[str]:
    local = {
        s.buffer for s in statements(kernel.body) if isinstance(s, Allocate) and s.elements == 1
    }
    for statement in statements(kernel.body):
        if isinstance(statement, Store) and not isinstance(statement.index, Const):
            local.discard(statement.buffer)
        for whole in expressions_of(statement):
            for part in subexpressions(whole):
                if isinstance(part, Load) and not isinstance(part.index, Const):
                    local.discard(part.buffer)
    return local


def _name(name: str) -> str:
    """Keep clear of Python's own words."""
    return f"{name}_"


class _Printer:
    """Prints statements and expressions; `scalars` are buffers that are variables."""

    def __init__(self, scalars: set[str]) -> None:
        self._scalars = scalars

    def block(self, body: Sequence[Stmt]) -> list[str]:
        lines = [line for statement in body for line in self._statement(statement)]
        return lines or ["pass"]

    def _statement(self, statement: Stmt) -> Iterator[str]:
        match statement:
            case For():
                bounds = f"{self._value(statement.begin)}, {self._value(statement.end)}"
                yield f"for {_name(statement.variable)} in range({bounds}):"
                yield from _indented(self.block(statement.body))
            case If():
                yield f"if {self._value(statement.condition)}:"
                yield from _indented(self.block(statement.then))
                if statement.otherwise:
                    yield "else:"
                    yield from _indented(self.block(statement.otherwise))
            case Store():
                place = self._place(statement.buffer, statement.index)
                yield f"{place} = {self._value(statement.value)}"
            case Let():
                yield f"{_name(statement.variable)} = {self._value(statement.value)}"
            case Allocate() if statement.buffer not in self._scalars:
                yield f"{_name(statement.buffer)} = [0] * {statement.elements}"

    def _place(self, buffer: str, index: Expr) -> str:
        if buffer in self._scalars:
            return _name(buffer)
        return f"{_name(buffer)}[{self._value(index)}]"

    def _value(self, expr: Expr) -> str:
        match expr:
            case Const():
                return str(expr.value)
            case Var():
                return _name(expr.name)
            case Load():
                return self._place(expr.buffer, expr.index)
            case Binary():
                return self._binary(expr)
            case Select():
                then, otherwise = self._value(expr.then), self._value(expr.otherwise)
                return f"({then} if {self._value(expr.condition)} else {otherwise})"
            case Cast():
                return self._cast(expr)
        raise NotImplementedError(f"{expr} in Python")

    def _binary(self, expr: Binary) -> str:
        left, right = self._value(expr.left), self._value(expr.right)
        match expr.operation:
            case Operation.MIN | Operation.MAX:
                order = "<" if expr.operation is Operation.MIN else ">"
                return f"({left} if {left} {order} {right} else {right})"
            case Operation.DIV:
                return f"divide({left}, {right})"
            case Operation.REM:
                return f"({left} - divide({left}, {right}) * {right})"
            case Operation.SHL | Operation.SHR:
                return f"({left} {expr.operation} ({right} & {expr.type.bits - 1}))"
        return f"({left} {expr.operation} {right})"

    def _cast(self, expr: Cast) -> str:
        value = self._value(expr.value)
        if expr.conversion is Conversion.SEXT:
            return value
        if expr.conversion is Conversion.ZEXT:
            return f"({value} & {(1 << expr.value.type.bits) - 1})"
        return f"wrap({value}, {expr.type.name})"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (_INDENT + line for line in lines)
