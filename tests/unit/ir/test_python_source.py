"""Kernels as Python: the same results as the interpreter, on every operation."""

from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import binary, cast, select
from atoll.ir.interpreter import Memory, interpret
from atoll.ir.python_source import python_function, python_source
from atoll.ir.tir import Direction, Entry, IRModule, Operation, PrimFunc, Type


def program() -> PrimFunc:
    """Apply every operation to pairs of numbers, with a loop, a branch and local buffers."""
    builder = FunctionBuilder("every_operation")
    given = builder.buffer("given", Type.I32, 8, Direction.READ)
    made = builder.buffer("made", Type.I64, 200, Direction.WRITE)
    table = builder.allocate("table", Type.I32, 4)
    place = builder.allocate("place", Type.I32, 1)
    place[0] = 0
    with builder.loop("index", 0, 4) as index:
        table[index] = binary(Operation.MUL, given[index], 3)
        left = builder.let("left", table[index])
        right = builder.let("right", binary(Operation.ADD, binary(Operation.AND, left, 7), 1))
        for operation in Operation:
            value = binary(operation, left, right)
            made[place[0]] = cast(cast(value, Type.I32), Type.I64)
            place[0] = binary(Operation.ADD, place[0], 1)
        with builder.when(binary(Operation.LT, left, right)):
            made[place[0]] = cast(cast(left, Type.I8), Type.I64)
        with builder.otherwise():
            made[place[0]] = cast(select(binary(Operation.EQ, left, 9), right, left), Type.I64)
        place[0] = binary(Operation.ADD, place[0], 1)
    return builder.kernel()


def test_python_and_the_interpreter_agree() -> None:
    kernel = program()
    module = IRModule("m", (kernel,), Entry((), (), (), (), ()))
    given = [5, -7, 3, 1000, 0, 0, 0, 0]
    expected: list[Memory] = [list(given), [None] * 200]
    interpret(module, kernel.name, expected)
    written = [value for value in expected[1] if value is not None]
    made = [0] * 200
    python_function(kernel)(list(given), made)
    assert made[: len(written)] == written
    assert len(written) == 4 * (len(Operation) + 1)


def test_a_local_buffer_of_one_element_is_a_variable() -> None:
    text = python_source(program())
    assert "place_ = 0" in text
    assert "table_ = [0] * 4" in text
