# SPDX-License-Identifier: Apache-2.0
"""Vectorized loops as LLVM IR: an iteration in each lane of LLVM's vectors."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from llvmlite import ir

from atoll.codegen.llvm_anchors import Anchors
from atoll.codegen.llvm_arithmetic import binary, convert, integer
from atoll.ir.lanes import step_of
from atoll.ir.tir import (
    Allocate,
    Binary,
    Call,
    Cast,
    Const,
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
from atoll.isa.instruction_set import Vectors

_INSTRUCTIONS: Mapping[tuple[Vectors, str, int], str] = {
    (Vectors.MVE, "srdhm", 4): "llvm.arm.mve.vqrdmulh.v4i32",
    (Vectors.MVE, "sdhm", 4): "llvm.arm.mve.vqdmulh.v4i32",
}
"""What a core with vectors has for a scalar function in as many lanes."""


class Scalars(Protocol):
    """Emits what is no vector: the function around the loop."""

    def name(self, variable: str, value: Expr) -> None:
        """Compute a variable."""

    def value(self, expr: Expr) -> ir.Value:
        """Compute an expression."""

    def address(self, buffer: str, index: Expr) -> ir.Value:
        """Compute where an element is."""


class Lanes:
    """Emits the body of a verified vectorized loop.

    What is the same in all lanes, and what grows by one from lane to lane, which indices do, is
    computed for the first lane only.
    """

    def __init__(
        self,
        builder: ir.IRBuilder,
        vectors: Vectors,
        functions: Mapping[str, PrimFunc],
        count: int,
        scalars: Scalars,
    ) -> None:
        """Start without variables.

        Args:
            builder: at the place of the loop.
            vectors: of the core.
            functions: what the body may call, by name.
            count: lanes.
            scalars: emits what is around the loop.
        """
        self._builder = builder
        self._core = vectors
        self._functions = functions
        self._count = count
        self._scalars = scalars
        self._vectors: dict[str, ir.Value] = {}
        self._steps: dict[str, int | None] = {}
        self._own: dict[str, ir.Value] = {}
        self._anchors = Anchors(builder)

    def emit(self, loop: For) -> None:
        """Emit all iterations."""
        self._scalars.name(loop.variable, loop.begin)
        self._steps[loop.variable] = 1
        for statement in loop.body:
            self._statement(statement)

    def _statement(self, statement: Stmt) -> None:
        match statement:
            case Let(variable, value):
                self._let(variable, value)
            case Store(buffer, index, value):
                stored = self._value(value)
                place = self._place(buffer, index, value.type)
                self._builder.store(stored, place, align=value.type.bytes)
            case Allocate():
                self._allocate(statement)
            case _:
                raise AssertionError(f"{statement} is in a vectorized loop")

    def _let(self, variable: str, value: Expr) -> None:
        step = self._step(value)
        if step is None:
            self._bind(variable, self._value(value))
        else:
            self._steps[variable] = step
            self._scalars.name(variable, value)

    def _allocate(self, allocate: Allocate) -> None:
        with self._builder.goto_entry_block():
            array = ir.ArrayType(self._vector(allocate.type), allocate.elements)
            self._own[allocate.buffer] = self._builder.alloca(array, name=allocate.buffer)

    def _vector(self, type: Type) -> ir.VectorType:
        return ir.VectorType(integer(type), self._count)

    def _step(self, expr: Expr) -> int | None:
        return step_of(expr, self._steps, self._own)

    def _place(self, buffer: str, index: Expr, type: Type) -> ir.Value:
        """Return where the first lane's element is, and those of the others behind it."""
        if buffer not in self._own:
            return self._near(buffer, index, type.bytes)
        place = [integer(Type.I32)(0), self._scalars.value(index)]
        return self._builder.gep(self._own[buffer], place, inbounds=True)

    def _near(self, buffer: str, index: Expr, size: int) -> ir.Value:
        """Return the address of an element of `size` bytes, by a pointer that others share."""
        match index:
            case Binary(Operation.ADD, first, Const(offset)):
                pass
            case _:
                first, offset = index, 0
        pointer = self._scalars.address(buffer, first)
        return self._anchors.address((buffer, first), pointer, offset * size)

    def _value(self, expr: Expr) -> ir.Value:
        builder, step = self._builder, self._step(expr)
        if step is not None:
            return self._step_vector(self._scalars.value(expr), step)
        match expr:
            case Var(name):
                return self._vectors[name]
            case Load(buffer, index, type):
                place = self._place(buffer, index, type)
                return builder.load(place, align=type.bytes, typ=self._vector(type))
            case Binary(operation, left, right):
                return binary(builder, operation, self._value(left), self._value(right))
            case Select(condition, then, otherwise):
                return builder.select(*(self._value(e) for e in (condition, then, otherwise)))
            case Cast(conversion, value, type):
                return convert(builder, conversion, self._value(value), self._vector(type))
            case Call(function, arguments):
                return self._call(function, [self._value(argument) for argument in arguments])
        raise AssertionError(f"{expr} is in a vectorized loop")

    def _step_vector(self, first: ir.Value, step: int) -> ir.Value:
        """Return a vector whose lanes grow by `step` from `first` on."""
        type = ir.VectorType(first.type, self._count)
        zero = integer(Type.I32)(0)
        one = self._builder.insert_element(type(ir.Undefined), first, zero)
        places = ir.VectorType(zero.type, self._count)([0] * self._count)
        equal = self._builder.shuffle_vector(one, type(ir.Undefined), places)
        if not step:
            return equal
        return self._builder.add(equal, type([step * lane for lane in range(self._count)]))

    def _call(self, function: str, arguments: list[ir.Value]) -> ir.Value:
        """Call an instruction, or write out the function."""
        if name := _INSTRUCTIONS.get((self._core, function, self._count)):
            return self._instruction(name, arguments)
        callee = self._functions[function]
        inside = Lanes(self._builder, self._core, self._functions, self._count, self._scalars)
        return inside._result(callee, arguments)

    def _result(self, function: PrimFunc, arguments: Sequence[ir.Value]) -> ir.Value:
        """Write out a function of scalars, for whose parameters there are vectors."""
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            self._bind(parameter.name, argument)
        *lets, last = function.body
        for let in lets:
            assert isinstance(let, Let), f"'{function.name}' has {let}"
            self._bind(let.variable, self._value(let.value))
        assert isinstance(last, Return)
        return self._value(last.value)

    def _bind(self, variable: str, value: ir.Value) -> None:
        self._vectors[variable], self._steps[variable] = value, None

    def _instruction(self, name: str, arguments: Sequence[ir.Value]) -> ir.Value:
        """Call an intrinsic whose result has the type of its arguments."""
        (type,) = {argument.type for argument in arguments}
        signature = ir.FunctionType(type, [type] * len(arguments))
        declared = self._builder.module.globals.get(name)
        declared = declared or ir.Function(self._builder.module, signature, name)
        return self._builder.call(declared, arguments)
