# SPDX-License-Identifier: Apache-2.0
"""What a kernel executes, counted in its loop program, held against a walk that takes each step."""

import tracemalloc
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from tests import tflite_builder
from tests.differential.case import case_of

from atoll.cost.executed import UncountableError, count_executed
from atoll.diagnostics.errors import AtollError
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.ir.arithmetic import evaluate
from atoll.ir.expressions import add, maximum, multiply, subtract
from atoll.ir.scalars import (
    Binary,
    Call,
    Cast,
    Const,
    Conversion,
    Expr,
    Load,
    Operation,
    Select,
    Type,
    Var,
)
from atoll.ir.statements import (
    Allocate,
    BufferParam,
    Direction,
    For,
    If,
    Let,
    PrimFunc,
    Return,
    RuntimeAllocate,
    Stmt,
    Store,
)
from atoll.ops.loops.fixed_point_loops import LIBRARY
from atoll.ops.registry import kind_of
from atoll.resolve import load_soc
from atoll.resolve.storage_scope import LOCAL

ROUNDS = ("rounds", "unrolled_rounds")
MOVES = tuple(
    f"{what}{length}_{width}"
    for what in ("copied", "alike_copied", "filled")
    for length in ("", "_any")
    for width in ("8", "32", "64")
)


class Walk:
    """Runs the loops of a kernel one round after the other, and counts rounds and stores."""

    def __init__(self) -> None:
        self.rounds = self.stores = 0
        self.registers: set[str] = set()

    def run(self, body: Iterable[Stmt], known: dict[str, int]) -> None:
        for each in body:
            match each:
                case Allocate() if each.scope == LOCAL:
                    self.registers.add(each.buffer)
                case Let(name, value):
                    known.pop(name, None)
                    if (number := self.value(value, known)) is not None:
                        known[name] = number
                case Store(buffer, index, _):
                    self.stores += buffer not in self.registers or not isinstance(index, Const)
                case For(name, begin, end, inside):
                    first, last = self.value(begin, known), self.value(end, known)
                    assert first is not None
                    assert last is not None
                    for round_ in range(first, last):
                        self.rounds += 1
                        self.run(inside, {**known, name: round_})
                case If(condition, then, otherwise):
                    taken = self.value(condition, known)
                    if taken is None:
                        raise UncountableError
                    self.run(then if taken else otherwise, dict(known))

    def value(self, expr: Expr, known: Mapping[str, int]) -> int | None:
        match expr:
            case Const(value):
                return value
            case Var(name):
                return known.get(name)
            case Binary(operation, left, right):
                a, b = self.value(left, known), self.value(right, known)
                return None if a is None or b is None else evaluate(operation, a, b, left.type)
            case Cast(_, value):
                return self.value(value, known)
            case Select(condition, then, otherwise):
                chosen = self.value(condition, known)
                if chosen is None:
                    return None
                return self.value(then if chosen else otherwise, known)
        return None


def total(found: Mapping[str, float], names: Iterable[str]) -> float:
    return sum(found.get(name, 0) for name in names)


@pytest.mark.parametrize("first", range(2000, 2024, 6))
def test_rounds_and_stores_are_those_of_each_step(first: int, tmp_path: Path) -> None:
    soc, seen = load_soc("lagoon"), 0
    for seed in range(first, first + 6):
        path = tmp_path / "net.tflite"
        path.write_bytes(tflite_builder.write(case_of(seed).model))
        try:
            graph = compile_file(soc, path, BuildOptions(accelerators=False)).graph
        except AtollError:  # some are refused on purpose
            continue
        for op in graph.operators:
            lowered = kind_of(op).lower_for(op, graph, soc.host_cpu.arithmetic)
            walk = Walk()
            try:
                walk.run(lowered.function.body, {})
            except UncountableError:
                continue
            found = count_executed(lowered.function, (*LIBRARY, *lowered.library)).things
            assert total(found, (*ROUNDS, *MOVES)) == pytest.approx(walk.rounds), op.name
            stores = (*(f"store_{width}" for width in ("8", "32", "64")), *MOVES)
            assert total(found, stores) == pytest.approx(walk.stores), op.name
            seen += 1
    assert seen >= 5


ROW, COLUMN = Var("row"), Var("column")
BYTE = Const(3, Type.I8)


def over(variable: Var, end: int, *body: Stmt) -> For:
    return For(variable.name, Const(0), Const(end), body)


def read(index: Expr) -> Load:
    return Load("x", index, Type.I8)


def index_of_column(step: int, first: int) -> Expr:
    return add(ROW, multiply(COLUMN, step), first)


def kernel(*body: Stmt) -> PrimFunc:
    ways = (Direction.READ, Direction.WRITE)
    buffers = (BufferParam(name, Type.I8, 4096, way) for name, way in zip("xy", ways, strict=True))
    return PrimFunc("kernel", tuple(buffers), body)


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        (over(ROW, 64, Store("y", ROW, read(ROW))), {"alike_copied_8": 64, "copied_8_loops": 1}),
        (over(ROW, 64, Store("y", add(ROW, 1), read(ROW))), {"copied_8": 64, "copied_8_loops": 1}),
        (
            over(COLUMN, 8, over(ROW, 64, Store("y", add(ROW, 4), read(add(ROW, COLUMN))))),
            {"loops": 1, "rounds": 8, "copied_8_loops": 8, "copied_8": 384, "alike_copied_8": 128},
        ),
        (
            over(COLUMN, 40, over(ROW, 64, Store("y", ROW, read(index_of_column(2, 1))))),
            {"loops": 1, "rounds": 40, "copied_8_loops": 40, "copied_8": 2560},
        ),
        (over(ROW, 64, Store("y", add(ROW, 5), BYTE)), {"filled_8": 64, "filled_8_loops": 1}),
        (
            over(ROW, 64, Store("y", subtract(63, ROW), read(ROW))),
            {"load_8": 64, "store_8": 64, "unrolled_loops": 1, "unrolled_rounds": 64},
        ),
        (
            over(ROW, 900, Store("y", ROW, maximum(read(ROW), BYTE))),
            {"loops": 1, "rounds": 900, "load_8": 900, "store_8": 900, "extremes": 900}
            | {"pointers": 1800},
        ),
        (
            over(
                ROW,
                300,
                over(COLUMN, 300, Store("y", multiply(COLUMN, 2), maximum(read(ROW), BYTE))),
            ),
            {"loops": 301, "rounds": 90300, "load_8": 300, "extremes": 300, "store_8": 90000}
            | {"pointers": 90300},
        ),
    ],
    ids=[
        "by words",
        "by bytes",
        "one in four by words",
        "never by words",
        "filled",
        "unrolled",
        "a loop",
        "what an inner loop does not change",
    ],
)
def test_loops_count_as_an_optimiser_leaves_them(loop: For, found: Mapping[str, float]) -> None:
    assert count_executed(kernel(loop)).things == pytest.approx(found)


@pytest.mark.parametrize(("held", "again"), [(12, 0), (20, 8)])
def test_values_beyond_the_registers_are_loaded_again(held: int, again: int) -> None:
    values = (read(Const(place)) for place in range(held))
    most: Expr = read(ROW)
    for each in values:
        most = maximum(most, each)
    loop = over(ROW, 300, Store("y", ROW, most))
    found = count_executed(kernel(loop)).things
    assert found.get("spilled", 0) == again * 300
    assert found["load_8"] == 300 + held


def shift(value: Expr, bits: Expr) -> Expr:
    return Binary(Operation.SHR, value, bits)


def test_bits_of_shifts_are_counted_where_they_are_known() -> None:
    """A call's literals are, a variable that nobody knows is not; two words are shifted apart."""
    word, wide = (Cast(Conversion.SEXT, read(ROW), type) for type in (Type.I32, Type.I64))
    right = Return(shift(Var("x"), Var("by")))
    library = PrimFunc("right", (Var("x"), Var("by")), (right,), Type.I32)
    bits = Cast(Conversion.SEXT, read(add(ROW, 1)), Type.I32)
    for value, found in (
        (shift(word, Const(7)), {"alu_bits": 7}),
        (shift(word, bits), {"alu_any_shifts": 1}),
        (shift(wide, Const(31, Type.I64)), {"wide_alu_bits": 63}),
        (shift(wide, Const(35, Type.I64)), {"wide_alu_bits": 3}),
        (Call("right", (word, Const(9)), Type.I32), {"alu_bits": 9}),
        (Call("right", (word, bits), Type.I32), {"alu_any_shifts": 1}),
    ):
        store = Store("y", ROW, Cast(Conversion.TRUNC, value, Type.I8))
        things = count_executed(kernel(over(ROW, 900, store)), (library,)).things
        shifts = {name: each for name, each in things.items() if name.endswith(("bits", "shifts"))}
        assert shifts == {name: 900 * each for name, each in found.items()}


def test_the_code_of_loops_lies_in_each_other() -> None:
    """What an inner loop does not change is code of the outer one; unrolled loops are as often."""
    short = over(Var("short"), 3, Store("y", Var("short"), maximum(read(ROW), BYTE)))
    inner = over(COLUMN, 300, Store("y", multiply(COLUMN, 2), maximum(read(ROW), BYTE)))
    nest = count_executed(kernel(over(ROW, 400, inner, short))).nest
    assert (nest.entered, nest.rounds, nest.code) == (1, 1, {})
    (outer,) = nest.inner
    assert (outer.entered, outer.rounds) == (1, 400)
    assert outer.code == {
        **{"loops": 1, "pointers": 2, "load_8": 2, "extremes": 2},
        **{"unrolled_loops": 1, "store_8": 3},
    }
    (innermost,) = outer.inner
    assert (innermost.entered, innermost.rounds) == (400, 120_000)
    assert innermost.code == {"loops": 1, "store_8": 1, "pointers": 1}


def test_what_rests_on_data_is_not_counted() -> None:
    data = Cast(Conversion.SEXT, read(Const(0)), Type.I32)
    with pytest.raises(UncountableError):
        count_executed(kernel(For("row", Const(0), data, (Store("y", ROW, BYTE),))))
    block = RuntimeAllocate(
        buffer="b", type=Type.I8, elements=Const(4), align=1, scope="global.workspace"
    )
    with pytest.raises(UncountableError):
        count_executed(kernel(block))


def test_loops_whose_ends_rest_on_many_others_take_little_memory() -> None:
    """Each of six loops over 60 rounds has its share in how often the innermost one runs."""
    names = [f"at{number}" for number in range(6)]
    end = add(*(Var(name) for name in names))
    loop = For("row", Const(0), end, (Store("y", ROW, maximum(read(ROW), BYTE)),))
    for name in reversed(names):
        loop = For(name, Const(0), Const(60), (loop,))
    tracemalloc.start()
    found = count_executed(kernel(loop)).things
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 64 * 2**20
    assert found["store_8"] == pytest.approx(60**6 * 6 * 29.5, rel=0.1)


def test_loops_one_after_the_other_and_within_each_other_are_counted_or_not() -> None:
    """Many rest on an outer one here, and too many for an array on those around."""

    def resting(count: int, inner: str) -> For:
        last = For(inner, Const(0), Var("at"), (Store("y", Var(inner), maximum(read(ROW), BYTE)),))
        return over(Var("at"), count, last)

    found = count_executed(kernel(*(resting(5, f"in{number}") for number in range(80)))).things
    assert found["store_8"] == pytest.approx(80 * 10)
    body = over(Var("at39"), 2, Store("y", Const(0), BYTE))
    for number in reversed(range(39)):
        end = add(Const(1), Var(f"at{number}"))
        inner = For(body.variable, Const(0), end, body.body)
        body = For(f"at{number}", Const(0), Const(2), (inner,))
    with pytest.raises(UncountableError):
        count_executed(kernel(body))
