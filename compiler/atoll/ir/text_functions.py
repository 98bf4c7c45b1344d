"""Read functions of a loop program from their text."""

from collections.abc import Mapping

from atoll.ir.tir import (
    Allocate,
    Binary,
    BufferParam,
    Call,
    Cast,
    Const,
    Conversion,
    Direction,
    Expr,
    For,
    If,
    Let,
    Load,
    Operation,
    PrimFunc,
    Return,
    Select,
    Stmt,
    Store,
    Type,
    Var,
)
from atoll.ir.tokens import Tokens

_CASTS = {f"{conversion}.{type}": (conversion, type) for conversion in Conversion for type in Type}


class FunctionReader:
    """Reads one function; types of names come from what the text declared before."""

    def __init__(self, tokens: Tokens, results: Mapping[str, Type]) -> None:
        self._tokens = tokens
        self._results = results
        self._types: dict[str, Type] = {}
        self._buffers: dict[str, Type] = {}

    def read(self) -> PrimFunc:
        """Read ``function @name(parameters) -> result { statements }``."""
        tokens = self._tokens
        tokens.expect("function")
        tokens.expect("@")
        name = tokens.take("name")
        parameters = tokens.nests(self._parameter, "(", ")")
        result = self._type() if tokens.accept("->") else None
        return PrimFunc(name, parameters, self._block(), result)

    def _parameter(self) -> BufferParam | Var:
        name, type, elements = self._declaration()
        if elements is None:
            self._types[name] = type
            return Var(name, type)
        self._buffers[name] = type
        return BufferParam(name, type, elements, self._direction())

    def _declaration(self) -> tuple[str, Type, int | None]:
        """Read ``name: type`` or ``name: type[elements]``."""
        name = self._tokens.take("name")
        self._tokens.expect(":")
        type = self._type()
        if not self._tokens.accept("["):
            return name, type, None
        elements = self._tokens.number()
        self._tokens.expect("]")
        return name, type, elements

    def _type(self) -> Type:
        for type in Type:
            if self._tokens.accept(type):
                return type
        raise self._tokens.fault("a type")

    def _direction(self) -> Direction:
        for direction in Direction:
            if self._tokens.accept(direction):
                return direction
        raise self._tokens.fault("a direction")

    def _block(self) -> tuple[Stmt, ...]:
        self._tokens.expect("{")
        body: list[Stmt] = []
        while not self._tokens.accept("}"):
            body.append(self._statement())
        return tuple(body)

    def _statement(self) -> Stmt:
        tokens = self._tokens
        if tokens.accept("for"):
            return self._loop()
        if tokens.accept("let"):
            return self._let()
        if tokens.accept("if"):
            condition, then = self.expression(), self._block()
            return If(condition, then, self._block() if tokens.accept("else") else ())
        if tokens.accept("return"):
            return Return(self.expression())
        if tokens.at("allocate"):
            return self.allocate()
        buffer, index = tokens.take("name"), self._index()
        tokens.expect("=")
        return Store(buffer, index, self.expression())

    def _loop(self) -> For:
        variable = self._tokens.take("name")
        self._tokens.expect("in")
        begin = self.expression()
        self._tokens.expect("..")
        end = self.expression()
        self._types[variable] = Type.I32
        return For(variable, begin, end, self._block())

    def _let(self) -> Let:
        variable = self._tokens.take("name")
        self._tokens.expect("=")
        value = self.expression()
        self._types[variable] = value.type
        return Let(variable, value)

    def allocate(self) -> Allocate:
        """Read ``allocate name: type[elements] align n in scope [pools]``."""
        tokens = self._tokens
        tokens.expect("allocate")
        name, type, elements = self._declaration()
        if elements is None:
            raise tokens.fault("'['")
        self._buffers[name] = type
        tokens.expect("align")
        align = tokens.number()
        tokens.expect("in")
        scope = tokens.take("name")
        pools = tokens.nests(lambda: tokens.take("name"), "[", "]") if tokens.at("[") else ()
        return Allocate(
            buffer=name, type=type, elements=elements, align=align, scope=scope, pools=pools
        )

    def expression(self) -> Expr:
        """Read an expression."""
        tokens = self._tokens
        if tokens.at("("):
            return self._infix()
        if tokens.accept("@"):
            return self._call()
        for operation in (Operation.MIN, Operation.MAX):
            if tokens.accept(operation):
                return Binary(operation, *self._operands(2))
        if tokens.accept("select"):
            return Select(*self._operands(3))
        for name, (conversion, type) in _CASTS.items():
            if tokens.accept(name):
                return Cast(conversion, *self._operands(1), type)
        return self._atom()

    def _atom(self) -> Expr:
        """Read a name, a load or a literal."""
        tokens = self._tokens
        for name, type in self._types.items():
            if tokens.accept(name):
                return Var(name, type)
        for name, type in self._buffers.items():
            if tokens.accept(name):
                return Load(name, self._index(), type)
        value = tokens.number()
        return Const(value, self._type() if tokens.accept(":") else Type.I32)
