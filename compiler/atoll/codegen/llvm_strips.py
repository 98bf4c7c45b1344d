# SPDX-License-Identifier: Apache-2.0
"""Vectorized loops as LLVM IR for cores whose vectors have any length: strip by strip."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from llvmlite import ir

from atoll.codegen.llvm_arithmetic import binary, convert, integer
from atoll.codegen.llvm_riscv_vectors import (
    ROUND_DOWN,
    ROUND_UP,
    VectorBuilder,
    is_vector,
)
from atoll.ir.lanes import step_of
from atoll.ir.tir import (
    Allocate,
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Expr,
    For,
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

_HIGH_HALVES = {"srdhm": ROUND_UP, "sdhm": ROUND_DOWN}
"""How an instruction rounds that multiplies as the scalar function does."""

_SHIFT = "rdbp"
"""The scalar function that shifts to the right, halves away from zero."""


class Scalars(Protocol):
    """Emits what is no vector: the function around the loop."""

    def set(self, variable: str, value: ir.Value) -> None:
        """Bind a variable."""

    def name(self, variable: str, value: Expr) -> None:
        """Compute a variable."""

    def value(self, expr: Expr) -> ir.Value:
        """Compute an expression."""

    def address(self, buffer: str, index: Expr) -> ir.Value:
        """Compute where an element is."""

    def loop(self, loop: For, body: Callable[[], None]) -> None:
        """Emit a loop around what `body` emits."""


class Strips:
    """Emits a verified vectorized loop for as many iterations at once as a core's vectors hold.

    What is the same in all lanes is computed once, and what grows by one, which indices do, for the
    first lane. A product of two bytes waits for the sum that it is added to: one instruction makes
    both.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        vectors: VectorBuilder,
        functions: Mapping[str, PrimFunc],
        scalars: Scalars,
    ) -> None:
        """Start without variables.

        Args:
            builder: at the place of the loop.
            vectors: emits to it.
            functions: what the body may call, by name.
            scalars: emits what is around the loop.
        """
        self._builder = builder
        self._vectors = vectors
        self._functions = functions
        self._scalars = scalars
        self._steps: dict[str, int | None] = {}
        self._bound: dict[str, ir.Value] = {}
        self._bytes: dict[str, ir.Value] = {}
        self._products: dict[str, tuple[ir.Value, ir.Value]] = {}
        self._own: dict[str, list[ir.Value]] = {}

    def emit(self, loop: For) -> None:
        """Emit all iterations."""
        builder, register = self._builder, self._vectors.register
        begin, end = self._scalars.value(loop.begin), self._scalars.value(loop.end)
        count = self._vectors.as_register(builder.sub(end, begin))
        before = builder.block
        strip = builder.append_basic_block(loop.variable)
        after = builder.append_basic_block(f"{loop.variable}.end")
        builder.cbranch(builder.icmp_signed("<", begin, end), strip, after)
        builder.position_at_end(strip)
        left, first = builder.phi(register), builder.phi(integer(Type.I32), loop.variable)
        left.add_incoming(count, before)
        first.add_incoming(begin, before)
        lanes = self._vectors.set_lanes(left)
        self._scalars.set(loop.variable, first)
        self._steps[loop.variable] = 1
        self._block(loop.body)
        remaining = builder.sub(left, lanes)
        done = lanes if register.width == Type.I32.bits else builder.trunc(lanes, first.type)
        left.add_incoming(remaining, builder.block)
        first.add_incoming(builder.add(first, done), builder.block)
        builder.cbranch(builder.icmp_unsigned("!=", remaining, register(0)), strip, after)
        builder.position_at_end(after)

    def _block(self, body: Sequence[Stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Let(variable, value):
                self._let(variable, value)
            case Store(buffer, index, value):
                self._store(buffer, index, value)
            case Allocate(buffer=buffer, type=type, elements=elements):
                with self._builder.goto_entry_block():
                    places = [
                        self._builder.alloca(self._vectors.vector_of(type)) for _ in range(elements)
                    ]
                self._own[buffer] = places
            case For():
                self._scalars.loop(statement, lambda: self._block(statement.body))
            case _:
                raise AssertionError(f"{statement} is in a vectorized loop")

    def _let(self, variable: str, value: Expr) -> None:
        step = step_of(value, self._steps, self._own)
        self._steps[variable] = step
        if step is not None:
            self._scalars.name(variable, value)
            if _is_byte(value):
                word = self._scalars.value(Var(variable, value.type))
                self._bytes[variable] = self._builder.trunc(word, integer(Type.I16))
            return
        match value:
            case Cast() if _is_byte(value):
                self._bytes[variable] = self._half(value)
            case Binary(Operation.MUL) if product := self._product_of(value):
                self._products[variable] = product
            case _:
                self._bound[variable] = self._value(value)

    def _product_of(self, expr: Expr) -> tuple[ir.Value, ir.Value] | None:
        """Return two factors that are bytes, widened to `I16`, of which one is a vector."""
        match expr:
            case Var(name):
                return self._products.get(name)
            case Binary(Operation.MUL, left, right):
                if all(map(self._has_byte, (left, right))):
                    factors = self._half(left), self._half(right)
                    return factors if any(map(is_vector, factors)) else None
        return None

    def _has_byte(self, expr: Expr) -> bool:
        return _is_byte(expr) or (isinstance(expr, Var) and expr.name in self._bytes)

    def _half(self, expr: Expr) -> ir.Value:
        """Return an `I32` that is a byte as an `I16`."""
        if isinstance(expr, Var) and expr.name in self._bytes:
            return self._bytes[expr.name]
        assert isinstance(expr, Cast)
        byte = self._value(expr.value)
        if is_vector(byte):
            return self._vectors.extend(byte, Type.I16)
        return self._builder.sext(byte, integer(Type.I16))

    def _store(self, buffer: str, index: Expr, value: Expr) -> None:
        stored = self._vector(value)
        if buffer in self._own:
            self._builder.store(stored, self._own_place(buffer, index))
        else:
            self._vectors.store(stored, self._scalars.address(buffer, index))

    def _own_place(self, buffer: str, index: Expr) -> ir.Value:
        assert isinstance(index, Const), f"'{buffer}' is in registers, and has element {index}"
        return self._own[buffer][index.value]

    def _vector(self, expr: Expr) -> ir.Value:
        value = self._value(expr)
        return value if is_vector(value) else self._vectors.splat(value)

    def _value(self, expr: Expr) -> ir.Value:
        """Return a vector, or a scalar that is the same in all lanes."""
        vectors, step = self._vectors, step_of(expr, self._steps, self._own)
        if step is not None:
            first = self._scalars.value(expr)
            return vectors.count_up(first, step) if step else first
        match expr:
            case Var(name) if name in self._products:
                return vectors.multiply(*self._products[name])
            case Var(name) if name in self._bytes:
                return vectors.extend(self._bytes[name], Type.I32)
            case Var(name):
                return self._bound[name]
            case Load(buffer, index, type) if buffer in self._own:
                place = self._own_place(buffer, index)
                return self._builder.load(place, typ=vectors.vector_of(type))
            case Load(buffer, index, type):
                return vectors.load(self._scalars.address(buffer, index), type)
            case Binary(Operation.ADD, total, added) if product := self._product_of(added):
                return vectors.multiply_add(self._vector(total), *product)
            case Binary(operation, left, right):
                return self._binary(operation, self._value(left), self._value(right))
            case Select(condition, then, otherwise):
                chosen = [self._value(each) for each in (condition, then, otherwise)]
                return self._choose(*chosen)
            case Cast(conversion, value, type):
                return self._convert(conversion, self._value(value), type)
            case Call(function, arguments):
                return self._call(function, [self._value(argument) for argument in arguments])
        raise AssertionError(f"{expr} is in a vectorized loop")

    def _binary(self, operation: Operation, left: ir.Value, right: ir.Value) -> ir.Value:
        if is_vector(left) or is_vector(right):
            return self._vectors.binary(operation, left, right)
        return binary(self._builder, operation, left, right)

    def _choose(self, condition: ir.Value, then: ir.Value, otherwise: ir.Value) -> ir.Value:
        if is_vector(condition):
            return self._vectors.choose(condition, then, otherwise)
        if is_vector(then) or is_vector(otherwise):
            then, otherwise = (
                each if is_vector(each) else self._vectors.splat(each) for each in (then, otherwise)
            )
        return self._builder.select(condition, then, otherwise)

    def _convert(self, conversion: Conversion, value: ir.Value, type: Type) -> ir.Value:
        vectors = self._vectors
        if not is_vector(value):
            return convert(self._builder, conversion, value, integer(type))
        if conversion is Conversion.TRUNC:
            return vectors.truncate(value, type)
        if value.type.element.width == 1:
            one = integer(type)(1 if conversion is Conversion.ZEXT else -1)
            return vectors.choose(value, one, integer(type)(0))
        assert conversion is Conversion.SEXT, "bytes without a sign are in a vectorized loop"
        return vectors.extend(value, type)

    def _call(self, function: str, arguments: list[ir.Value]) -> ir.Value:
        """Call an instruction, or write out the function."""
        if function in _HIGH_HALVES:
            left, right = arguments
            return self._vectors.multiply_high(left, right, _HIGH_HALVES[function])
        if function == _SHIFT and is_vector(arguments[0]):
            value, amount = arguments
            return self._vectors.shift_right(value, amount)
        inside = Strips(self._builder, self._vectors, self._functions, self._scalars)
        return inside._result(self._functions[function], arguments)

    def _result(self, function: PrimFunc, arguments: Sequence[ir.Value]) -> ir.Value:
        """Write out a function of scalars for what its parameters have in each lane."""
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            self._bind(parameter.name, argument)
        *lets, last = function.body
        for let in lets:
            assert isinstance(let, Let), f"'{function.name}' has {let}"
            self._bind(let.variable, self._value(let.value))
        assert isinstance(last, Return)
        return self._value(last.value)

    def _bind(self, variable: str, value: ir.Value) -> None:
        self._bound[variable], self._steps[variable] = value, None


def only_copies(loop: For) -> bool:
    """Tell whether a loop moves bytes and computes nothing of them."""
    return all(
        isinstance(each, Store) and isinstance(each.value, Load) and each.value.type is Type.I8
        for each in loop.body
    )


def _is_byte(value: Expr) -> bool:
    """Tell whether an `I32` is a byte with a sign."""
    match value:
        case Cast(Conversion.SEXT, byte, Type.I32):
            return byte.type is Type.I8
    return False
