"""Decode RISC-V machine code as far as stack use and control flow need it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Required, TypedDict

import capstone
from capstone import riscv

ZERO, RA, SP, T0 = 0, 1, 2, 5
_WORD = 0xFFFF_FFFF
_REGISTERS = 32  # those of floating point have higher numbers
_RETIRQ = 0x0400_000B  # PicoRV32's return from an interrupt


class Kind(Enum):
    """What an instruction does to registers and control."""

    SET = auto()  # rd = immediate
    ADD_IMMEDIATE = auto()  # rd = rs1 + immediate
    ADD = auto()  # rd = rs1 + rs2
    SUBTRACT = auto()  # rd = rs1 - rs2
    JUMP = auto()  # go to immediate, leave the return address in rd
    JUMP_REGISTER = auto()  # go to rs1 + immediate, leave the return address in rd
    BRANCH = auto()  # perhaps go to immediate
    HALT = auto()  # goes nowhere that belongs to the same run
    OTHER = auto()  # rd = something else; rd is 0 if no register changes


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction; registers are numbers, targets are absolute addresses.

    Attributes:
        clobbers: registers that change to something unknown besides `rd`.
    """

    address: int
    size: int
    kind: Kind
    rd: int = ZERO
    rs1: int = ZERO
    rs2: int = ZERO
    immediate: int = 0
    clobbers: tuple[int, ...] = ()

    @property
    def next(self) -> int:
        """Address of the instruction after this one."""
        return self.address + self.size


def decode(code: bytes, address: int, bits: int = 32) -> Iterator[Instruction]:
    """Yield the instructions of `code`, which starts at `address`, for cores of 32 or 64 bits.

    Numbers are modulo 2^32, as all addresses of a chip are.
    """
    offset = 0
    while offset + 2 <= len(code):
        size = 4 if code[offset] & 3 == 3 else 2
        word = code[offset : offset + size]
        found = next(_disassembler(bits).disasm(word, address + offset), None)
        yield _custom(word, address + offset) if found is None else _known(found)
        offset += size


@cache
def _disassembler(bits: int) -> capstone.Cs:
    mode = capstone.CS_MODE_RISCV64 if bits == 64 else capstone.CS_MODE_RISCV32
    engine = capstone.Cs(capstone.CS_ARCH_RISCV, mode | capstone.CS_MODE_RISCVC)
    engine.detail = True
    return engine


def _custom(word: bytes, address: int) -> Instruction:
    """Assume that an instruction unknown to Capstone changes the register in its rd field."""
    number = int.from_bytes(word, "little")
    kind = Kind.HALT if number == _RETIRQ else Kind.OTHER
    return Instruction(address=address, size=len(word), kind=kind, rd=number >> 7 & 31)


def _known(found: capstone.CsInsn) -> Instruction:
    name = found.mnemonic.removeprefix("c.")
    fields = _FIELDS.get(name, _other)(_Operands(found))
    return Instruction(address=found.address, size=found.size, **fields)


class _Operands:
    """Operands of one instruction, whatever alias Capstone prints it as."""

    def __init__(self, found: capstone.CsInsn) -> None:
        self.address: int = found.address
        self.mnemonic: str = found.mnemonic
        self.registers = [
            item.reg - riscv.RISCV_REG_X0
            for item in found.operands
            if item.type == riscv.RISCV_OP_REG
        ]
        numbers = [item.imm for item in found.operands if item.type == riscv.RISCV_OP_IMM]
        self.number: int = numbers[-1] if numbers else 0

    @property
    def target(self) -> int:
        return (self.address + self.number) & _WORD


class _Fields(TypedDict, total=False):
    kind: Required[Kind]
    rd: int
    rs1: int
    rs2: int
    immediate: int


def _other(use: _Operands) -> _Fields:
    first = use.registers[0] if use.registers else ZERO
    return {"kind": Kind.OTHER, "rd": first if first < _REGISTERS else ZERO}


def _store(_: _Operands) -> _Fields:
    return {"kind": Kind.OTHER}


def _halt(_: _Operands) -> _Fields:
    return {"kind": Kind.HALT}


def _branch(use: _Operands) -> _Fields:
    return {"kind": Kind.BRANCH, "immediate": use.target}


def _add_immediate(use: _Operands) -> _Fields:
    rd, rs1 = use.registers[0], use.registers[-1]
    return {"kind": Kind.ADD_IMMEDIATE, "rd": rd, "rs1": rs1, "immediate": use.number}


def _load_immediate(use: _Operands) -> _Fields:
    return {"kind": Kind.SET, "rd": use.registers[0], "immediate": use.number & _WORD}


def _upper(use: _Operands) -> _Fields:
    base = use.address if use.mnemonic == "auipc" else 0
    value = (base + (use.number << 12)) & _WORD
    return {"kind": Kind.SET, "rd": use.registers[0], "immediate": value}


def _three(kind: Kind) -> Callable[[_Operands], _Fields]:
    def fields(use: _Operands) -> _Fields:
        rd, *sources = use.registers
        rs1, rs2 = sources if len(sources) == 2 else (rd, sources[0])
        return {"kind": kind, "rd": rd, "rs1": rs1, "rs2": rs2}

    return fields


def _jump(link: int) -> Callable[[_Operands], _Fields]:
    def fields(use: _Operands) -> _Fields:
        rd = use.registers[0] if use.registers else link
        return {"kind": Kind.JUMP, "rd": rd, "immediate": use.target}

    return fields


def _jump_register(link: int) -> Callable[[_Operands], _Fields]:
    def fields(use: _Operands) -> _Fields:
        *links, rs1 = use.registers or [RA]
        rd = links[0] if links else link
        return {"kind": Kind.JUMP_REGISTER, "rd": rd, "rs1": rs1, "immediate": use.number}

    return fields


_FIELDS: dict[str, Callable[[_Operands], _Fields]] = {
    "add": _three(Kind.ADD),
    "sub": _three(Kind.SUBTRACT),
    "li": _load_immediate,
    "lui": _upper,
    "auipc": _upper,
    "j": _jump(ZERO),
    "jal": _jump(RA),
    "jr": _jump_register(ZERO),
    "ret": _jump_register(ZERO),
    "jalr": _jump_register(RA),
    **dict.fromkeys(("addi", "addi16sp", "addi4spn", "addiw", "mv"), _add_immediate),
    **dict.fromkeys(("sb", "sh", "sw", "swsp", "sd", "sdsp"), _store),
    **dict.fromkeys(("ebreak", "unimp", "mret", "sret"), _halt),
    **dict.fromkeys(("beq", "bne", "blt", "bge", "bltu", "bgeu", "bgt", "ble"), _branch),
    **dict.fromkeys(("beqz", "bnez", "blez", "bgez", "bltz", "bgtz", "bgtu", "bleu"), _branch),
}
