# SPDX-License-Identifier: Apache-2.0
"""Instructions of function units as LLVM IR: of the core, or of the model on the host."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

from llvmlite import ir

from atoll.isa.function_unit import Instruction
from atoll.records import dataclass

_BYTE, _WORD = ir.IntType(8), ir.IntType(32)
WORD_BYTES = 4


class Units(Protocol):
    """What executes instructions of function units."""

    @property
    def four(self) -> Instruction | None:
        """The instruction that adds four products of int8, if kernels shall use it."""
        ...

    def execute(
        self, builder: ir.IRBuilder, instruction: Instruction, operands: Sequence[ir.Value]
    ) -> ir.Value:
        """Return the result of an instruction of two words."""
        ...


@dataclass(frozen=True)
class CoreUnit:
    """The unit beside a core that the code is for."""

    four: Instruction | None

    def execute(
        self, builder: ir.IRBuilder, instruction: Instruction, operands: Sequence[ir.Value]
    ) -> ir.Value:
        """See `Units`: a word of machine code, whose registers LLVM chooses."""
        each = instruction
        text = f".insn r {each.opcode:#x}, {each.funct3}, {each.funct7}, $0, $1, $2"
        type = ir.FunctionType(_WORD, [_WORD, _WORD])
        return builder.asm(type, text, "=r,r,r", operands, each.state)


@dataclass(frozen=True)
class ModelUnit:
    """The host, which calls models; sums of products it makes itself."""

    four: Instruction | None = None

    def execute(
        self, builder: ir.IRBuilder, instruction: Instruction, operands: Sequence[ir.Value]
    ) -> ir.Value:
        """See `Units`."""
        name = model_symbol(instruction)
        type = ir.FunctionType(_WORD, [_WORD, _WORD])
        declared = builder.module.globals.get(name) or ir.Function(builder.module, type, name)
        return builder.call(declared, operands)


MODELS = ModelUnit()


def model_symbol(instruction: Instruction) -> str:
    """Name the function that calls the model of an instruction."""
    whose = sha256(instruction.model.encode()).hexdigest()[:8]
    return f"atoll_model_{whose}_{instruction.name}"


def word(builder: ir.IRBuilder, address: ir.Value) -> ir.Value:
    """Load four bytes from an address that is a multiple of 4."""
    return builder.load(address, align=WORD_BYTES, typ=_WORD)


def words_dot(
    builder: ir.IRBuilder,
    four: Instruction,
    start: ir.Value,
    addresses: Sequence[ir.Value],
    length: int,
) -> ir.Value:
    """Return `start` plus `length` products of int8, a multiple of 4, from aligned addresses on."""
    total, unit = start, CoreUnit(four)
    for at in range(0, length, WORD_BYTES):
        places = [
            builder.gep(each, [_WORD(at)], inbounds=True, source_etype=_BYTE) for each in addresses
        ]
        made = unit.execute(builder, four, [word(builder, each) for each in places])
        total = builder.add(total, made)
    return total
