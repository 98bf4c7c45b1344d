# SPDX-License-Identifier: Apache-2.0
"""Decode RISC-V machine code as far as stack use and control flow need it."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Required, TypedDict

import capstone
from capstone import riscv

from atoll.stack.instruction import NOWHERE, RA, RESUME, SP, TRAP, ZERO, Instruction, Kind

_WORD = 0xFFFF_FFFF
_LINK_BYTES = 4
_REGISTERS = 32  # those of floating point have higher numbers
_APART = 1 << 32
_QUADRANT, _PUSHES = 0b10, 0b101
_BRANCHES, _STORING = 0x63, (0x23, 0x27)
_NO_RD = (0x07, *_STORING)
_SHIFTED_ADDS = {0x20002033: 1, 0x20004033: 2, 0x20006033: 3}
_VECTOR, _SET_LENGTH, _FROM_VECTOR = 0x57, 0b111, (0b010, 0b010000)
_RETIRQ = 0x0400_000B  # PicoRV32's return from an interrupt


def decode(
    code: bytes,
    address: int,
    bits: int = 32,
    data: Mapping[int, int] | None = None,
    doubles: bool = True,
) -> Iterator[Instruction]:
    """Yield the instructions of `code`, which starts at `address`, for cores of 32 or 64 bits.

    Numbers are modulo 2^32, as all addresses of a chip are.

    Args:
        code: of a function.
        address: of its first byte.
        bits: of a register.
        data: begin and end of what lies between instructions and is none.
        doubles: the core has floats of 64 bits; where it has none, Zcmp has their stores.
    """
    offset = 0
    while offset + 2 <= len(code):
        at = address + offset
        if data and at in data:
            offset = data[at] - address
            continue
        size = 2 if code[offset] & 3 != 3 else 6 if code[offset] & 0x1F == 0x1F else 4
        word = code[offset : offset + size]
        number = int.from_bytes(word, "little")
        if size == 2 and not doubles and (number & 3, number >> 13) == (_QUADRANT, _PUSHES):
            yield from _zcmp(number, at, bits)
        else:
            found = next(_disassembler(bits).disasm(word, at), None)
            yield _custom(word, at) if found is None else _decode_known(found)
        offset += size


@cache
def _disassembler(bits: int) -> capstone.Cs:
    mode = capstone.CS_MODE_RISCV64 if bits == 64 else capstone.CS_MODE_RISCV32
    engine = capstone.Cs(capstone.CS_ARCH_RISCV, mode | capstone.CS_MODE_RISCVC)
    engine.detail = True
    return engine


def _custom(word: bytes, address: int) -> Instruction:
    """Return what Capstone does not know: it changes the register in its rd field, if it has one.

    Of 16 bits only those of Zcb are known not to move the stack pointer, of longer ones than 32
    none; branches of vendors lead nobody knows where.
    """
    number, size = int.from_bytes(word, "little"), len(word)
    if number == _RETIRQ:
        kind = Kind.JUMP_REGISTER
        return Instruction(address=address, size=size, kind=kind, rs1=RESUME)
    known, rd = True, number >> 7 & 31
    if scale := _SHIFTED_ADDS.get(number & 0xFE00707F):  # of Zba
        return Instruction(
            address=address,
            size=size,
            kind=Kind.ADD_SCALED,
            rd=rd,
            rs1=number >> 20 & 31,
            rs2=number >> 15 & 31,
            scale=scale,
        )
    clobbers: tuple[int, ...] = ()
    base, distance, stores = number >> 15 & 31, 0, number & 0x7F in _STORING
    if size == 2:  # of Zcb, with an offset that is not negative
        base, stores = 8 + (number >> 7 & 7), number & 3 == 0 and number >> 10 & 7 in (2, 3)
    elif number >> 12 & 7 in range(1, 5):  # else of a vector, without an offset
        distance = ((number >> 25 ^ 0x40) - 0x40) << 5 | rd
    if size == 2:
        known, rd, clobbers = number & 3 < 2 and number >> 13 == 0b100, ZERO, tuple(range(8, 16))
    elif size != 4 or number & 0x7F == _BRANCHES:
        known = False
    elif number & 0x7F in _NO_RD or _makes_vector(number):
        rd = ZERO
    if not known:
        clobbers = (SP,)
    if known and stores:
        return Instruction(
            address=address,
            size=size,
            kind=Kind.STORE,
            rs1=base,
            immediate=distance,
            clobbers=clobbers,
            unknown=True,
        )
    return Instruction(
        address=address, size=size, kind=Kind.OTHER, rd=rd, clobbers=clobbers, unknown=True
    )


def _makes_vector(number: int) -> bool:
    """Tell whether an instruction's rd field is a register of vectors or floats.

    Vector instructions write an integer register where they set the length or, such as VMV.X.S,
    take one from a vector.
    """
    if number & 0x7F != _VECTOR:
        return False
    width = number >> 12 & 7
    return width != _SET_LENGTH and (width, number >> 26) != _FROM_VECTOR


def _zcmp(number: int, address: int, bits: int) -> Iterator[Instruction]:
    """Yield what pushes, pops, moves and jumps of Zcmp and Zcmt do (RISC-V Zc*, 1.0)."""
    operation, listed = number >> 8 & 31, number >> 4 & 15
    kinds = {0b11000: -1, 0b11010: 1, 0b11100: 1, 0b11110: 1}
    parts: list[Instruction] = []
    if operation in kinds and listed >= 4:
        saved = 13 if listed == 15 else listed - 3
        registers = (RA, 8, 9, *range(18, 28))[:saved]
        moved = -(-saved * bits // 8 // 16) * 16 + (number >> 2 & 3) * 16
        back, pops = operation >= 0b11100, kinds[operation] > 0
        move = Instruction(
            address=address + pops * _APART,
            size=_APART if not pops or back else 2 - _APART,
            kind=Kind.ADD_IMMEDIATE,
            rd=SP,
            rs1=SP,
            immediate=kinds[operation] * moved,
            clobbers=(10,) if operation == 0b11100 else (),
        )
        words = Instruction(
            address=address + (not pops) * _APART,
            size=_APART if pops else 2 - _APART,
            kind=Kind.RESTORE if pops else Kind.STORE,
            rs1=SP,
            immediate=moved - saved * bits // 8,
            registers=registers,
            clobbers=registers if pops else (),
            width=bits // 8,
        )
        parts += [words, move] if pops else [move, words]
        if back:
            kind, last = Kind.JUMP_REGISTER, 2 * _APART
            parts.append(Instruction(address=address + last, size=2 - last, kind=kind, rs1=RA))
    elif number >> 10 & 7 == 0b011:
        saved_and_given = (8, 9, 10, 11, *range(18, 24))
        parts.append(
            Instruction(address=address, size=2, kind=Kind.OTHER, clobbers=saved_and_given)
        )
    else:  # a jump through the table of Zcmt, or nothing that is known
        parts.append(Instruction(address=address, size=2, kind=Kind.OTHER, clobbers=(SP,)))
    yield from parts


def _decode_known(found: capstone.CsInsn) -> Instruction:
    name = found.mnemonic.removeprefix("c.")
    kind = _atomic if name.startswith(("amo", "sc.")) else _FIELDS.get(name, _other)
    fields = kind(_Operands(found))
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
        self.text: str = found.op_str
        numbers = [item.imm for item in found.operands if item.type == riscv.RISCV_OP_IMM]
        places = [item.mem for item in found.operands if item.type == riscv.RISCV_OP_MEM]
        self.registers += [place.base - riscv.RISCV_REG_X0 for place in places]
        numbers += [place.disp for place in places]
        self.number: int = numbers[-1] if numbers else 0

    @property
    def target(self) -> int:
        return (self.address + self.number) & _WORD


class _Fields(TypedDict, total=False):
    kind: Required[Kind]
    width: int
    rd: int
    rs1: int
    rs2: int
    scale: int
    immediate: int
    condition: str
    clobbers: tuple[int, ...]
    registers: tuple[int, ...]


def _other(use: _Operands) -> _Fields:
    first = use.registers[0] if use.registers else ZERO
    return {"kind": Kind.OTHER, "rd": first if first < _REGISTERS else ZERO}


def _load(use: _Operands) -> _Fields:
    rd, rs1 = use.registers[0], use.registers[-1]
    width = _WIDTHS[use.mnemonic.removeprefix("c.").removesuffix("sp")]
    return {"kind": Kind.LOAD, "rd": rd, "rs1": rs1, "immediate": use.number, "width": width}


def _store(use: _Operands) -> _Fields:
    source, base, number = use.registers[0], use.registers[-1], use.number
    width = _STORES[use.mnemonic.removeprefix("c.").removesuffix("sp")]
    known = source if source < _REGISTERS and width >= _LINK_BYTES else NOWHERE
    fields: _Fields = {"kind": Kind.STORE, "rs1": base, "immediate": number}
    return {**fields, "registers": (known,), "width": width}


def _atomic(use: _Operands) -> _Fields:
    """Read and write what a register points to."""
    changed, base = use.registers[0], use.registers[-1]
    fields: _Fields = {"kind": Kind.STORE, "rs1": base, "registers": (NOWHERE,), "width": 8}
    return {**fields, "clobbers": (changed,)}


def _resume(_: _Operands) -> _Fields:
    return {"kind": Kind.JUMP_REGISTER, "rs1": RESUME}


def _align(use: _Operands) -> _Fields:
    rd, rs1 = use.registers[0], use.registers[-1]
    size = -use.number
    if size <= 0 or size & (size - 1):
        return _other(use)
    return {"kind": Kind.ALIGN, "rd": rd, "rs1": rs1, "immediate": size}


def _shift(use: _Operands) -> _Fields:
    rd, source = use.registers[0], use.registers[-1]
    return {"kind": Kind.ADD_SCALED, "rd": rd, "rs2": source, "scale": use.number}


def _or(use: _Operands) -> _Fields:
    rd, rs1 = use.registers[0], use.registers[-1]
    return {"kind": Kind.OR_IMMEDIATE, "rd": rd, "rs1": rs1, "immediate": use.number}


def _write(use: _Operands) -> _Fields:
    """Write a control register: nothing but where exceptions begin and go on is followed."""
    rd = _jump_target(use.text.split(",")[0])
    if not use.mnemonic.endswith("csrw"):
        return {"kind": Kind.OTHER, "rd": rd}
    return {"kind": Kind.ADD_IMMEDIATE, "rd": rd, "rs1": use.registers[-1]}


def _read(use: _Operands) -> _Fields:
    """Read a control register: nothing but where exceptions begin is followed."""
    if not use.text.endswith(_TRAPS):
        return _other(use)
    return {"kind": Kind.ADD_IMMEDIATE, "rd": use.registers[0], "rs1": TRAP}


def _exchange(use: _Operands) -> _Fields:
    """Write a control register as `_write` does, and have its old value in a register."""
    written = _jump_target(use.text.split(",")[1].strip())
    if written == ZERO:
        return _other(use)
    kind = Kind.ADD_IMMEDIATE if use.mnemonic == "csrrw" else Kind.OTHER
    return {"kind": kind, "rd": written, "rs1": use.registers[-1], "clobbers": (use.registers[0],)}


def _jump_target(control: str) -> int:
    return RESUME if control in _RESUMES else TRAP if control in _TRAPS else ZERO


def _halt(_: _Operands) -> _Fields:
    return {"kind": Kind.HALT}


def _branch(use: _Operands) -> _Fields:
    rs1, rs2 = (*use.registers, ZERO)[:2]
    condition = use.mnemonic.removesuffix("z")
    return {
        "kind": Kind.BRANCH,
        "rs1": rs1,
        "rs2": rs2,
        "condition": condition.removeprefix("c.").removeprefix("b"),
        "immediate": use.target,
    }


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


def _nothing(_: _Operands) -> _Fields:
    return {"kind": Kind.OTHER}


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


_TABLES = ("mtvt", "stvt", "0x307", "0x107")
_RESUMES = ("mepc", "sepc", "uepc", "vsepc")
_TRAPS = ("mtvec", "stvec", "utvec", "vstvec", *_TABLES)
_WIDTHS = {"lb": -1, "lh": -2, "lw": -4, "ld": 8, "lbu": 1, "lhu": 2, "lwu": 4}
_STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8, "fsh": 2, "fsw": 4, "fsd": 8}
_FIELDS: dict[str, Callable[[_Operands], _Fields]] = {
    "add": _three(Kind.ADD),
    "sub": _three(Kind.SUBTRACT),
    "li": _load_immediate,
    **dict.fromkeys(("sfence.vma", "hfence.vvma", "hfence.gvma"), _nothing),
    "lui": _upper,
    "auipc": _upper,
    "j": _jump(ZERO),
    "jal": _jump(RA),
    "jr": _jump_register(ZERO),
    "ret": _jump_register(ZERO),
    "jalr": _jump_register(RA),
    **dict.fromkeys(("addi", "addi16sp", "addi4spn", "addiw", "sext.w", "mv"), _add_immediate),
    **dict.fromkeys((*_WIDTHS, "lwsp", "ldsp"), _load),
    **dict.fromkeys((*_STORES, "swsp", "sdsp", "fswsp", "fsdsp"), _store),
    **dict.fromkeys(("ebreak", "unimp"), _halt),
    **dict.fromkeys(("mret", "sret", "uret", "dret"), _resume),
    "andi": _align,
    "ori": _or,
    "slli": _shift,
    **dict.fromkeys(("csrw", "csrwi", "csrs", "csrsi", "csrc", "csrci"), _write),
    "csrr": _read,
    **dict.fromkeys(("csrrw", "csrrwi", "csrrs", "csrrsi", "csrrc", "csrrci"), _exchange),
    **dict.fromkeys(("beq", "bne", "blt", "bge", "bltu", "bgeu", "bgt", "ble"), _branch),
    **dict.fromkeys(("beqz", "bnez", "blez", "bgez", "bltz", "bgtz", "bgtu", "bleu"), _branch),
}
