# SPDX-License-Identifier: Apache-2.0
"""Read functions of a loop program from their text."""

from collections.abc import Mapping
from types import MappingProxyType

from tests.ir.tokens import Tokens

from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    Cast,
    Const,
    Conversion,
    Direction,
    Dot,
    Execute,
    Expr,
    For,
    If,
    Let,
    Load,
    Operation,
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
from atoll.isa.function_unit import Instruction

_TYPES = {str(type): type for type in Type}
_DIRECTIONS = {str(direction): direction for direction in Direction}
_PREFIX = {str(operation): operation for operation in (Operation.MIN, Operation.MAX)}
_INFIX = {str(operation): operation for operation in Operation if operation not in _PREFIX}
_CASTS = {f"{conversion}.{type}": (conversion, type) for conversion in Conversion for type in Type}


def read_allocate(tokens: Tokens) -> Allocate:
    """Read ``allocate name: type[elements] align n in scope [pools]``."""
    name, type = _declaration(tokens)
    elements = _elements(tokens)
    align, scope, pools = _home(tokens)
    return Allocate(
        buffer=name, type=type, elements=elements, align=align, scope=scope, pools=pools
    )


def _declaration(tokens: Tokens) -> tuple[str, Type]:
    tokens.expect("allocate")
    name = tokens.name()
    tokens.expect(":")
    return name, tokens.choose(_TYPES, "a type")


def _home(tokens: Tokens) -> tuple[int, str, tuple[str, ...]]:
    tokens.expect("align")
    align = tokens.number()
    tokens.expect("in")
    scope = tokens.name()
    return align, scope, tokens.nests(tokens.name, "[", "]") if tokens.next == "[" else ()


def _elements(tokens: Tokens) -> int:
    tokens.expect("[")
    elements = tokens.number()
    tokens.expect("]")
    return elements


class FunctionReader:
    """Reads one function; what a name means comes from what the text declared before."""

    def __init__(
        self,
        tokens: Tokens,
        results: Mapping[str, Type],
        instructions: Mapping[str, Instruction] = MappingProxyType({}),
    ) -> None:
        self._instructions = instructions
        self._tokens = tokens
        self._results = results
        self._types: dict[str, Type] = {}
        self._buffers: dict[str, Type] = {}

    def read(self) -> PrimFunc:
        """Read ``function @name(parameters) -> result { statements }``."""
        tokens = self._tokens
        tokens.expect("function")
        tokens.expect("@")
        name = tokens.name()
        parameters = tokens.nests(self._parameter, "(", ")")
        result = tokens.choose(_TYPES, "a type") if tokens.accept("->") else None
        isa = tokens.quoted() if tokens.accept("for") else ""
        return PrimFunc(name, parameters, self._block(), result, isa)

    def _parameter(self) -> BufferParam | Var:
        tokens = self._tokens
        name = tokens.name()
        tokens.expect(":")
        type = tokens.choose(_TYPES, "a type")
        if tokens.next != "[":
            self._types[name] = type
            return Var(name, type)
        self._buffers[name] = type
        elements = _elements(tokens)
        return BufferParam(name, type, elements, tokens.choose(_DIRECTIONS, "a direction"))

    def _block(self) -> tuple[Stmt, ...]:
        self._tokens.expect("{")
        body: list[Stmt] = []
        while not self._tokens.accept("}"):
            body.append(self._statement())
        return tuple(body)

    def _statement(self) -> Stmt:
        tokens = self._tokens
        match tokens.next:
            case "for" | "vectorized":
                return self._loop()
            case "let":
                return self._let()
            case "if":
                return self._branch()
            case "return":
                tokens.expect("return")
                return Return(self._expression())
            case "allocate":
                return self._allocate()
        buffer, index = tokens.name(), self._index()
        tokens.expect("=")
        return Store(buffer, index, self._expression())

    def _allocate(self) -> Allocate | RuntimeAllocate:
        """Read an allocation, whose number of elements may be an expression."""
        tokens = self._tokens
        name, type = _declaration(tokens)
        elements = self._index()
        self._buffers[name] = type
        align, scope, pools = _home(tokens)
        if isinstance(elements, Const) and elements.type is Type.I32:
            return Allocate(
                buffer=name,
                type=type,
                elements=elements.value,
                align=align,
                scope=scope,
                pools=pools,
            )
        return RuntimeAllocate(
            buffer=name, type=type, elements=elements, align=align, scope=scope, pools=pools
        )

    def _loop(self) -> For:
        vectorized = self._tokens.accept("vectorized")
        self._tokens.expect("for")
        variable = self._tokens.name()
        self._tokens.expect("in")
        begin = self._expression()
        self._tokens.expect("..")
        end = self._expression()
        self._types[variable] = Type.I32
        return For(variable, begin, end, self._block(), vectorized)

    def _let(self) -> Let:
        self._tokens.expect("let")
        variable = self._tokens.name()
        self._tokens.expect("=")
        value = self._expression()
        self._types[variable] = value.type
        return Let(variable, value)

    def _branch(self) -> If:
        self._tokens.expect("if")
        condition, then = self._expression(), self._block()
        return If(condition, then, self._block() if self._tokens.accept("else") else ())

    def _expression(self) -> Expr:
        tokens, word = self._tokens, self._tokens.next
        if tokens.accept("("):
            left = self._expression()
            operation = tokens.choose(_INFIX, "an operation")
            expr = Binary(operation, left, self._expression())
            tokens.expect(")")
            return expr
        if tokens.accept("@"):
            return self._call()
        if tokens.accept("$"):
            name = tokens.name()
            return Execute(self._instructions[name], *self._arguments(2))
        if word in self._buffers:
            return Load(tokens.name(), self._index(), self._buffers[word])
        if word in self._types:
            return Var(tokens.name(), self._types[word])
        if word[:1].isalpha():
            return self._built_in()
        value = tokens.number()
        return Const(value, tokens.choose(_TYPES, "a type") if tokens.accept(":") else Type.I32)

    def _call(self) -> Call:
        name, tokens = self._tokens.next, self._tokens
        result = tokens.choose(self._results, "a scalar function that is defined before")
        return Call(name, tokens.nests(self._expression, "(", ")"), result)

    def _built_in(self) -> Expr:
        """Read min, max, select, dot or a cast."""
        tokens, word = self._tokens, self._tokens.next
        if tokens.accept("select"):
            return Select(*self._arguments(3))
        if tokens.accept("dot"):
            return self._dot()
        if tokens.accept("word"):
            (first,) = self._arguments(1)
            assert isinstance(first, Load)
            return Word(first)
        if word in _PREFIX:
            return Binary(tokens.choose(_PREFIX, ""), *self._arguments(2))
        conversion, type = tokens.choose(_CASTS, "a name that is declared")
        (value,) = self._arguments(1)
        return Cast(conversion, value, type)

    def _dot(self) -> Dot:
        self._tokens.expect("(")
        start, left, right, length, *align = self._listed()
        assert isinstance(left, Load)
        assert isinstance(right, Load)
        assert isinstance(length, Const)
        return Dot(start, left, right, length.value, *(int(str(each)) for each in align))

    def _listed(self) -> list[Expr]:
        """Read expressions up to the end of the parentheses."""
        found = [self._expression()]
        while self._tokens.accept(","):
            found.append(self._expression())
        self._tokens.expect(")")
        return found

    def _arguments(self, count: int) -> list[Expr]:
        self._tokens.expect("(")
        arguments = [self._expression()]
        for _ in range(count - 1):
            self._tokens.expect(",")
            arguments.append(self._expression())
        self._tokens.expect(")")
        return arguments

    def _index(self) -> Expr:
        self._tokens.expect("[")
        index = self._expression()
        self._tokens.expect("]")
        return index
