# SPDX-License-Identifier: Apache-2.0
"""Sums of products become the instructions of a core that multiplies several numbers at once."""

import pytest

from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import core_machine, new_module, optimize
from atoll.ir.builder import FunctionBuilder
from atoll.ir.tir import Const, Direction, Dot, PrimFunc, Type
from atoll.isa.find import instruction_set


def product(length: int) -> PrimFunc:
    builder = FunctionBuilder("product")
    x, y = (builder.buffer(name, Type.I8, length, Direction.READ) for name in "xy")
    total = builder.buffer("total", Type.I32, 1, Direction.BOTH)
    total[0] = Dot(total[0], x.at(Const(0)), y.at(Const(0)), length)
    return builder.kernel()


def assembly(isa: str, length: int) -> str:
    instructions = instruction_set(isa)
    machine = core_machine(instructions.llvm)
    module = new_module("m", machine)
    emit_functions(module, [product(length)], "", vectors=instructions.vectors)
    return str(machine.emit_assembly(optimize(module, machine, 3)))


@pytest.mark.parametrize(
    ("isa", "most"),
    [
        ("rv32imc", 0),
        ("armv6-m", 0),
        ("armv7-m", 0),
        ("armv8-m.main", 0),
        ("armv7e-m+fp", 2),
        ("armv8-m.main+dsp", 2),
    ],
)
def test_words_are_multiplied_in_pairs_of_halves(isa: str, most: int) -> None:
    for words, rest in ((1, 0), (2, 3)):
        assert "vmladav" not in assembly(isa, 4 * words + rest)
        assert assembly(isa, 4 * words + rest).count("smlad") == words * most


@pytest.mark.parametrize(("length", "vectors", "masks"), [(3, 1, 2), (16, 1, 0), (40, 3, 2)])
def test_vectors_are_multiplied_whole_and_read_no_byte_more(
    length: int, vectors: int, masks: int
) -> None:
    text = assembly("armv8.1-m.main+mve", length)
    assert text.count("vmlava.s8") + text.count("vmladava.s8") == vectors
    assert text.count("vldrbt") == masks
    assert "smlad" not in text
