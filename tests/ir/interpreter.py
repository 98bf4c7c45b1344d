# SPDX-License-Identifier: Apache-2.0
"""What a loop program means: run it statement by statement, with every access checked.

Slow and obvious on purpose; compiled code is held against it.
"""

from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import replace
from typing import NoReturn

from atoll.ir.arithmetic import convert, evaluate, wrap
from atoll.ir.faults import ProgramError, ill_formed
from atoll.ir.heap import Heap
from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    Cast,
    Const,
    Dot,
    Execute,
    Expr,
    For,
    If,
    IRModule,
    Let,
    Load,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Select,
    Stmt,
    Store,
    Type,
    Var,
    Word,
)
from atoll.ir.walk import runtime_allocations
from atoll.resolve.unit_models import UnitModels

Memory = MutableSequence[int | None]


def interpret(
    module: IRModule, function: str, arguments: Sequence[int | Memory], heap: Heap | None = None
) -> int | None:
    """Run a function of a verified module.

    Args:
        module: holds the function and what it calls.
        function: its name.
        arguments: a number or a mutable sequence of elements for each parameter; None marks an
            element that was never written.
        heap: gives what is sized at run time; one without room by default.

    Returns:
        The result of a scalar function; the status of a kernel with buffers of the heap, 0 or a
        negative code.

    Raises:
        ProgramError: E078; an access is out of bounds or reads what was never written.
    """
    run = _Run(module.by_name, module.by_name[function], heap or Heap(0), UnitModels())
    return run.run(arguments)


class _Failed(Exception):  # noqa: N818
    """Ends a kernel whose heap had no block; `args` is the code."""


class _Run:
    """One activation of a function."""

    def __init__(
        self,
        functions: Mapping[str, PrimFunc],
        function: PrimFunc,
        heap: Heap,
        models: UnitModels,
    ) -> None:
        self._models = models
        self._heap = heap
        self._functions = functions
        self._function = function
        self._values: dict[str, int] = {}
        self._buffers: dict[str, Memory] = {}
        self._result: int | None = None

    def run(self, arguments: Sequence[int | Memory]) -> int | None:
        for parameter, argument in zip(self._function.parameters, arguments, strict=True):
            if isinstance(argument, int):
                self._values[parameter.name] = argument
                continue
            assert isinstance(parameter, BufferParam)
            assert len(argument) == parameter.elements, f"{parameter}: {len(argument)}"
            self._buffers[parameter.name] = argument
        takes = bool(runtime_allocations(self._function))
        try:
            self._block(self._function.body)
        except _Failed as failed:
            (status,) = failed.args
            return int(status)
        return 0 if takes else self._result

    def _block(self, body: Sequence[Stmt]) -> None:
        taken: list[int] = []
        try:
            for statement in body:
                if isinstance(statement, RuntimeAllocate):
                    taken.append(self._take(statement))
                else:
                    self._statement(statement)
        finally:
            for offset in reversed(taken):
                self._heap.free(offset)

    def _take(self, allocate: RuntimeAllocate) -> int:
        elements = self._value(allocate.elements)
        offset = self._heap.allocate(elements * allocate.type.bytes)
        if offset < 0:
            raise _Failed(offset)
        self._buffers[allocate.buffer] = [None] * elements
        return offset

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case For():
                for value in range(self._value(statement.begin), self._value(statement.end)):
                    self._values[statement.variable] = value
                    self._block(statement.body)
            case Store():
                memory, index = self._place(statement.buffer, statement.index)
                memory[index] = self._value(statement.value)
            case Let():
                self._values[statement.variable] = self._value(statement.value)
            case If():
                chosen = self._value(statement.condition)
                self._block(statement.then if chosen else statement.otherwise)
            case Return():
                self._result = self._value(statement.value)
            case Allocate():
                self._buffers[statement.buffer] = [None] * statement.elements

    def _place(self, buffer: str, index: Expr) -> tuple[Memory, int]:
        memory, place = self._buffers[buffer], self._value(index)
        if not 0 <= place < len(memory):
            self._fail(f"touches element {place} of '{buffer}', which has {len(memory)}")
        return memory, place

    def _fail(self, message: str) -> NoReturn:
        raise ProgramError.all([ill_formed(f"function '{self._function.name}'", message)])

    def _value(self, expr: Expr) -> int:  # noqa: C901 - a case for each kind
        match expr:
            case Const():
                return expr.value
            case Var():
                return self._values[expr.name]
            case Load():
                memory, index = self._place(expr.buffer, expr.index)
                value = memory[index]
                if value is None:
                    self._fail(f"reads element {index} of '{expr.buffer}' unwritten")
                return int(value)
            case Binary():
                left, right = self._value(expr.left), self._value(expr.right)
                return evaluate(expr.operation, left, right, expr.left.type)
            case Select():
                then, otherwise = self._value(expr.then), self._value(expr.otherwise)
                return then if self._value(expr.condition) else otherwise
            case Cast():
                source = expr.value
                return convert(expr.conversion, self._value(source), source.type, expr.type)
            case Call():
                arguments = [self._value(argument) for argument in expr.arguments]
                callee = self._functions[expr.function]
                result = _Run(self._functions, callee, self._heap, self._models).run(arguments)
                assert result is not None
                return result
            case Word(first):
                place = self._value(first.index)
                if place % 4:
                    self._fail(f"takes a word from element {place} of '{first.buffer}'")
                each = (self._value(replace(first, index=Const(place + at))) for at in range(4))
                return wrap(sum((byte & 0xFF) << 8 * at for at, byte in enumerate(each)), Type.I32)
            case Execute(instruction, a, b):
                words = (self._value(each) & 0xFFFF_FFFF for each in (a, b))
                return wrap(self._models.function(instruction)(*words), Type.I32)
            case Dot(start, left, right, length):
                total = self._value(start)
                firsts = [self._value(each.index) for each in (left, right)]
                if any(first % expr.align for first in firsts):
                    self._fail(f"makes a product from elements {firsts}, no multiples")
                for at in range(length):
                    one, other = (
                        self._value(replace(each, index=Const(first + at)))
                        for each, first in zip((left, right), firsts, strict=True)
                    )
                    total += one * other
                return wrap(total, Type.I32)
