# SPDX-License-Identifier: Apache-2.0
"""Blocks of sums by the registers of instruction sets."""

import pytest

from atoll.isa.find import instruction_set
from atoll.isa.instruction_set import Arithmetic
from atoll.ops.loops.register_tiles import Block, block_for

LARGE, SMALL = Block(pixels=4, channels=4), Block(pixels=2, channels=4)
LEAST = Block(pixels=2, channels=1, ahead=1, steps=(1,))


@pytest.mark.parametrize(
    ("isa", "block"),
    [
        ("rv32imc", LARGE),
        ("rv32emc", SMALL),
        ("rv64gc", LARGE),
        ("armv7-m", SMALL),
        ("armv6-m", LEAST),
        ("armv8-m.base", LEAST),
        ("armv7e-m+fp", Block(pixels=2, channels=2, products=4)),
        ("aarch64", LARGE),
        ("x86-64", LARGE),
    ],
)
def test_a_block_fits_the_registers(isa: str, block: Block) -> None:
    kind = instruction_set(isa)
    assert block_for(Arithmetic(kind.vectors, kind.registers, kind.multiplies)) == block


@pytest.mark.parametrize(
    ("isa", "multiplies"),
    [("rv32i", False), ("rv32imc", True), ("rv32e", False), ("armv6-m", True)],
)
def test_instruction_sets_say_whether_they_multiply(isa: str, multiplies: bool) -> None:
    assert instruction_set(isa).multiplies is multiplies
