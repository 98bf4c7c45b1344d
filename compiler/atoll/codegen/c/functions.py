# SPDX-License-Identifier: Apache-2.0
"""Functions of the loop program as C99: one kernel for an operator, with its names."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from textwrap import indent

from atoll.codegen.c.expressions import Expressions
from atoll.codegen.c.words import SHARED, TYPES, bare, identifier, literal, scalar_function
from atoll.ir.heap import LARGEST_BLOCK
from atoll.ir.ranges import Range, range_of
from atoll.ir.scalars import Const, Expr, Load, Type, Var
from atoll.ir.statements import (
    Allocate,
    BufferParam,
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
from atoll.ir.walk import expressions_of, runtime_allocations, statements, subexpressions
from atoll.protocol import Status

STEP = "  "


def signature(function: PrimFunc, overlapping: frozenset[str]) -> str:
    """Return result, name and parameters; `overlapping` ones may share bytes with others."""
    result = TYPES[function.result] if function.result else "void"
    if runtime_allocations(function):
        result = TYPES[Type.I32]
    given = ", ".join(_parameter(each, overlapping) for each in function.parameters)
    name = scalar_function if function.result else identifier
    return f"{result} {name(function.name)}({given or 'void'})"


def _parameter(parameter: BufferParam | Var, overlapping: frozenset[str]) -> str:
    name = identifier(parameter.name)
    if isinstance(parameter, Var):
        return f"{TYPES[parameter.type]} {name}"
    kind = SHARED[parameter.type]
    const = "" if parameter.direction.writes else "const "
    return f"{const}{kind} *{'' if parameter.name in overlapping else 'restrict '}{name}"


def needed_variables(function: PrimFunc) -> frozenset[str]:
    """Return the variables and buffers that the results of a function depend on."""
    parts = [*statements(function.body)]
    found = {each.name for each in function.buffers if each.direction.writes}
    found |= {name for each in parts if isinstance(each, CallExtern) for name in each.buffers}
    before = -1
    while before != len(found):
        before = len(found)
        for each in parts:
            made = each.variable if isinstance(each, Let) else None
            made = each.buffer if isinstance(each, Store) else made
            if made is None or made in found:
                found.update(_read(each))
    return frozenset(found)


def _read(statement: Stmt) -> Iterator[str]:
    for expr in chain.from_iterable(map(subexpressions, expressions_of(statement))):
        if isinstance(expr, Var):
            yield expr.name
        elif isinstance(expr, Load):
            yield expr.buffer


class FunctionText:
    """Prints the body of one verified function."""

    def __init__(self, function: PrimFunc, expressions: Expressions, network: str = "") -> None:
        self._function = function
        self._network = network
        self._expressions = expressions
        self._taken: list[tuple[str, str]] = []
        self._needed = needed_variables(function)

    def body(self) -> str:
        """Return the statements, in a block of braces."""
        self._expressions.ranges = {}
        lines = [*self._block(self._function.body)]
        if runtime_allocations(self._function):
            lines.append("return 0;")
        words = set(re.findall(r"\w+", "\n".join(lines)))
        names = (identifier(parameter.name) for parameter in self._function.parameters)
        lines = [*(f"(void){name};" for name in names if name not in words), *lines]
        return "{\n" + indent("\n".join(lines), STEP) + "\n}\n"

    def _block(self, body: Iterable[Stmt]) -> Iterator[str]:
        taken = len(self._taken)
        for statement in body:
            yield from self._statement(statement)
        while len(self._taken) > taken:
            heap, block = self._taken.pop()
            yield from self._leave_on(f"atoll_workspace_free({heap}, {block})")

    def _nest(self, body: Iterable[Stmt]) -> str:
        return indent("\n".join(self._block(body)), STEP)

    def _statement(self, statement: Stmt) -> Iterator[str]:
        text = self._text
        match statement:
            case Let(variable=name) | Store(buffer=name) | Allocate(buffer=name) if (
                name not in self._needed
            ):
                return
            case For():
                yield from self._loop(statement)
            case Store(buffer, index, value):
                yield f"{identifier(buffer)}[{text(index)}] = {text(value)};"
            case Let(variable, value):
                yield f"const {TYPES[value.type]} {identifier(variable)} = {text(value)};"
                self._expressions.ranges[variable] = range_of(value, self._expressions.ranges)
            case If(condition, then, otherwise):
                yield f"if ({text(condition)}) {{\n{self._nest(then)}"
                if otherwise:
                    yield f"}} else {{\n{self._nest(otherwise)}"
                yield "}"
            case Return(value):
                yield f"return {text(value)};"
            case Allocate(buffer=buffer, type=type, elements=elements):
                words = "ATOLL_OF_WORDS " * (
                    self._expressions.of_words and statement.align > type.bytes
                )
                yield f"{words}{TYPES[type]} {identifier(buffer)}[{elements}];"
            case RuntimeAllocate():
                yield from self._take(statement)
            case CallExtern(called, buffers, numbers):
                arguments = (*map(identifier, buffers), *(literal(n, Type.I32) for n in numbers))
                yield f"{called.symbol(self._network)}({', '.join(arguments)});"

    def _loop(self, loop: For) -> Iterator[str]:
        name, ranges = identifier(loop.variable), self._expressions.ranges
        begin, end = self._text(loop.begin), self._text(loop.end)
        if not isinstance(loop.end, (Const, Var)):
            yield f"const int32_t {name}_end = {end};"
            end = f"{name}_end"
        first, last = range_of(loop.begin, ranges).low, range_of(loop.end, ranges).high - 1
        ranges[loop.variable] = Range(first, max(first, last))
        yield f"for (int32_t {name} = {begin}; {name} < {end}; ++{name}) {{"
        yield self._nest(loop.body)
        yield "}"

    def _take(self, allocate: RuntimeAllocate) -> Iterator[str]:
        """Take a block of a heap; the number is held against its bounds before it is multiplied."""
        name, kind = identifier(allocate.buffer), SHARED[allocate.type]
        count, width = f"{name}_elements", allocate.type.bytes
        number = allocate.elements.type
        heap = f"&atoll_heap_{allocate.pools[0]}"
        yield f"const {TYPES[number]} {count} = {self._text(allocate.elements)};"
        most = literal(LARGEST_BLOCK // width, number)
        yield from self._leave_if(f"{count} > {most}", Status.NO_MEMORY)
        yield from self._leave_if(f"{count} < 1", Status.ARGUMENT)
        yield f"void *{name}_block = 0;"
        size = f"(uint32_t){count} * {width}u"
        yield from self._leave_on(f"atoll_workspace_allocate({heap}, {size}, &{name}_block)")
        if allocate.buffer in self._needed:
            yield f"{kind} *const {name} = ({kind} *){name}_block;"
        self._taken.append((heap, f"{name}_block"))

    def _leave_if(self, condition: str, status: Status) -> Iterator[str]:
        yield f"if ({condition}) {{\n{indent(self._free_calls(), STEP)}{STEP}return {status:d};\n}}"

    def _leave_on(self, call: str) -> Iterator[str]:
        """Give all back and return the status of `call` if it is an error."""
        yield (
            "{\n" + indent(f"const int32_t status = {call};\n", STEP) + f"{STEP}if (status != 0) {{"
        )
        yield f"{indent(self._free_calls(), 2 * STEP)}{2 * STEP}return status;\n{STEP}}}\n}}"

    def _free_calls(self) -> str:
        calls = (
            f"(void)atoll_workspace_free({heap}, {block});\n" for heap, block in self._taken[::-1]
        )
        return "".join(calls)

    def _text(self, expr: Expr) -> str:
        return bare(self._expressions.text(expr))
