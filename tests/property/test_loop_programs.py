# SPDX-License-Identifier: Apache-2.0
"""Random loop programs: text reads back, ranges hold, and compiled code does what they mean."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases
from tests.ir.interpreter import interpret

from atoll.codegen.llvm_jit import NativeProgram
from atoll.ir.builder import Buffer, FunctionBuilder
from atoll.ir.expressions import add, binary, cast, maximum, minimum, select, subtract
from atoll.ir.ranges import Range, range_of
from atoll.ir.read_module import parse_module
from atoll.ir.tir import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Direction,
    Dot,
    Entry,
    Expr,
    IRModule,
    Operation,
    PrimFunc,
    Type,
    Var,
)
from atoll.ir.verify import verify
from atoll.lower.to_tir import with_callees

Draw = Callable[..., Any]
NUMBERS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-9, 9),
    st.sampled_from([2**31 - 1, -(2**31), 2**31, 2**30, -(2**63), 255, -128]),
)
WIDTHS = (Type.I8, Type.I16, Type.I32, Type.I64)
ELEMENTS = 8
ARITHMETIC = [op for op in Operation if op not in (Operation.DIV, Operation.REM)]


class Program:
    """Draws one kernel that reads x and reads and writes y."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.builder = FunctionBuilder("kernel")
        self.x = self.builder.buffer("x", Type.I64, ELEMENTS, Direction.READ)
        self.y = self.builder.buffer("y", Type.I32, ELEMENTS, Direction.BOTH)
        self.buffers: list[Buffer] = [self.x, self.y]
        self.scalars: list[Expr] = []
        self.lane: Expr | None = None

    def kernel(self) -> PrimFunc:
        self.block(depth=0)
        return self.builder.kernel()

    def block(self, depth: int) -> None:
        scalars, buffers = len(self.scalars), len(self.buffers)
        for _ in range(self.draw(st.integers(1, 4))):
            simple = (self.let, self.store, self.store, self.allocate, self.call, self.lanes)
            nested = (self.loop, self.when) if depth < 3 else ()
            self.draw(st.sampled_from((*simple, *nested)))(depth)
        del self.scalars[scalars:], self.buffers[buffers:]

    def let(self, depth: int) -> None:
        type = self.draw(st.sampled_from(WIDTHS))
        self.scalars.append(self.builder.let("v", self.value(type, 3)))

    def store(self, depth: int) -> None:
        buffer = self.draw(st.sampled_from(self.buffers[1:]))
        buffer[self.index()] = self.value(buffer.type, 3)

    def allocate(self, depth: int) -> None:
        buffer = self.builder.allocate("t", self.draw(st.sampled_from(WIDTHS)), ELEMENTS)
        with self.builder.loop("i", 0, ELEMENTS) as i:
            buffer[i] = i
        self.buffers.append(buffer)

    def loop(self, depth: int) -> None:
        begin = self.draw(st.integers(-2, 3))
        end = minimum(self.value(Type.I32, 1), begin + self.draw(st.integers(0, 4)))
        with self.builder.loop("i", begin, end) as i:
            self.scalars.append(i)
            self.block(depth + 1)
            self.scalars.remove(i)

    def when(self, depth: int) -> None:
        with self.builder.when(self.condition(2)):
            self.block(depth + 1)

    def lanes(self, depth: int) -> None:
        """Store neighbours at once, each made of what is its own and what all see."""
        scalars, count = len(self.scalars), self.draw(st.integers(2, 5))
        with self.builder.loop("lane", 0, count, vectorized=True) as self.lane:
            self.scalars.append(self.lane)
            own = self.builder.allocate("own", self.draw(st.sampled_from(WIDTHS)), 1)
            for _ in range(self.draw(st.integers(1, 3))):
                own[0] = self.value(own.type, 3)
                self.scalars.append(own[0])
                self.draw(st.sampled_from((self.let, self.call)))(depth)
            self.y[add(self.lane, self.draw(st.integers(0, 3)))] = self.value(Type.I32, 3)
        del self.scalars[scalars:]
        self.lane = None

    def call(self, depth: int) -> None:
        arguments = tuple(self.value(Type.I32, 1) for _ in range(2))
        self.scalars.append(self.builder.let("v", Call("srdhm", arguments, Type.I32)))

    def index(self) -> Expr:
        return binary(Operation.AND, self.value(Type.I32, 2), ELEMENTS - 1)

    def condition(self, depth: int) -> Expr:
        compare = self.draw(st.sampled_from([op for op in Operation if op.compares]))
        type = self.draw(st.sampled_from(WIDTHS))
        return binary(compare, self.value(type, depth - 1), self.value(type, depth - 1))

    def value(self, type: Type, depth: int) -> Expr:
        """Draw an expression of a type."""
        kind = self.draw(st.integers(0, 6 if depth > 0 else 2))
        if kind == 0 or (kind == 1 and not self.scalars):
            return cast(Const(self.draw(NUMBERS), Type.I64), type)
        if kind == 1:
            return cast(self.draw(st.sampled_from(self.scalars)), type)
        if kind == 2:
            loaded = self.load(depth)
            if loaded.type.bits < type.bits and self.draw(st.booleans()):
                return Cast(Conversion.ZEXT, loaded, type)
            return cast(loaded, type)
        bytes_ = [each for each in self.buffers if each.type is Type.I8]
        if kind == 5 and bytes_ and not self.lane:
            return cast(self.dot(bytes_, depth), type)
        if kind == 3:
            return select(self.condition(depth), *self.pair(type, depth))
        if kind == 4:
            dividend, divisor = self.pair(type, depth)
            division = self.draw(st.sampled_from([Operation.DIV, Operation.REM]))
            return binary(division, dividend, maximum(divisor, 1))
        operation = self.draw(st.sampled_from(ARITHMETIC))
        return cast(binary(operation, *self.pair(type, depth)), type)

    def load(self, depth: int) -> Expr:
        """Load from any buffer; in a lane from x, what lies as far from the lane in all of them."""
        near = self.draw(st.integers(0, ELEMENTS - 1))
        if self.lane:
            return self.x[near if near > 3 else add(self.lane, near)]
        buffer: Buffer = self.draw(st.sampled_from(self.buffers))
        return buffer[near if depth <= 0 else self.index()]

    def dot(self, buffers: list[Buffer], depth: int) -> Expr:
        """Multiply at most half the elements of two buffers, from the first half of each on."""
        half = ELEMENTS // 2
        one, other = (
            self.draw(st.sampled_from(buffers)).at(binary(Operation.AND, self.index(), half - 1))
            for _ in range(2)
        )
        return Dot(self.value(Type.I32, depth - 1), one, other, self.draw(st.integers(1, half)))

    def pair(self, type: Type, depth: int) -> tuple[Expr, Expr]:
        return self.value(type, depth - 1), self.value(type, depth - 1)


@st.composite
def modules(draw: Draw) -> IRModule:
    return IRModule("m", with_callees([Program(draw).kernel()]), Entry((), (), (), (), ()))


def meaning(module: IRModule, x: list[int], y: list[int]) -> list[int | None]:
    memory: list[int | None] = [*y]
    interpret(module, "kernel", [[*x], memory])
    return memory


def compiled(module: IRModule, x: list[int], y: list[int], level: int) -> list[int]:
    source, target = np.array(x, np.int64), np.array(y, np.int32)
    NativeProgram(module, level).call("kernel", [source.ctypes.data, target.ctypes.data])
    result: list[int] = target.tolist()
    return result


@settings(max_examples=cases(50), deadline=None)
@given(modules(), st.lists(NUMBERS, min_size=ELEMENTS, max_size=ELEMENTS))
def test_compiled_code_does_what_the_program_means(module: IRModule, x: list[int]) -> None:
    verify(module)
    y = list(range(-4, 4))
    expected = meaning(module, x, y)
    assert compiled(module, x, y, level=3) == expected
    assert compiled(module, x, y, level=0) == expected


@settings(max_examples=cases(50), deadline=None)
@given(modules())
def test_text_reads_back(module: IRModule) -> None:
    text = str(module)
    assert parse_module(text) == module
    assert str(parse_module(text)) == text


@settings(max_examples=cases(150), deadline=None)
@given(st.data())
def test_ranges_hold_every_value(data: st.DataObject) -> None:
    """The value of an expression lies in its range, for any values of its variables."""
    low = data.draw(st.integers(-300, 300))
    limits = Range(low, low + data.draw(st.integers(0, 300)))
    program = Program(data.draw)
    program.buffers = [program.x]
    program.scalars = [Var("a"), Var("b")]
    expr = program.value(Type.I32, 4)
    a, b = data.draw(st.integers(limits.low, limits.high)), data.draw(st.integers(-5, 5))
    expected = range_of(expr, {"a": limits, "b": Range(-5, 5)})
    builder = FunctionBuilder("f")
    x = builder.buffer("x", Type.I64, ELEMENTS, Direction.READ)
    assert x.name == "x"
    builder.scalar("a")
    builder.scalar("b")
    module = IRModule("m", (builder.function(expr),), Entry((), (), (), (), ()))
    numbers: list[int | None] = [data.draw(NUMBERS) for _ in range(ELEMENTS)]
    value = interpret(module, "f", [numbers, a, b])
    assert value is not None
    assert expected.low <= value <= expected.high


def test_what_may_wrap_has_any_value() -> None:
    largest = {"i": Range(2**31 - 2, 2**31 - 1)}
    assert range_of(add(Var("i"), 1), largest) == Range(-(2**31), 2**31 - 1)


def test_ranges_are_tight_for_indices() -> None:
    i = Var("i")
    index = add(subtract(0, i), 9)
    assert range_of(index, {"i": Range(2, 5)}) == Range(4, 7)
    assert range_of(maximum(index, 5), {"i": Range(2, 5)}) == Range(5, 7)


def test_a_comparison_is_0_or_1() -> None:
    less = binary(Operation.LT, Var("i"), 3)
    assert range_of(cast(less, Type.I32), {}) == Range(0, 1)


@pytest.mark.parametrize("operation", list(Operation))
def test_division_by_what_may_be_zero_is_refused(operation: Operation) -> None:
    divides = operation in (Operation.DIV, Operation.REM)
    expr = Binary(operation, Var("a"), Var("b"))
    builder = FunctionBuilder("f")
    builder.scalar("a")
    builder.scalar("b")
    module = IRModule("m", (builder.function(expr),), Entry((), (), (), (), ()))
    if divides:
        with pytest.raises(Exception, match="not surely positive"):
            verify(module)
    else:
        verify(module)
