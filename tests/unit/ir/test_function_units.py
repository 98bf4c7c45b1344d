# SPDX-License-Identifier: Apache-2.0
"""Words and instructions of function units in the loop program: text, rules, meaning, code."""

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tests.c_program import CProgram
from tests.ir.interpreter import Memory, interpret

from atoll.codegen.llvm_jit import NativeProgram
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import core_machine, new_module, optimize
from atoll.codegen.llvm_units import CoreUnit
from atoll.ir.faults import ProgramError
from atoll.ir.read_module import parse_module
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.isa.find import instruction_set
from atoll.isa.function_unit import Instruction
from atoll.isa.instruction_set import Vectors

EXAMPLE = Path(__file__).parents[3] / "examples" / "09_custom_instruction"
DOT4 = Instruction(name="dot4", opcode=0x0B, funct3=2, funct7=5, model="dot4:Dot4")
TEXT = """module small

function @product(x: i8[8] read, w: i8[8] read, total: i32[2] write) {
  total[0] = ($dot4(word(x[0]), word(w[4])) + dot(7, x[4], w[0], 4, 4))
  total[1] = word(x[4])
}

entry [] -> [] {
}
"""
C = """#include <stdint.h>
int32_t atoll_execute_dot4(int32_t a, int32_t b);
int32_t atoll_execute_dot4(int32_t a, int32_t b) {
  int32_t sum = 0;
  for (int i = 0; i < 32; i += 8) {
    sum += (int8_t)((uint32_t)a >> i) * (int8_t)((uint32_t)b >> i);
  }
  return sum;
}
"""


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)


def module(text: str = TEXT) -> IRModule:
    return parse_module(text, [DOT4])


def test_text_is_read_as_it_is_printed() -> None:
    verify(module())
    assert module(str(module())) == module()
    assert "$dot4(word(x[0]), word(w[4]))" in str(module())
    assert "dot(7, x[4], w[0], 4, 4)" in str(module())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("word(x[4])", "word(x[5])", "touches elements 8 to 8 of 'x', which has 8"),
        ("x: i8[8] read", "x: i8[8] write", "loads from 'x', which is only written"),
        ("total[1] = word(x[4])", "total[1] = word(total[0])", "is made of i32"),
        ("word(w[4]))", "1:i64)", "operands of $dot4(word(x[0]), 1:i64) are i32 and i64"),
        ("4, 4)", "4, 3)", "is not made of parts of 3"),
        ("4, 4)", "3, 2)", "is not made of parts of 2"),
    ],
)
def test_rules(old: str, new: str, said: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(ProgramError) as caught:
        verify(module(TEXT.replace(old, new)))
    assert said in str(caught.value)


@pytest.mark.parametrize("index", ["word(x[2])", "dot(0, x[2], w[0], 4, 4)"])
def test_an_index_that_is_no_multiple_is_found_in_a_run(index: str) -> None:
    arguments: list[int | Memory] = [[0] * 8, [0] * 8, [None, None]]
    with pytest.raises(ProgramError):
        interpret(module(TEXT.replace("word(x[4])", index)), "product", arguments)


def test_all_compute_the_same(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    (tmp_path / "unit.c").write_text(C)
    programs = (
        NativeProgram(module()),
        CProgram(module(), tmp_path, sources=[tmp_path / "unit.c"]),
    )
    for _ in range(50):
        x, w = random.integers(-128, 128, (2, 8), np.int8)
        found: list[int | None] = [None, None]
        interpret(module(), "product", [[int(n) for n in x], [int(n) for n in w], found])
        assert found[0] == 7 + int(x[:4].astype(int) @ w[4:] + x[4:].astype(int) @ w[:4])
        assert found[1] == int(x[4:].view("<i4")[0])
        for program in programs:
            total = np.zeros(2, np.int32)
            program.call(
                "product",
                [each.ctypes.data_as(ctypes.c_void_p).value or 0 for each in (x, w, total)],
            )
            assert [*total] == found


@pytest.mark.parametrize("four", [DOT4, None])
def test_a_core_executes_the_instruction(four: Instruction | None) -> None:
    machine = core_machine(instruction_set("rv32im").llvm)
    target = new_module("m", machine)
    emit_functions(target, module().functions, "", vectors=Vectors.UNIT, units=CoreUnit(four))
    text = str(optimize(target, machine, 3))
    assert text.count('asm ".insn r 0xb, 2, 5, $0, $1, $2"') == (2 if four else 1)
    assert "sideeffect" not in text
