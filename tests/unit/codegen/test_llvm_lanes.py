# SPDX-License-Identifier: Apache-2.0
"""Vectorized loops become the vector instructions of cores that have some."""

import re
from collections.abc import Callable

import pytest

from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import core_machine, new_module, optimize
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import Operand, add, clamp, multiply
from atoll.ir.tir import Direction, Expr, PrimFunc, Type
from atoll.isa.find import instruction_set
from atoll.lower.to_tir import with_callees
from atoll.ops.loops.fixed_point_loops import sdhm, srdhm

TAPS = 7


def sums(apart: int, scaled: Callable[[Operand, Operand], Expr] = srdhm) -> PrimFunc:
    """Add products of bytes that lie `apart`, and scale the sums."""
    builder = FunctionBuilder("sums")
    x, w = (builder.buffer(name, Type.I8, TAPS * apart, Direction.READ) for name in "xw")
    y = builder.buffer("y", Type.I8, apart, Direction.WRITE)
    with (
        builder.loop("block", 0, apart // 4) as block,
        builder.loop("lane", 0, 4, vectorized=True) as lane,
    ):
        place = builder.let("place", add(multiply(block, 4), lane))
        total = builder.allocate("total", Type.I32, 1)
        total[0] = 0
        for tap in range(TAPS):
            at = add(place, tap * apart)
            total[0] = add(total[0], multiply(x.wide(at), w.wide(at)))
        y[place] = clamp(scaled(total[0], 2**30), -128, 127)
    return builder.kernel()


def assembly(isa: str, apart: int, **options: Callable[[Operand, Operand], Expr]) -> str:
    instructions = instruction_set(isa)
    machine = core_machine(instructions.llvm)
    module = new_module("m", machine)
    emit_functions(module, with_callees([sums(apart, **options)]), "", vectors=instructions.vectors)
    return str(machine.emit_assembly(optimize(module, machine, 3)))


def test_lanes_are_loaded_multiplied_scaled_and_stored_at_once() -> None:
    text = assembly("armv8.1-m.main+mve", 64)
    assert [text.count(name) for name in ("vldrb.s32", "vmul.i32", "vqrdmulh.s32", "vstrb.32")] == [
        2 * TAPS,
        TAPS,
        1,
        1,
    ]
    assert not re.search(r"\b(vst|ld)r\w*\t[^\n]*\[sp", text)


def test_what_is_rounded_down_has_an_instruction_too() -> None:
    text = assembly("armv8.1-m.main+mve", 64, scaled=sdhm)
    assert [text.count(name) for name in ("vqdmulh.s32", "vqrdmulh.s32")] == [1, 0]


@pytest.mark.parametrize(("apart", "pointers"), [(32, 1), (64, 2), (128, 3), (256, 6)])
def test_a_pointer_serves_what_loads_reach_from_it(apart: int, pointers: int) -> None:
    text = assembly("armv8.1-m.main+mve", apart)
    added = re.findall(r"\tadd\S*\t\w+, \w+, #(\d+)", text)
    assert len([by for by in added if int(by) > apart]) == 2 * pointers


@pytest.mark.parametrize("isa", ["rv32imc", "armv8-m.main+dsp", "rv64gc"])
def test_other_cores_compute_lanes_one_by_one(isa: str) -> None:
    text = assembly(isa, 8)
    assert "vmul" not in text
    assert "mul" in text
