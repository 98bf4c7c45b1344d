# SPDX-License-Identifier: Apache-2.0
"""Decode Thumb (Cortex-M) machine code as far as stack use and control flow need it.

Registers get the numbers of RISC-V registers with the same role, so that `stack_frames` reads
both: r0 to r3 and r12 belong to the caller, r4 to r11 to the callee. An instruction that does
several things becomes several of ours; all but the first have addresses that no code has.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import capstone
from capstone import arm

from atoll.stack.instruction import (
    NOWHERE,
    OTHER_SP,
    RA,
    SP,
    ZERO,
    Instruction,
    Kind,
    Reader,
    within,
)
from atoll.stack.thumb_words import HELPERS, read_signed, read_table, unknown

_APART = 1 << 32
_WORD = 0xFFFF_FFFF
_PC = 31
_REGISTERS = {
    arm.ARM_REG_SP: SP,
    arm.ARM_REG_LR: RA,
    arm.ARM_REG_PC: _PC,
    arm.ARM_REG_R12: 28,
    **{getattr(arm, f"ARM_REG_R{number}"): 10 + number for number in range(4)},
    **{getattr(arm, f"ARM_REG_R{number}"): 14 + number for number in range(4, 12)},
}
_ANY = tuple(sorted({*_REGISTERS.values()} - {SP, _PC}))
_HELPER = 8  # bytes of the stack that libgcc's helpers of a switch take at most
_TABLES = {"tbb": 1, "tbh": 2}
_COMPARE = ("cmp", "cmn", "tst", "teq")
_ALWAYS = (arm.ARM_CC_AL, arm.ARM_CC_INVALID)
_Fields = dict[str, Any]  # fields of one `Instruction` but its address and size

_ELSEWHERE: _Fields = {"kind": Kind.JUMP_REGISTER, "rs1": _PC}


def decode(
    code: bytes,
    address: int,
    data: Mapping[int, int] | None = None,
    read: Reader | None = None,
    helpers: Mapping[int, str] | None = None,
) -> Iterator[Instruction]:
    """Yield the instructions of `code`, which starts at `address`; constants are skipped.

    Args:
        code: of a function.
        address: of its first byte.
        data: begin and end of what lies between instructions and is none, by address.
        read: loaded bytes at an address; without it, those of `code` are known alone.
        helpers: functions that a switch calls with its table behind the call, by address.
    """
    offset, constants = 0, dict(data or {})
    read = read or within(code, address)
    while offset + 2 <= len(code):
        if address + offset in constants:
            offset = max(constants[address + offset] - address, offset + 2)
            continue
        begin = offset
        stop = min((each for each in constants if each > address + offset), default=None)
        piece = code[offset : None if stop is None else stop - address]
        known = list(_disassembler().disasm(piece, address + offset))
        for found, skipped_to in zip(known, _skips(known), strict=True):
            kind = (helpers or {}).get(_target(found))
            if kind is None:
                yield from _parts(found, read, constants, skipped_to)
            else:
                span = range(address, address + len(code))
                yield from _switch_targets(found, kind, span, read, constants)
            offset += found.size
            if address + offset in constants:
                break
        if offset == begin and address + offset not in constants:
            strange = unknown(code[offset : offset + 4], address + offset, _ANY)
            yield strange
            offset += strange.size


@cache
def _disassembler() -> capstone.Cs:
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    engine.detail = True
    return engine


def _skips(known: Sequence[capstone.CsInsn]) -> list[int | None]:
    """Return where to go on if the condition of an instruction does not hold.

    Instructions in a row with one condition are skipped together; None is for all but the first of
    them, and for those without a condition.
    """
    skips: list[int | None] = [None] * len(known)
    first: int | None = None
    for number, found in enumerate(known):
        conditional = found.cc not in _ALWAYS and found.insn_name() not in ("it", "b")
        if not conditional:
            first = None
            continue
        together = first is not None and known[first].cc == found.cc
        first = first if together else number
        assert first is not None
        skips[first] = found.address + found.size
        if found.update_flags or found.insn_name() in _COMPARE:
            first = None
    return skips


def _parts(
    found: capstone.CsInsn, read: Reader, constants: dict[int, int], skipped_to: int | None
) -> Iterator[Instruction]:
    """Yield what one instruction does, a condition first."""
    name = found.insn_name()
    after = found.address + found.size
    if place := _constant(found):
        constants[place] = max(place + 4, constants.get(place, 0))
        loaded = _constant_load(_register(found, 0), read(place, 4))
        parts: list[_Fields] = [loaded | {"source": place}]
    elif name in _TABLES and found.op_str.startswith("[pc"):
        table = read_table(after, _TABLES[name], read)
        constants.setdefault(after, table.end)
        parts = [{"kind": Kind.SWITCH, "targets": table.targets}]
    elif (indexed := _indexed_load(found)) is not None:
        parts = indexed
    else:
        parts = _EFFECTS.get(name, _other)(found)
    if skipped_to is not None:
        parts = [{"kind": Kind.BRANCH, "immediate": skipped_to}, *parts]
    for number, fields in enumerate(parts):
        address = found.address + number * _APART
        size = after - address if fields is parts[-1] else _APART
        yield Instruction(address=address, size=size, **fields)


def _target(found: capstone.CsInsn) -> int:
    """Return where a call leads, 0 if it is none."""
    last = found.operands[-1] if found.insn_name() == "bl" else None
    return 0 if last is None or last.type != arm.ARM_OP_IMM else int(last.imm) & _WORD


def _switch_targets(
    found: capstone.CsInsn, kind: str, span: range, read: Reader, constants: dict[int, int]
) -> Iterator[Instruction]:
    """Yield what a switch of Armv6-M does: libgcc goes on by the table behind the call."""
    after = found.address + found.size
    table = read_signed(after, *HELPERS[kind], span, read)
    constants[after] = max(table.end, constants.get(after, 0))
    parts: list[_Fields] = [_move(-_HELPER), _move(_HELPER)]
    parts.append({"kind": Kind.SWITCH, "targets": table.targets})
    for number, fields in enumerate(parts):
        address = found.address + number * _APART
        size = after - address if fields is parts[-1] else _APART
        yield Instruction(address=address, size=size, **fields)


def _constant(found: capstone.CsInsn) -> int | None:
    """Return the address of the constant of 32 bits that an instruction loads."""
    if found.insn_name() != "ldr" or len(found.operands) != 2:
        return None
    memory = found.operands[1].mem
    if memory.base != arm.ARM_REG_PC or memory.index or found.writeback:
        return None
    return (int(found.address) + 4 & ~3) + int(memory.disp)


def _indexed_load(found: capstone.CsInsn) -> list[_Fields] | None:
    """Return what the load of an entry of a table of addresses does: a jump, where it is one."""
    if found.insn_name() != "ldr" or len(found.operands) != 2:
        return None
    rd, place = _register(found, 0), found.operands[1]
    base, index = _REGISTERS.get(place.mem.base, ZERO), _REGISTERS.get(place.mem.index, ZERO)
    if ZERO in (rd, base, index) or place.shift.value not in (0, 2) or rd == SP:
        return None
    load = {"kind": Kind.LOAD, "rd": rd, "rs1": base, "rs2": index, "width": 4}
    return [load, _ELSEWHERE] if rd == _PC else [load]


def _constant_load(register: int, word: bytes) -> _Fields:
    """Return what the load of a constant does: a jump, where it is of the program counter."""
    if len(word) < 4:
        return {"kind": Kind.OTHER, "clobbers": (register,)}
    number = int.from_bytes(word, "little")
    if register == _PC:
        return {"kind": Kind.JUMP, "immediate": number & ~1}
    return {"kind": Kind.SET, "rd": register, "immediate": number}


def _register(found: capstone.CsInsn, operand: int) -> int:
    return _REGISTERS.get(found.operands[operand].reg, ZERO)


def _system(found: capstone.CsInsn) -> list[_Fields]:
    """Write a system register: of them, the main stack pointer is followed."""
    if len(found.operands) == 1:  # of a number, which no core for microcontrollers has
        return [{"kind": Kind.OTHER, "clobbers": (*_ANY, SP)}]
    name, source = found.op_str.split(",")[0], _register(found, 1)
    if name.startswith("control"):
        return [{"kind": Kind.OTHER, "clobbers": (SP,)}]  # another stack, perhaps
    if name.startswith("msp") and "lim" not in name:
        return [{"kind": Kind.ADD_IMMEDIATE, "rd": SP, "rs1": source}]
    second = name.startswith("psp") and "lim" not in name
    return [{"kind": Kind.OTHER, "rd": OTHER_SP if second else ZERO}]


def _align(found: capstone.CsInsn) -> list[_Fields]:
    """Clear the lowest bits of a register, as code does that aligns the stack pointer."""
    operands = found.operands
    if found.insn_name() == "bfc":
        source, size = operands[0], 1 << int(operands[2].imm) if not operands[1].imm else 0
    else:
        source, last = operands[-2], operands[-1]
        size = int(last.imm) + 1 if last.type == arm.ARM_OP_IMM else 0
    if size <= 0 or size & (size - 1) or source.type != arm.ARM_OP_REG:
        return _other(found)
    rs1 = _REGISTERS.get(source.reg, ZERO)
    return [{"kind": Kind.ALIGN, "rd": _register(found, 0), "rs1": rs1, "immediate": size}]


def _written_registers(found: capstone.CsInsn) -> tuple[int, ...]:
    """Return the registers that an instruction changes, the stack pointer if in doubt."""
    _, written = found.regs_access()
    known = {_REGISTERS[register] for register in written if register in _REGISTERS}
    return tuple(sorted(known | ({SP} if "sp!" in found.op_str else set())))


def _other(found: capstone.CsInsn) -> list[_Fields]:
    written = _written_registers(found)
    if (accessed := _access(found)) is not None:
        return accessed
    if found.writeback and (moved := _stack_change(found)) is not None:
        return [_move(moved, tuple(register for register in written if register != SP))]
    if _PC in written:
        return [_ELSEWHERE]
    return [{"kind": Kind.OTHER, "clobbers": written, "reads": _read_registers(found)}]


def _read_registers(found: capstone.CsInsn) -> tuple[int, ...]:
    """Return the registers that an instruction makes something of; loads make nothing of them."""
    name = found.insn_name()
    if name in _COMPARE or name.startswith(("ldr", "pld", "it", "vldr")):
        return ()
    read, _ = found.regs_access()
    return tuple(sorted({_REGISTERS[each] for each in read if each in _REGISTERS} - {SP, _PC}))


def _stack_change(found: capstone.CsInsn) -> int | None:
    """Return by how much an access moves its base, if that is the stack pointer."""
    place = next((item for item in found.operands if item.type == arm.ARM_OP_MEM), None)
    if place is None or place.mem.base != arm.ARM_REG_SP:
        return None
    last = found.operands[-1]
    return int(last.imm if last.type == arm.ARM_OP_IMM else place.mem.disp)


def _move(distance: int, clobbers: tuple[int, ...] = ()) -> _Fields:
    kind = Kind.ADD_IMMEDIATE
    return {"kind": kind, "rd": SP, "rs1": SP, "immediate": distance, "clobbers": clobbers}


def _bytes(found: capstone.CsInsn, listed: Sequence[Any]) -> int:
    """Return the bytes of all listed registers."""
    return sum(8 if found.reg_name(item.reg).startswith("d") else 4 for item in listed)


def _words(
    kind: Kind, base: int, distance: int, registers: Sequence[int], index: int = ZERO
) -> _Fields:
    """Return a store of registers to words, or what restores them."""
    return {
        "kind": kind,
        "rs1": base,
        "rs2": index,
        "immediate": distance,
        "registers": tuple(registers),
        "clobbers": tuple(registers) if kind is Kind.RESTORE else (),
        "width": 4,
    }


def _push(found: capstone.CsInsn) -> list[_Fields]:
    size = _bytes(found, found.operands)
    registers = _numbers(found, found.operands, size)
    return [_move(-size), _words(Kind.STORE, SP, 0, registers)]


def _pop(found: capstone.CsInsn) -> list[_Fields]:
    size = _bytes(found, found.operands)
    registers = _numbers(found, found.operands, size)
    return [_words(Kind.RESTORE, SP, 0, registers), _move(size), *[_ELSEWHERE][: _PC in registers]]


def _numbers(found: capstone.CsInsn, operands: Sequence[Any], size: int) -> tuple[int, ...]:
    """Return the registers of a list, one for each word."""
    known = tuple(_REGISTERS.get(item.reg, NOWHERE) for item in operands)
    return known if NOWHERE not in known else (NOWHERE,) * (size // 4)


def _access(found: capstone.CsInsn) -> list[_Fields] | None:
    """Return what a store, or a load of several registers, does."""
    name, operands = found.insn_name(), found.operands
    if name in _MANY and operands[0].type == arm.ARM_OP_REG:
        return _many(found)
    kind = Kind.STORE if name in _STORES else Kind.RESTORE
    place = next((item for item in operands if item.type == arm.ARM_OP_MEM), None)
    if place is None or name not in (*_STORES, "ldr", "ldrd") or place.mem.base == arm.ARM_REG_PC:
        return None
    count, width = _STORES.get(name, (2 if name == "ldrd" else 1, 4))
    listed = operands[:count] if width == 4 and not name.endswith("ex") else ()
    registers = [_REGISTERS.get(item.reg, NOWHERE) for item in listed] or [NOWHERE] * count
    base = _REGISTERS.get(place.mem.base, NOWHERE)
    index = NOWHERE if place.mem.index else ZERO
    if place.mem.index and not place.shift.value and place.mem.scale == 1:
        index = _REGISTERS.get(place.mem.index, NOWHERE)
    distance, last = int(place.mem.disp), operands[-1]
    moved = int(last.imm) if last.type == arm.ARM_OP_IMM else distance
    access = _words(kind, base, distance, registers, index) | {"width": width}
    if "ex" in name:
        access["clobbers"] = (_register(found, 0),)  # that says whether it stored
    parts = [access]
    if found.writeback:
        move = {"kind": Kind.ADD_IMMEDIATE, "rd": base, "rs1": base, "immediate": moved}
        # A store below the stack pointer lies above it afterwards.
        first = kind is Kind.STORE and not distance - moved
        parts = [move, access | {"immediate": 0}] if first else [access, move]
    return [*parts, *[_ELSEWHERE][: _PC in registers and kind is Kind.RESTORE]]


def _many(found: capstone.CsInsn) -> list[_Fields]:
    """Store or load registers that are listed behind a base."""
    kind, down = _MANY[found.insn_name()]
    base, listed = _register(found, 0), found.operands[1:]
    size = _bytes(found, listed)
    registers = _numbers(found, listed, size)
    moved = -size if down else size
    access = _words(kind, base, -size if down else 0, registers)
    parts = [access]
    if found.writeback and base not in registers:
        move = {"kind": Kind.ADD_IMMEDIATE, "rd": base, "rs1": base, "immediate": moved}
        parts = [move, access | {"immediate": 0}] if down else [access, move]
    return [*parts, *[_ELSEWHERE][: _PC in registers and kind is Kind.RESTORE]]


def _arithmetic(kind: Kind, sign: int) -> Callable[[capstone.CsInsn], list[_Fields]]:
    def effect(found: capstone.CsInsn) -> list[_Fields]:
        operands = found.operands
        rd, rs1 = _register(found, 0), _register(found, 0 if len(operands) == 2 else 1)
        last = operands[-1]
        if _PC in (rd, rs1) or last.shift.type:
            return _add_shifted(found, kind, rd, rs1)
        if last.type == arm.ARM_OP_IMM:
            number = sign * int(last.imm)
            return [{"kind": Kind.ADD_IMMEDIATE, "rd": rd, "rs1": rs1, "immediate": number}]
        return [{"kind": kind, "rd": rd, "rs1": rs1, "rs2": _register(found, len(operands) - 1)}]

    return effect


def _add_shifted(found: capstone.CsInsn, kind: Kind, rd: int, rs1: int) -> list[_Fields]:
    """Add a register that is shifted to the left by a constant; of others, `rs1` is followed."""
    last = found.operands[-1]
    rs2 = _REGISTERS.get(last.reg, _PC)
    if _PC in (rd, rs1, rs2) or rd == SP:
        return _other(found)
    if kind is not Kind.ADD or last.shift.type != arm.ARM_SFT_LSL:
        return [{"kind": kind, "rd": rd, "rs1": rs1, "rs2": NOWHERE, "reads": (rs2,)}]
    scale = int(last.shift.value)
    return [{"kind": Kind.ADD_SCALED, "rd": rd, "rs1": rs1, "rs2": rs2, "scale": scale}]


def _shift(found: capstone.CsInsn) -> list[_Fields]:
    """Shift a register to the left by a constant, as code does that has no constants beside it."""
    last, rd = found.operands[-1], _register(found, 0)
    if last.type != arm.ARM_OP_IMM or rd in (SP, _PC):
        return _other(found)
    rs2 = _register(found, len(found.operands) - 2)
    return [{"kind": Kind.ADD_SCALED, "rd": rd, "rs2": rs2, "scale": int(last.imm)}]


def _page(found: capstone.CsInsn) -> list[_Fields]:
    number = (int(found.address) + 4 & ~3) + int(found.operands[1].imm)
    return [{"kind": Kind.SET, "rd": _register(found, 0), "immediate": number & _WORD}]


def _copy(found: capstone.CsInsn) -> list[_Fields]:
    rd, source = _register(found, 0), found.operands[1]
    if source.shift.type:
        return _other(found)
    if rd == _PC:
        return [{"kind": Kind.JUMP_REGISTER, "rs1": _register(found, 1)}]
    if source.type == arm.ARM_OP_IMM:
        return [{"kind": Kind.SET, "rd": rd, "immediate": int(source.imm) & _WORD}]
    return [{"kind": Kind.ADD_IMMEDIATE, "rd": rd, "rs1": _register(found, 1)}]


def _upper(found: capstone.CsInsn) -> list[_Fields]:
    """Set the upper half of a register whose lower half `movw` has set."""
    rd, number = _register(found, 0), int(found.operands[1].imm) << 16
    return [{"kind": Kind.ADD_IMMEDIATE, "rd": rd, "rs1": rd, "immediate": number}]


def _jump(link: int) -> Callable[[capstone.CsInsn], list[_Fields]]:
    def effect(found: capstone.CsInsn) -> list[_Fields]:
        target = found.operands[-1]
        if target.type == arm.ARM_OP_REG:
            register = _REGISTERS.get(target.reg, _PC)
            return [{"kind": Kind.JUMP_REGISTER, "rd": link, "rs1": register}]
        conditional = not link and (found.cc not in _ALWAYS or len(found.operands) == 2)
        kind = Kind.BRANCH if conditional else Kind.JUMP
        return [{"kind": kind, "rd": link, "immediate": int(target.imm) & _WORD}]

    return effect


_STORES = {
    "str": (1, 4),
    "strd": (2, 4),
    "strh": (1, 2),
    "strb": (1, 1),
    "vstr": (1, 8),
    "strt": (1, 4),
    "stl": (1, 4),
    **dict.fromkeys(
        (f"{name}{size}" for name in ("strex", "stlex") for size in ("", "b", "h")), (1, 8)
    ),
    **dict.fromkeys(("strbt", "strht", "stlb", "stlh"), (1, 8)),
    **dict.fromkeys(("stc", "stcl", "stc2", "stc2l"), (0, 8)),  # of MVE, too
}
_MANY = {
    "stm": (Kind.STORE, False),
    "stmdb": (Kind.STORE, True),
    "vstmia": (Kind.STORE, False),
    "vstmdb": (Kind.STORE, True),
    "ldm": (Kind.RESTORE, False),
    "ldmdb": (Kind.RESTORE, True),
    "vldmia": (Kind.RESTORE, False),
}
"""Stores, by how many registers of how many bytes they have; lists, by whether they lie below."""

_EFFECTS: dict[str, Callable[[capstone.CsInsn], list[_Fields]]] = {
    **dict.fromkeys(("push", "vpush"), _push),
    **dict.fromkeys(("pop", "vpop"), _pop),
    "adr": _page,
    **dict.fromkeys(("add", "addw"), _arithmetic(Kind.ADD, 1)),
    **dict.fromkeys(("sub", "subw"), _arithmetic(Kind.SUBTRACT, -1)),
    **dict.fromkeys(("mov", "movw"), _copy),
    "movt": _upper,
    **dict.fromkeys(("b", "bx", "cbz", "cbnz"), _jump(ZERO)),
    **dict.fromkeys(("bl", "blx"), _jump(RA)),
    "bxns": lambda _: [_ELSEWHERE],
    "blxns": lambda _: [{"kind": Kind.JUMP_REGISTER, "rd": RA, "rs1": _PC}],
    **dict.fromkeys(("tbb", "tbh"), lambda _: [_ELSEWHERE]),
    "msr": _system,
    "lsl": _shift,
    "svc": lambda _: [{"kind": Kind.OTHER}],
    **dict.fromkeys(("bic", "bfc"), _align),
    **dict.fromkeys(("udf", "bkpt"), lambda _: [{"kind": Kind.HALT}]),
}
