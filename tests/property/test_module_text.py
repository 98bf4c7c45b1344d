# SPDX-License-Identifier: Apache-2.0
"""The text of a loop program reads back as the very same program, sensible or not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import cases

from atoll.ir.faults import ProgramError
from atoll.ir.maintenance import Maintenance
from atoll.ir.maintenance import Operation as CacheOperation
from atoll.ir.read_module import parse_module
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    Allocate,
    Binary,
    BufferParam,
    BufferPart,
    Call,
    CallExtern,
    CallSpread,
    CallStart,
    Cast,
    Const,
    Constant,
    Conversion,
    CoreCall,
    Direction,
    Dot,
    Entry,
    Execute,
    Expr,
    For,
    If,
    IRModule,
    KernelCall,
    Let,
    Load,
    Operation,
    PrimFunc,
    Return,
    RuntimeAllocate,
    SafeOverlap,
    Select,
    Step,
    Stmt,
    Store,
    Type,
    Var,
    Word,
)
from atoll.isa.function_unit import Instruction
from atoll.resolve.c_functions import CFunction, CSource

KEYWORDS = (
    *("for", "vectorized", "let", "if", "else", "return", "allocate", "extern", "function"),
    *("select", "dot", "word", "min", "max", "step", "part", "constant", "kept", "zeros", "later"),
    *("entry", "reads", "writes", "over", "driven", "with", "before", "after", "reset", "i32"),
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True) | st.sampled_from(KEYWORDS)
TYPES = st.sampled_from(list(Type))
WIDTHS = st.sampled_from([Type.I8, Type.I16, Type.I32, Type.I64])
ALIGNMENTS = st.sampled_from([1, 16, 64])
SCOPES = st.sampled_from(
    ["global", "global.workspace", "local", "cpu.stack", "cpu.main.stack", "global.stack"]
)
LISTS = st.lists(NAMES, max_size=3).map(tuple)
SIZES = st.integers(1, 2**70)
SOURCES = st.builds(
    CSource, name=st.text('ab.c/ "\\', min_size=1, max_size=6), text=st.text(max_size=12)
)


def some(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[Any]:
    """Draw a tuple of few."""
    return st.lists(strategy, max_size=most).map(tuple)


class Function:
    """Draws a function whose text says what each name is."""

    def __init__(self, draw: st.DrawFn, results: dict[str, Type]) -> None:
        self.draw, self.results = draw, results
        self.types: dict[str, Type] = {}
        self.buffers: dict[str, Type] = {}
        self.externs = draw(
            st.lists(
                st.builds(CFunction, source=SOURCES, name=NAMES, types=some(st.text(max_size=4))),
                max_size=1,
            )
        )
        self.instructions = [
            Instruction(
                name=name,
                opcode=11,
                funct3=1,
                funct7=5,
                latency=3,
                meaning="x",
                state=True,
                model="a:b",
            )
            for name in draw(st.lists(NAMES, max_size=1))
        ]

    def function(self, name: str) -> PrimFunc:
        """Draw all of it."""
        parameters: list[BufferParam | Var] = []
        for each in self.draw(st.lists(NAMES, max_size=4, unique=True)):
            if self.draw(st.booleans()):
                self.types[each] = self.draw(TYPES)
                parameters.append(Var(each, self.types[each]))
            else:
                self.buffers[each] = self.draw(WIDTHS)
                elements, direction = self.draw(SIZES), self.draw(st.sampled_from(Direction))
                parameters.append(BufferParam(each, self.buffers[each], elements, direction))
        body, result, isa = (
            self.block(2),
            self.draw(st.none() | TYPES),
            self.draw(st.text(max_size=5)),
        )
        if result:
            self.results[name] = result
        return PrimFunc(name, tuple(parameters), body, result, isa)

    def block(self, depth: int) -> tuple[Stmt, ...]:
        types, buffers = dict(self.types), dict(self.buffers)
        body = tuple(self.statement(depth) for _ in range(self.draw(st.integers(0, 3))))
        self.types, self.buffers = types, buffers
        return body

    def statement(self, depth: int) -> Stmt:
        kind = self.draw(st.integers(0 if depth else 2, 8))
        match kind:
            case 0:
                return self.loop(depth)
            case 1:
                condition, then = self.expression(1), self.block(depth - 1)
                return If(condition, then, self.block(depth - 1))
            case 2:
                value = self.expression(3)
                name = self.draw(NAMES)
                self.types[name] = value.type
                return Let(name, value)
            case 3:
                return Return(self.expression(2))
            case 4 | 5:
                return self.allocation(kind == 4)
            case 6 if self.externs:
                return CallExtern(self.externs[0], self.draw(LISTS), self.draw(some(st.integers())))
        return Store(self.draw(NAMES), self.expression(1), self.expression(3))

    def loop(self, depth: int) -> For:
        begin, end, types = self.expression(1), self.expression(1), dict(self.types)
        name = self.draw(NAMES)
        self.types[name] = Type.I32
        body = self.block(depth - 1)
        self.types = types
        return For(name, begin, end, body, self.draw(st.booleans()))

    def allocation(self, fixed: bool) -> Allocate | RuntimeAllocate:
        type, align, pools = self.draw(WIDTHS), self.draw(ALIGNMENTS), self.draw(LISTS)
        count, sized = self.draw(SIZES), self.expression(1)
        name, scope = self.draw(NAMES), self.draw(SCOPES)
        self.buffers[name] = type
        if fixed:
            return Allocate(
                buffer=name, type=type, elements=count, align=align, scope=scope, pools=pools
            )
        return RuntimeAllocate(
            buffer=name, type=type, elements=sized, align=align, scope=scope, pools=pools
        )

    def load(self, depth: int) -> Load | None:
        names = sorted(self.buffers)
        if not names:
            return None
        name = self.draw(st.sampled_from(names))
        return Load(name, self.expression(depth), self.buffers[name])

    def expression(self, depth: int) -> Expr:
        """Draw any; types need not fit."""
        kind = self.draw(st.integers(0, 9 if depth else 1))
        if kind == 0 and self.types:
            name = self.draw(st.sampled_from(sorted(self.types)))
            return Var(name, self.types[name])
        if kind > 1 and (made := self.operation(kind, depth - 1)):
            return made
        return Const(self.draw(st.integers()), self.draw(TYPES))

    def operation(self, kind: int, depth: int) -> Expr | None:
        draw, value = self.draw, self.expression
        match kind:
            case 2:
                return Binary(draw(st.sampled_from(Operation)), value(depth), value(depth))
            case 3:
                return Select(value(depth), value(depth), value(depth))
            case 4:
                return Cast(draw(st.sampled_from(Conversion)), value(depth), draw(TYPES))
            case 5 if self.results:
                name = draw(st.sampled_from(sorted(self.results)))
                arguments = tuple(value(depth) for _ in range(draw(st.integers(0, 2))))
                return Call(name, arguments, self.results[name])
            case 6 if self.instructions:
                return Execute(self.instructions[0], value(depth), value(depth))
            case 7:
                return self.load(depth)
            case 8 if first := self.load(depth):
                return Word(first)
            case 9 if (one := self.load(depth)) and (other := self.load(depth)):
                return Dot(value(depth), one, other, draw(SIZES), draw(st.integers(1, 8)))
        return None


@st.composite
def functions(draw: st.DrawFn) -> tuple[PrimFunc, ...]:
    results: dict[str, Type] = {}
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    return tuple(Function(draw, results).function(name) for name in names)


UPKEEP = some(st.builds(Maintenance, NAMES, st.sampled_from(CacheOperation), NAMES), 2)
ALLOCATIONS = st.builds(
    Allocate,
    buffer=NAMES,
    type=WIDTHS,
    elements=SIZES,
    align=ALIGNMENTS,
    scope=SCOPES,
    pools=LISTS,
    initial=st.none() | st.binary(max_size=70),
)
STATES = st.integers(1, 9).map(
    lambda size: Allocate(
        buffer="s", type=Type.I8, elements=size, align=1, scope="global", initial=bytes(size)
    )
)
PARTS = st.builds(BufferPart, name=NAMES, buffer=NAMES, offset=st.integers(0, 99), size=SIZES)
CONSTANTS = st.builds(
    Constant,
    name=NAMES,
    size=SIZES,
    align=ALIGNMENTS,
    pools=LISTS,
    data=st.none() | st.binary(max_size=70),
)
ZEROS = st.integers(1, 9).map(
    lambda size: Constant(name="z", size=size, align=1, pools=(), data=bytes(size))
)
ACTIONS = (
    st.builds(KernelCall, NAMES, LISTS)
    | st.builds(CallStart, NAMES, LISTS)
    | st.lists(st.builds(CoreCall, NAMES, NAMES, LISTS), min_size=1, max_size=3)
    .map(tuple)
    .map(CallSpread)
    | st.builds(AcceleratorRun, NAMES, NAMES, st.integers(1, 9))
    | st.builds(AcceleratorStart, NAMES, NAMES, st.integers(1, 9))
    | st.builds(AcceleratorWait, NAMES)
)
STEPS = st.builds(
    Step,
    operator=NAMES,
    number=st.integers(0, 99),
    device=NAMES,
    reads=LISTS,
    writes=LISTS,
    action=ACTIONS,
    overlaps=some(st.builds(SafeOverlap, NAMES, NAMES, st.integers(0, 2**40)), 2),
    record=st.just("") | NAMES,
    driver=st.just("") | NAMES,
    before=UPKEEP,
    after=UPKEEP,
)
ENTRIES = st.builds(
    Entry,
    inputs=LISTS,
    outputs=LISTS,
    allocations=some(ALLOCATIONS | STATES),
    constants=some(CONSTANTS | ZEROS),
    steps=some(STEPS),
    after=UPKEEP,
    parts=some(PARTS),
    reset=UPKEEP,
)


@settings(max_examples=cases(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ENTRIES)
def test_p2_the_text_of_any_entry_reads_back(entry: Entry) -> None:
    module = IRModule("m", (), entry)
    assert parse_module(str(module)) == module
    assert str(parse_module(str(module))) == str(module)


@settings(max_examples=cases(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(functions())
def test_p2_the_text_of_any_functions_reads_back(functions: tuple[PrimFunc, ...]) -> None:
    module = IRModule("m", functions, Entry((), (), (), (), ()))
    text = str(module)
    assert parse_module(text) == module
    assert str(parse_module(text)) == text


def test_p2_what_a_text_for_people_leaves_out_is_refused(tmp_path: Path) -> None:
    source = CSource(name="twice.c", text='void twice(int8_t *y) { y[0] = "2"[0]; }\n')
    twice = CFunction(source=source, name="twice", types=("int8_t *",))
    dot = Instruction(name="dot4", opcode=11, funct3=2, funct7=5)
    bodies: tuple[Stmt, ...] = (
        CallExtern(twice, ("y",)),
        Let("v", Execute(dot, Const(1), Const(2))),
    )
    y = BufferParam("y", Type.I8, 4, Direction.WRITE)
    table = Constant(name="t", size=65, align=1, pools=(), data=bytes(range(65)))
    entry = Entry((), (), (), (), ())
    wanted = ("the source of function 'twice' of 'twice.c'", "how instruction 'dot4' is encoded")
    cases_ = [
        (IRModule("m", (PrimFunc("f", (y,), (body,)),), entry), missing)
        for body, missing in zip(bodies, wanted, strict=True)
    ]
    cases_.append((IRModule("m", (), replace(entry, constants=(table,))), "the bytes of 't'"))
    for module, missing in cases_:
        assert parse_module(str(module)) == module
        path = tmp_path / "module.tir"
        path.write_text(module.brief())
        with pytest.raises(ProgramError) as caught:
            parse_module(module.brief(), path=path)
        (fault,) = caught.value.faults
        assert fault.code == "E198"
        assert fault.at is not None
        assert fault.at.path == path
        assert fault.message == f"this text is for people and leaves out {missing}"
