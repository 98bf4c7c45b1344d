# SPDX-License-Identifier: Apache-2.0
"""Read functions of a loop program from their text."""

from collections.abc import Mapping
from dataclasses import field

from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    CallExtern,
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
from atoll.ir.tokens import Tokens
from atoll.isa.function_unit import Instruction
from atoll.records import dataclass
from atoll.resolve.c_functions import CFunction

_TYPES = {str(type): type for type in Type}
_DIRECTIONS = {str(direction): direction for direction in Direction}
_PREFIX = {str(operation): operation for operation in (Operation.MIN, Operation.MAX)}
_INFIX = {str(operation): operation for operation in Operation if operation not in _PREFIX}
_CASTS = {f"{conversion}.{type}": (conversion, type) for conversion in Conversion for type in Type}


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a module says ahead of its functions.

    Attributes:
        instructions: of function units, by name.
        functions: of C, by the name and the digest of their source, and by their own name.
    """

    instructions: Mapping[str, Instruction] = field(default_factory=dict)
    functions: Mapping[tuple[str, str, str], CFunction] = field(default_factory=dict)


def read_allocate(tokens: Tokens) -> Allocate:
    """Read ``allocate name: type[elements] align n in scope [pools]``."""
    name, type = _declaration(tokens)
    elements = _elements(tokens)
    align, scope, pools = _home(tokens)
    return Allocate(
        buffer=name, type=type, elements=elements, align=align, scope=scope, pools=pools
    )


def _declaration(tokens: Tokens) -> tuple[str, Type]:
    name = tokens.name("allocate")
    tokens.expect(":")
    return name, tokens.choose(_TYPES, "a type")


def _home(tokens: Tokens) -> tuple[int, str, tuple[str, ...]]:
    align, scope = tokens.number("align"), tokens.name("in")
    return align, scope, tokens.names() if tokens.next == "[" else ()


def _elements(tokens: Tokens) -> int:
    return tokens.take_enclosed(tokens.number, "[", "]")


class FunctionReader:
    """Reads one function; what a name means comes from what the text declared before."""

    def __init__(
        self,
        tokens: Tokens,
        results: Mapping[str, Type],
        declared: Declared,
    ) -> None:
        self._declared = declared
        self._tokens = tokens
        self._results = results
        self._types: dict[str, Type] = {}
        self._buffers: dict[str, Type] = {}

    def read(self) -> PrimFunc:
        """Read ``function @name(parameters) -> result { statements }``."""
        tokens = self._tokens
        tokens.expect("function")
        name = tokens.name("@")
        parameters = tokens.nests(self._parameter, "(", ")")
        result = tokens.choose(_TYPES, "a type") if tokens.accept("->") else None
        target = tokens.take_quoted() if tokens.accept("for") else ""
        return PrimFunc(name, parameters, self._block(), result, target)

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
        """Read statements; what they hide is there again behind them.

        What they declare stays known, so that the verifier can say of a use that it is too late.
        """
        types, buffers = dict(self._types), dict(self._buffers)
        self._tokens.expect("{")
        body: list[Stmt] = []
        while not self._tokens.accept("}"):
            body.append(self._statement())
        self._types |= types
        self._buffers |= buffers
        return tuple(body)

    def _statement(self) -> Stmt:
        tokens = self._tokens
        word = tokens.next if tokens.ahead(1) != "[" else ""
        match word:
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
            case "extern":
                return self._extern()
        buffer, index = tokens.name(), self._index()
        tokens.expect("=")
        return Store(buffer, index, self._expression())

    def _allocate(self) -> Allocate | RuntimeAllocate:
        """Read an allocation, whose number of elements may be an expression."""
        tokens = self._tokens
        if tokens.ahead(6) == "]" and tokens.ahead(5).isdecimal():
            allocate = read_allocate(tokens)
            self._buffers[allocate.buffer] = allocate.type
            return allocate
        name, type = _declaration(tokens)
        elements = self._index()
        self._buffers[name] = type
        align, scope, pools = _home(tokens)
        return RuntimeAllocate(
            buffer=name, type=type, elements=elements, align=align, scope=scope, pools=pools
        )

    def _loop(self) -> For:
        vectorized = self._tokens.accept("vectorized")
        variable = self._tokens.name("for")
        self._tokens.expect("in")
        begin = self._expression()
        self._tokens.expect("..")
        end = self._expression()
        types = dict(self._types)
        self._types[variable] = Type.I32
        body = self._block()
        self._types |= types
        return For(variable, begin, end, body, vectorized)

    def _let(self) -> Let:
        variable = self._tokens.name("let")
        self._tokens.expect("=")
        value = self._expression()
        self._types[variable] = value.type
        return Let(variable, value)

    def _branch(self) -> If:
        self._tokens.expect("if")
        condition, then = self._expression(), self._block()
        other = self._tokens.ahead(1) == "{" and self._tokens.accept("else")  # else a buffer's name
        return If(condition, then, self._block() if other else ())

    def _expression(self) -> Expr:
        tokens, word = self._tokens, self._tokens.next
        if tokens.accept("("):
            left = self._expression()
            if tokens.accept(")"):
                return left
            operation = tokens.choose(_INFIX, "an operation")
            expr = Binary(operation, left, self._expression())
            tokens.expect(")")
            return expr
        if tokens.accept("@"):
            return self._call()
        if tokens.accept("$"):
            return self._execute()
        if tokens.ahead(1) == "(" and word[:1].isalpha():
            return self._intrinsic()
        if word in self._buffers and tokens.ahead(1) == "[":
            return Load(tokens.name(), self._index(), self._buffers[word])
        if tokens.kind == "name":
            return Var(word, tokens.choose(self._types, "a name that is declared"))
        value = tokens.number()
        return Const(value, tokens.choose(_TYPES, "a type") if tokens.accept(":") else Type.I32)

    def _call(self) -> Call:
        name, tokens = self._tokens.next, self._tokens
        result = tokens.choose(self._results, "a scalar function that is defined before")
        return Call(name, tokens.nests(self._expression, "(", ")"), result)

    def _execute(self) -> Execute:
        if self._tokens.kind == "name" and self._tokens.next not in self._declared.instructions:
            self._tokens.lack(f"how instruction '{self._tokens.next}' is encoded")
        instruction = self._tokens.choose(self._declared.instructions, "an instruction")
        return Execute(instruction, *self._arguments(2))

    def _extern(self) -> CallExtern:
        """Read ``extern "file.c" 0x00c0ffee name(buffers, numbers)``."""
        tokens = self._tokens
        tokens.expect("extern")
        key = (tokens.take_quoted(), tokens.take("hex"), tokens.next)
        if tokens.kind == "name" and key not in self._declared.functions:
            tokens.lack(f"the source of function '{key[2]}' of '{key[0]}'")
        tokens.name()
        buffers: list[str] = []
        numbers: list[int] = []
        tokens.expect("(")
        while not tokens.accept(")"):
            if buffers or numbers:
                tokens.expect(",")
            if tokens.kind == "name" and not numbers:
                buffers.append(tokens.name())
            else:
                numbers.append(tokens.number())
        return CallExtern(self._declared.functions[key], tuple(buffers), tuple(numbers))

    def _intrinsic(self) -> Expr:
        """Read min, max, select, dot or a cast."""
        tokens, word = self._tokens, self._tokens.next
        if tokens.accept("select"):
            return Select(*self._arguments(3))
        if tokens.accept("dot"):
            return self._dot()
        if tokens.accept("word"):
            return Word(tokens.take_enclosed(self._load, "(", ")"))
        if word in _PREFIX:
            return Binary(tokens.choose(_PREFIX, ""), *self._arguments(2))
        conversion, type = tokens.choose(_CASTS, "a name that is declared")
        (value,) = self._arguments(1)
        return Cast(conversion, value, type)

    def _dot(self) -> Dot:
        """Read ``(start, left, right, length, align)``; the last may be left out."""
        tokens = self._tokens
        tokens.expect("(")
        start = self._expression()
        tokens.expect(",")
        left = self._load()
        tokens.expect(",")
        right = self._load()
        length = tokens.number(",")
        align = tokens.number() if tokens.accept(",") else 1
        tokens.expect(")")
        return Dot(start, left, right, length, align)

    def _load(self) -> Load:
        buffer = self._tokens.next
        type = self._tokens.choose(self._buffers, "an element of a buffer that is declared")
        return Load(buffer, self._index(), type)

    def _arguments(self, count: int) -> list[Expr]:
        self._tokens.expect("(")
        arguments = [self._expression()]
        for _ in range(count - 1):
            self._tokens.expect(",")
            arguments.append(self._expression())
        self._tokens.expect(")")
        return arguments

    def _index(self) -> Expr:
        return self._tokens.take_enclosed(self._expression, "[", "]")
