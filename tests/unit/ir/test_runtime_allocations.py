# SPDX-License-Identifier: Apache-2.0
"""W1, K7: buffers that are sized at run time: text, rules, meaning, and compiled code alike."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import cases
from tests.ir.interpreter import interpret
from tests.llvm_text import dump

from atoll.codegen.llvm_jit import HeapMemory, NativeProgram
from atoll.diagnostics.errors import PlanError
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add, multiply
from atoll.ir.faults import ProgramError
from atoll.ir.heap import Heap
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.read_module import parse_module
from atoll.ir.tir import Direction, Entry, IRModule, PrimFunc, Type
from atoll.ir.verify import verify
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.protocol import Status

CAPACITY = 512
CHOSEN = SpecializeStorage(max_alloca=0, max_stack=0, pools=("shared",), heaps=("shared",))


def sums(type: Type = Type.I32) -> PrimFunc:
    """Put x[0] times i into a buffer of x[0] elements, for each of two rounds, and sum it up."""
    builder = FunctionBuilder("sums")
    x = builder.buffer("x", Type.I64, 1, Direction.READ)
    y = builder.buffer("y", Type.I32, 1, Direction.BOTH)
    y[0] = 0
    with builder.loop("round", 0, 2):
        wide = builder.reserve("wide", type, x[0])
        narrow = builder.reserve("narrow", Type.I8, add(x[0], 1))
        narrow[0] = 1
        with builder.loop("i", 0, wide_count(x)) as i:
            wide[i] = i
        with builder.loop("k", 0, wide_count(x)) as k:
            y[0] = add(y[0], wide.wide(k), narrow.wide(0))
    return builder.kernel()


def wide_count(x: Any) -> Any:
    return x.wide(0)


def module(function: PrimFunc) -> IRModule:
    return IRModule("m", (function,), Entry((), (), (), (), ()))


def test_w1_the_text_reads_back() -> None:
    program = module(sums())
    assert "allocate wide: i32[x[0]] align 4 in global\n" in str(program)
    assert parse_module(str(program)) == program
    chosen = CHOSEN.run(program)
    assert "allocate wide: i32[x[0]] align 4 in global.workspace [shared]\n" in str(chosen)
    assert parse_module(str(chosen)) == chosen
    verify(chosen)
    verify_narrowing(program, chosen)


def test_w1_a_kernel_without_a_heap_in_reach_is_refused_for_each_buffer() -> None:
    without = SpecializeStorage(max_alloca=0, max_stack=0, pools=("shared",))
    with pytest.raises(PlanError, match="sized at run time") as caught:
        without.run(module(sums()))
    assert [fault.code for fault in caught.value.faults] == ["E067", "E067"]


def test_c2_a_pass_never_gives_a_buffer_another_heap() -> None:
    chosen = CHOSEN.run(module(sums()))
    other = parse_module(str(chosen).replace("[shared]", "[private]"))
    with pytest.raises(ProgramError, match="gained the heaps of private"):
        verify_narrowing(chosen, other)


@pytest.mark.parametrize(
    ("allocation", "words"),
    [
        ("t: i8[x[0]] align 1 in global", "number of elements of 't' is an i8"),
        ("t: i1[n] align 1 in global", "buffer 't' holds i1"),
        ("t: i8[n] align 32 in global", "alignment 32 of 't' is none of a heap"),
        ("t: i8[n] align 3 in global", "alignment 3 of 't' is none of a heap"),
        ("t: i8[n] align 1 in global.stack", "scope 'global.stack' of 't' is none of a heap"),
        ("t: i8[(n - 200)] align 1 in global", "can never be from 1 to 2147483647"),
        ("t: i64[max(n, 300000000)] align 1 in global", "can never be from 1 to 268435455"),
        ("x: i8[n] align 1 in global", "declares 'x' again"),
        ("t: i8[missing[0]] align 1 in global", "a name that is declared"),
    ],
)
def test_w1_the_verifier_refuses(allocation: str, words: str) -> None:
    text = f"""module m
function @f(x: i8[4] read, y: i8[4] write) {{
  let n = sext.i32(x[0])
  allocate {allocation}
  y[0] = 1
}}
entry [] -> [] {{
}}
"""
    with pytest.raises(ProgramError, match=words):
        verify(parse_module(text))


def test_w1_a_function_of_scalars_takes_nothing() -> None:
    text = """module m
function @f(n: i32) -> i32 {
  allocate t: i8[n] align 1 in global
  return n
}
entry [] -> [] {
}
"""
    with pytest.raises(ProgramError, match="is a function of scalars"):
        verify(parse_module(text))


def interpreted(program: IRModule, count: int) -> tuple[int | None, int | None]:
    result: list[int | None] = [None]
    heap = Heap(CAPACITY)
    status = interpret(program, "sums", [[count], result], heap)
    assert heap.blocks == 0
    return status, result[0]


def compiled(program: IRModule, count: int) -> tuple[int, int]:
    x, y = np.array([count], dtype=np.int64), np.zeros(1, dtype=np.int32)
    memory = np.full(CAPACITY + 2 * 16, 0x5A, dtype=np.uint8)
    base = -(-memory.ctypes.data // 16) * 16
    heap = Heap(CAPACITY)
    native = NativeProgram(program, heaps={"shared": HeapMemory(base, heap)})
    status = native.call("sums", [x.ctypes.data, y.ctypes.data])
    assert heap.blocks == 0
    assert (memory[base - memory.ctypes.data + CAPACITY :] == 0x5A).all()
    return status, int(y[0])


COUNTS = st.one_of(
    st.integers(-3, 140),
    st.sampled_from([2**29, 2**30, 2**31, 2**32, 2**32 + 4, 2**61, 2**62 + 8, 2**63 - 1, -(2**63)]),
)


@settings(max_examples=cases(150), deadline=None)
@given(COUNTS, st.sampled_from([Type.I8, Type.I16, Type.I32, Type.I64]))
def test_w1_k7_compiled_and_interpreted_agree_and_sizes_never_wrap(count: int, type: Type) -> None:
    """2^32 + 4 elements are too many, and not 4; a kernel that fails has given all back."""
    program = CHOSEN.run(module(sums(type)))
    verify(program)
    status, total = interpreted(program, count)
    assert compiled(program, count) == (status, total)
    if count < 1:
        assert status == Status.ARGUMENT
    elif count > CAPACITY:
        assert status == Status.NO_MEMORY
    elif count * type.bytes + count + 64 <= CAPACITY:
        assert status == 0


def test_w1_an_element_past_the_run_time_size_is_noticed() -> None:
    builder = FunctionBuilder("sums")
    x = builder.buffer("x", Type.I64, 1, Direction.READ)
    y = builder.buffer("y", Type.I32, 1, Direction.WRITE)
    builder.reserve("t", Type.I8, x[0])[multiply(x.wide(0), 1)] = 1
    y[0] = 1
    with pytest.raises(ProgramError, match="touches element 7 of 't', which has 7"):
        interpreted(module(builder.kernel()), 7)


def test_w1_code_for_a_core_calls_the_allocator_of_the_pool() -> None:
    text = dump(CHOSEN.run(module(sums())), "rv32imc")
    assert "@atoll_workspace_allocate(ptr" in text
    assert "@atoll_workspace_free(ptr" in text
    assert "@atoll_heap_shared" in text
