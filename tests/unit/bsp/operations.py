# SPDX-License-Identifier: Apache-2.0
"""What each instruction of the test machine does."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import capstone

WORD = 0xFFFF_FFFF


class Bytes(Protocol):
    """Memory as an instruction sees it."""

    def read(self, address: int, size: int) -> int: ...

    def write(self, address: int, value: int, size: int) -> None: ...


class Core(Protocol):
    """The core as an instruction sees it."""

    pc: int
    x: list[int]
    timer: int
    mask: int
    resume: int | None

    @property
    def memory(self) -> Bytes: ...

    @property
    def pending(self) -> int: ...


@dataclass
class Operands:
    """What an instruction works on.

    Attributes:
        here: its own address.
        base, offset: where a load or store goes.
        calculated: the values that a calculation takes, given the registers.
    """

    here: int
    registers: list[int]
    immediate: int
    base: int
    offset: int
    calculated: Callable[[list[int]], list[int]]

    @classmethod
    def of(cls, found: capstone.CsInsn) -> "Operands":
        registers = [item.reg - 1 for item in found.operands if item.type == 1]
        numbers = [item.imm for item in found.operands if item.type == 2]
        places = [(item.mem.base - 1, item.mem.disp) for item in found.operands if item.type == 3]
        inputs = registers[1:] if len(found.operands) == 3 else registers
        number = numbers[-1] if numbers else 0
        base, offset = places[0] if places else (registers[-1] if registers else 0, number)
        return cls(
            found.address,
            registers,
            number,
            base,
            offset,
            lambda x: [x[register] for register in inputs] + numbers,
        )


def custom(core: Core, word: int) -> None:
    """Run one of PicoRV32's own instructions."""
    assert word & 0x7F == 0x0B, f"illegal instruction {word:#x} before {core.pc:#x}"
    target, source = word >> 7 & 31, core.x[word >> 15 & 31]
    match word >> 25:
        case 2:
            assert core.resume is not None
            core.pc, core.resume = core.resume, None
        case 3:
            core.x[target], core.mask = core.mask, source
        case 4 if core.pending:
            core.x[target] = core.pending
        case 4:
            core.pc -= 4
        case 5:
            core.x[target], core.timer = core.timer, source
        case other:
            raise AssertionError(f"unknown instruction {other} before {core.pc:#x}")


Operation = Callable[[Core, Operands], None]


def signed(value: int) -> int:
    return (value & WORD) - ((value & 0x8000_0000) << 1)


def divided(a: int, b: int) -> int:
    """Divide toward zero; by zero it is -1."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def calculate(function: Callable[..., int]) -> Operation:
    def run(core: Core, use: Operands) -> None:
        core.x[use.registers[0]] = int(function(*use.calculated(core.x))) & WORD

    return run


def calculate_one(function: Callable[[int], int]) -> Operation:
    def run(core: Core, use: Operands) -> None:
        core.x[use.registers[0]] = int(function(core.x[use.registers[1]])) & WORD

    return run


def branch(function: Callable[..., bool]) -> Operation:
    def run(core: Core, use: Operands) -> None:
        if function(*(core.x[register] for register in use.registers)):
            core.pc = use.here + use.immediate & WORD

    return run


def load(size: int, *, sign: bool) -> Operation:
    def run(core: Core, use: Operands) -> None:
        value = core.memory.read(core.x[use.base] + use.offset & WORD, size)
        negative = sign and value >> 8 * size - 1
        core.x[use.registers[0]] = (value - (1 << 8 * size) if negative else value) & WORD

    return run


def store(size: int) -> Operation:
    def run(core: Core, use: Operands) -> None:
        core.memory.write(core.x[use.base] + use.offset & WORD, core.x[use.registers[0]], size)

    return run


def load_immediate(core: Core, use: Operands) -> None:
    core.x[use.registers[0]] = use.immediate & WORD


def upper(core: Core, use: Operands, *, relative: bool) -> None:
    core.x[use.registers[0]] = (use.here * relative + (use.immediate << 12)) & WORD


def jump(core: Core, use: Operands, *, link: int) -> None:
    core.x[use.registers[0] if use.registers else link] = core.pc
    core.pc = use.here + use.immediate & WORD


def jump_register(core: Core, use: Operands, *, link: int) -> None:
    *links, base = use.registers or [1]
    target = core.x[base] + use.immediate & WORD & ~1
    core.x[links[0] if links else link] = core.pc
    core.pc = target


def nothing(core: Core, use: Operands) -> None:
    pass


def with_immediate(names: Mapping[str, Operation]) -> dict[str, Operation]:
    return {f"{name}{suffix}": run for name, run in names.items() for suffix in ("", "i")}


OPERATIONS: dict[str, Operation] = {
    **with_immediate(
        {
            "add": calculate(lambda a, b: a + b),
            "and": calculate(lambda a, b: a & b),
            "or": calculate(lambda a, b: a | b),
            "xor": calculate(lambda a, b: a ^ b),
            "sll": calculate(lambda a, b: a << (b & 31)),
            "srl": calculate(lambda a, b: a >> (b & 31)),
            "sra": calculate(lambda a, b: signed(a) >> (b & 31)),
            "slt": calculate(lambda a, b: signed(a) < signed(b)),
        }
    ),
    **dict.fromkeys(("sltu", "sltiu"), calculate(lambda a, b: a < (b & WORD))),
    **dict.fromkeys(("addi16sp", "addi4spn"), calculate(lambda a, b: a + b)),
    "sub": calculate(lambda a, b: a - b),
    "mul": calculate(lambda a, b: a * b),
    "mulh": calculate(lambda a, b: signed(a) * signed(b) >> 32),
    "mulhu": calculate(lambda a, b: a * b >> 32),
    "mulhsu": calculate(lambda a, b: signed(a) * (b & WORD) >> 32),
    "div": calculate(lambda a, b: divided(signed(a), signed(b))),
    "rem": calculate(lambda a, b: signed(a) - divided(signed(a), signed(b)) * signed(b)),
    "divu": calculate(lambda a, b: a // b if b else WORD),
    "remu": calculate(lambda a, b: a % b if b else a),
    "mv": calculate_one(lambda a: a),
    "neg": calculate_one(lambda a: -a),
    "not": calculate_one(lambda a: ~a),
    "snez": calculate_one(lambda a: a != 0),
    "sgtz": calculate_one(lambda a: signed(a) > 0),
    "sltz": calculate_one(lambda a: signed(a) < 0),
    "seqz": calculate_one(lambda a: a == 0),
    "li": load_immediate,
    "beq": branch(lambda a, b: a == b),
    "bne": branch(lambda a, b: a != b),
    "blt": branch(lambda a, b: signed(a) < signed(b)),
    "bge": branch(lambda a, b: signed(a) >= signed(b)),
    "bltu": branch(lambda a, b: a < b),
    "bgeu": branch(lambda a, b: a >= b),
    "beqz": branch(lambda a: a == 0),
    "bnez": branch(lambda a: a != 0),
    "bltz": branch(lambda a: signed(a) < 0),
    "bgez": branch(lambda a: signed(a) >= 0),
    "blez": branch(lambda a: signed(a) <= 0),
    "bgtz": branch(lambda a: signed(a) > 0),
    "lb": load(1, sign=True),
    "lbu": load(1, sign=False),
    "lh": load(2, sign=True),
    "lhu": load(2, sign=False),
    **dict.fromkeys(("lw", "lwsp"), load(4, sign=False)),
    "sb": store(1),
    "sh": store(2),
    **dict.fromkeys(("sw", "swsp"), store(4)),
    "lui": partial(upper, relative=False),
    "auipc": partial(upper, relative=True),
    "j": partial(jump, link=0),
    "jal": partial(jump, link=1),
    **dict.fromkeys(("jr", "ret"), partial(jump_register, link=0)),
    "jalr": partial(jump_register, link=1),
    "nop": nothing,
}
