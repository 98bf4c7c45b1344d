# SPDX-License-Identifier: Apache-2.0
"""Decode A64 (Cortex-A, 64 bits) machine code as far as stack use and control flow need it.

Registers get the numbers of RISC-V registers with the same role, as in `thumb`: x0 to x18 belong to
the caller, x19 to x29 to the callee. RISC-V has fewer of the former: x15 to x18 come behind all.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import capstone
from capstone import arm64

from atoll.stack.instruction import (
    EXTRA,
    NOWHERE,
    OTHER_SP,
    RA,
    RESUME,
    SP,
    TRAP,
    ZERO,
    Instruction,
    Kind,
    Reader,
    within,
)

_WORD = 0xFFFF_FFFF
_SIZE = 4
_NUMBERS = {
    **{number: 10 + number for number in range(8)},
    **dict(zip(range(8, 19), (5, 6, 7, 28, 29, 30, 31, *EXTRA), strict=True)),
    **{number: number - 1 for number in range(19, 29)},
    29: 8,
    30: RA,
}
_ANY = tuple(sorted({*_NUMBERS.values()}))
_BEFORE = re.compile(r"\[sp, #(-?\w+)\]!")
_AFTER = re.compile(r"\[sp\], #(-?\w+)")

_SCALABLE = re.compile(r"z|p\d")  # a vector, or a predicate, whose length nobody knows
_APART = 1 << 32

_Fields = dict[str, Any]
"""Fields of one `Instruction` but its address and size; the instruction `then` comes after it."""


def _named_encodings() -> Iterator[tuple[int, int]]:
    for number, role in _NUMBERS.items():
        for letter in "XW":
            yield getattr(arm64, f"ARM64_REG_{letter}{number}"), role
    yield from ((arm64.ARM64_REG_SP, SP), (arm64.ARM64_REG_WSP, SP))
    yield from ((arm64.ARM64_REG_XZR, ZERO), (arm64.ARM64_REG_WZR, ZERO))


_REGISTERS = dict(_named_encodings())


def decode(
    code: bytes,
    address: int,
    data: Mapping[int, int] | None = None,
    read: Reader | None = None,
) -> Iterator[Instruction]:
    """Yield the instructions of `code`, which starts at `address`; constants are skipped.

    Arguments are those of `thumb.decode`.
    """
    spans = (range(begin, end, _SIZE) for begin, end in (data or {}).items())
    constants: set[int] = {each for span in spans for each in span}
    read = read or within(code, address)
    for offset in range(0, len(code) // _SIZE * _SIZE, _SIZE):
        at = address + offset
        if at in constants:
            continue
        found = next(_disassembler().disasm(code[offset : offset + _SIZE], at), None)
        fields = _anything(found)
        if found is not None:
            name = found.insn_name()
            usual = _exchange if name.startswith(_WRITE) else _other
            known = usual if _SCALABLE.match(found.op_str) else _EFFECTS.get(name, usual)
            fields = _literal(found, read, constants) or known(found)
        then = fields.pop("then", None)
        yield Instruction(address=at, size=_APART if then else _SIZE, **fields)
        if then:
            yield Instruction(address=at + _APART, size=_SIZE - _APART, **then)


@cache
def _disassembler() -> capstone.Cs:
    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.detail = True
    return engine


def _literal(found: capstone.CsInsn, read: Reader, constants: set[int]) -> _Fields | None:
    """Return what a load of a constant sets, and note where the constant is."""
    operands = found.operands
    if found.insn_name() != "ldr" or operands[1].type != arm64.ARM64_OP_IMM:
        return None
    place, size = int(operands[1].imm), 8 if found.op_str.startswith("x") else 4
    constants.update(range(place, place + size, _SIZE))
    word, target = read(place, size), _REGISTERS.get(operands[0].reg)
    if target is None:
        return {"kind": Kind.OTHER}
    if len(word) < size:
        return {"kind": Kind.OTHER, "clobbers": (target,)}
    return _set(target, int.from_bytes(word, "little"))


def _set(register: int, number: int) -> _Fields:
    return {"kind": Kind.SET, "rd": register, "immediate": number & _WORD}


def _add(target: int, base: int, number: int, clobbers: tuple[int, ...] = ()) -> _Fields:
    kind = Kind.ADD_IMMEDIATE
    return {"kind": kind, "rd": target, "rs1": base, "immediate": number, "clobbers": clobbers}


def _anything(_: capstone.CsInsn | None) -> _Fields:
    """Change any register: of what is not known, and of what a vector's length decides (SVE)."""
    return {"kind": Kind.OTHER, "clobbers": (*_ANY, SP)}


def _other(found: capstone.CsInsn) -> _Fields:
    """Return what an instruction changes; an access may move the stack pointer."""
    _, written = found.regs_access()
    known = {_REGISTERS[register] for register in written if register in _REGISTERS} - {ZERO}
    name = found.insn_name()
    for first in found.operands[:1]:
        if name in _COMPARE:  # which Capstone reads as what it is an alias of
            known -= {_REGISTERS.get(first.reg)}
        elif first.type == arm64.ARM64_OP_REG and not first.access and not name.startswith(_READS):
            known |= {_REGISTERS.get(first.reg, ZERO)} - {ZERO}
    if moved := _BEFORE.search(found.op_str) or _AFTER.search(found.op_str):
        return _add(SP, SP, int(moved[1], 0), tuple(sorted(known - {SP})))
    return {"kind": Kind.OTHER, "clobbers": tuple(sorted(known))}


def _words(found: capstone.CsInsn) -> _Fields:
    """Store or restore registers, and move the base as the access says."""
    name, operands = found.insn_name(), found.operands
    number, place = next(
        (number, each) for number, each in enumerate(operands) if each.type == arm64.ARM64_OP_MEM
    )
    first = found.op_str[0]
    width = _BYTES.get(name[-1] if name[-1] in "bh" else first, _SIZE)
    pair = name in ("stp", "ldp", "stnp", "ldnp")
    loads = name.startswith("ld")
    whole = first == "x" and (pair or name in ("str", "ldr", "stur", "ldur", "sttr", "ldtr"))
    if not whole and loads:
        return _other(found)
    listed = operands[:number] if whole else operands[: 2 if pair else 1]
    registers = tuple(_REGISTERS.get(each.reg, NOWHERE) if whole else NOWHERE for each in listed)
    base = _REGISTERS.get(place.mem.base, NOWHERE)
    distance, last = int(place.mem.disp), operands[-1]
    access = {
        "kind": Kind.RESTORE if loads else Kind.STORE,
        "rs1": base,
        "rs2": NOWHERE if place.mem.index else ZERO,
        "immediate": distance,
        "registers": registers,
        "clobbers": registers if loads else (),
        "width": width if width in _BYTES.values() else 16,
    }
    if not found.writeback:
        return access
    if last.type == arm64.ARM64_OP_IMM:
        return access | {"then": _add(base, base, int(last.imm))}
    return _add(base, base, distance) | {"then": access | {"immediate": 0}}


def _exchange(found: capstone.CsInsn) -> _Fields:
    """Write what a register points to: nothing is followed but that it changes."""
    place = next((each for each in found.operands if each.type == arm64.ARM64_OP_MEM), None)
    base = NOWHERE if place is None else _REGISTERS.get(place.mem.base, NOWHERE)
    store = {"kind": Kind.STORE, "rs1": base, "registers": (NOWHERE,) * 8, "width": 8}
    if place is not None and not found.op_str.endswith("!"):  # else it moves first
        store["immediate"] = int(place.mem.disp)
    if _LENGTHS in found.op_str:
        store |= {"immediate": 0, "rs2": NOWHERE}
    fields = _other(found)
    return store | {"clobbers": fields.get("clobbers", ()), "then": fields}


def _arithmetic(kind: Kind, sign: int) -> Callable[[capstone.CsInsn], _Fields]:
    def effect(found: capstone.CsInsn) -> _Fields:
        target, base, last = found.operands
        rd, rs1 = _REGISTERS.get(target.reg), _REGISTERS.get(base.reg)
        if rd is None or rs1 is None:
            return _other(found)
        if rd != SP and last.type == arm64.ARM64_OP_REG and (last.ext or last.shift.type):
            return _scale(found, kind, rd, rs1)
        if last.ext:
            return _other(found)
        if last.type == arm64.ARM64_OP_IMM:
            return _add(rd, rs1, sign * (int(last.imm) << int(last.shift.value)))
        rs2 = _REGISTERS.get(last.reg)
        if rs2 is None or last.shift.type:
            return _other(found)
        return {"kind": kind, "rd": rd, "rs1": rs1, "rs2": rs2}

    return effect


def _add_tag(sign: int) -> Callable[[capstone.CsInsn], _Fields]:
    """Add to an address, and to its tag, which takes nothing of the stack."""

    def effect(found: capstone.CsInsn) -> _Fields:
        target, base, number, _ = found.operands
        rd, rs1 = _REGISTERS.get(target.reg), _REGISTERS.get(base.reg)
        if rd is None or rs1 is None:
            return _other(found)
        return _add(rd, rs1, sign * int(number.imm))

    return effect


def _scale(found: capstone.CsInsn, kind: Kind, rd: int, rs1: int) -> _Fields:
    """Add what is extended, shifted to the left, or both; of others, `rs1` is followed."""
    last = found.operands[-1]
    rs2 = _REGISTERS.get(last.reg)
    if rs2 is None or kind is not Kind.ADD or last.shift.type not in (0, arm64.ARM64_SFT_LSL):
        return {"kind": kind, "rd": rd, "rs1": rs1, "rs2": NOWHERE}
    width, scale = _EXTENSIONS.get(last.ext, 0), int(last.shift.value)
    return {
        "kind": Kind.ADD_SCALED,
        "rd": rd,
        "rs1": rs1,
        "rs2": rs2,
        "width": width,
        "scale": scale,
    }


def _load(found: capstone.CsInsn) -> _Fields:
    """Load from a table: a base and an index that is as large as the entries."""
    place = found.operands[-1]
    width = _WIDTHS.get(found.insn_name(), 8 if found.op_str.startswith("x") else 4)
    target = _REGISTERS.get(found.operands[0].reg)
    if (place.type == arm64.ARM64_OP_MEM and not place.mem.index) or found.writeback:
        return _words(found)
    if place.type != arm64.ARM64_OP_MEM or target is None:
        return _other(found)
    base, index = _REGISTERS.get(place.mem.base), _REGISTERS.get(place.mem.index)
    if base is None or index is None or 1 << int(place.shift.value) != abs(width):
        return _other(found)
    return {"kind": Kind.LOAD, "rd": target, "rs1": base, "rs2": index, "width": width}


def _copy(found: capstone.CsInsn) -> _Fields:
    target, source = found.operands
    rd = _REGISTERS.get(target.reg)
    if rd is None:
        return _other(found)
    if source.type == arm64.ARM64_OP_IMM:
        return _set(rd, int(source.imm) << int(source.shift.value))
    rs1 = _REGISTERS.get(source.reg)
    return _other(found) if rs1 is None else _add(rd, rs1, 0)


def _page(found: capstone.CsInsn) -> _Fields:
    rd = _REGISTERS.get(found.operands[0].reg)
    return _other(found) if rd is None else _set(rd, int(found.operands[1].imm))


def _jump(kind: Kind, link: int = ZERO) -> Callable[[capstone.CsInsn], _Fields]:
    def effect(found: capstone.CsInsn) -> _Fields:
        conditional = found.cc not in (arm64.ARM64_CC_INVALID, arm64.ARM64_CC_AL)
        target = int(found.operands[-1].imm) & _WORD
        return {
            "kind": Kind.BRANCH if conditional else kind,
            "rd": link,
            "immediate": target,
        }

    return effect


def _register(link: int) -> Callable[[capstone.CsInsn], _Fields]:
    def effect(found: capstone.CsInsn) -> _Fields:
        given = found.operands[0].reg if found.operands else arm64.ARM64_REG_X30
        rs1 = _REGISTERS.get(given, NOWHERE)
        return {"kind": Kind.JUMP_REGISTER, "rd": link, "rs1": rs1}

    return effect


def _system(found: capstone.CsInsn) -> _Fields:
    """Write a system register: where exceptions begin and go on is followed."""
    name = found.op_str.split(",")[0]
    rs1 = _REGISTERS.get(found.operands[-1].reg)
    rd = RESUME if name.startswith("elr_") else TRAP if name.startswith("vbar_") else ZERO
    if name == "sp_el0":
        return {"kind": Kind.OTHER, "rd": OTHER_SP}
    if name.startswith("spsel"):
        return {"kind": Kind.OTHER, "clobbers": (SP,)}
    return {"kind": Kind.OTHER, "rd": rd} if rs1 is None else _add(rd, rs1, 0)


def _read_system(found: capstone.CsInsn) -> _Fields:
    """Read a system register: where exceptions begin is followed."""
    rd, name = _REGISTERS.get(found.operands[0].reg), found.op_str.split(", ")[-1]
    return _add(rd, TRAP, 0) if rd is not None and name.startswith("vbar_") else _other(found)


def _align(found: capstone.CsInsn) -> _Fields:
    target, base, last = found.operands
    rd, rs1 = _REGISTERS.get(target.reg), _REGISTERS.get(base.reg)
    size = (1 << 64) - (int(last.imm) & (1 << 64) - 1) if last.type == arm64.ARM64_OP_IMM else 0
    if rd is None or rs1 is None or not 0 < size <= _WORD or size & (size - 1):
        return _other(found)
    return {"kind": Kind.ALIGN, "rd": rd, "rs1": rs1, "immediate": size}


def _sign_address(_: capstone.CsInsn) -> _Fields:
    """Sign an address, or check that: it leads to the same place, or to a trap."""
    return {"kind": Kind.OTHER}


_LENGTHS = "mul vl"
_OPERATIONS = ("add", "clr", "eor", "set", "smax", "smin", "umax", "umin")
_KEYS = ("asp", "az", "bsp", "bz")
_SIGNED = ("a", "b", "za", "zb")
_RESUMING: _Fields = {"kind": Kind.JUMP_REGISTER, "rs1": RESUME}

_READS = ("st", "prf")
_COMPARE = ("cmp", "cmn", "ccmp", "ccmn", "tst", "cmpp")
_WRITE = ("st", "swp", "cas", *(f"ld{word}" for word in _OPERATIONS))
_WIDTHS = {"ldrb": 1, "ldrh": 2, "ldrsb": -1, "ldrsh": -2, "ldrsw": -4}
_EXTENSIONS = {
    arm64.ARM64_EXT_UXTB: 1,
    arm64.ARM64_EXT_UXTH: 2,
    arm64.ARM64_EXT_UXTW: 4,
    arm64.ARM64_EXT_SXTB: -1,
    arm64.ARM64_EXT_SXTH: -2,
    arm64.ARM64_EXT_SXTW: -4,
}
_BYTES = {"b": 1, "h": 2, "w": 4, "s": 4, "x": 8, "d": 8, "q": 16}
_EFFECTS: dict[str, Callable[[capstone.CsInsn], _Fields]] = {
    **dict.fromkeys(("add", "adds"), _arithmetic(Kind.ADD, 1)),
    **dict.fromkeys(("sub", "subs"), _arithmetic(Kind.SUBTRACT, -1)),
    "addg": _add_tag(1),
    "subg": _add_tag(-1),
    **dict.fromkeys(("addvl", "addpl"), _anything),
    **dict.fromkeys(("mov", "movz"), _copy),
    **dict.fromkeys(("adr", "adrp"), _page),
    "b": _jump(Kind.JUMP),
    "bl": _jump(Kind.JUMP, RA),
    **dict.fromkeys(("cbz", "cbnz", "tbz", "tbnz"), _jump(Kind.BRANCH)),
    **dict.fromkeys(("br", "ret"), _register(ZERO)),
    "blr": _register(RA),
    **dict.fromkeys(("retaa", "retab"), lambda _: {"kind": Kind.JUMP_REGISTER, "rs1": RA}),
    **dict.fromkeys(
        ("braa", "brab", "braaz", "brabz", "drps"),
        lambda _: {"kind": Kind.JUMP_REGISTER, "rs1": NOWHERE},
    ),
    **dict.fromkeys(
        ("blraa", "blrab", "blraaz", "blrabz"),
        lambda _: {"kind": Kind.JUMP_REGISTER, "rd": RA, "rs1": NOWHERE},
    ),
    **dict.fromkeys(("eret", "eretaa", "eretab"), lambda _: _RESUMING),
    **dict.fromkeys(("ldr", *_WIDTHS), _load),
    **dict.fromkeys(("ldp", "ldnp", "ldur", "ldtr", "stp", "stnp"), _words),
    **dict.fromkeys(
        (f"st{kind}r{size}" for kind in ("", "u", "t") for size in ("", "b", "h")), _words
    ),
    "msr": _system,
    "mrs": _read_system,
    **dict.fromkeys((f"{way}i{key}" for way in ("pac", "aut") for key in _KEYS), _sign_address),
    **dict.fromkeys(
        (f"{way}{of}{key}" for way in ("pac", "aut") for of in "id" for key in _SIGNED),
        _sign_address,
    ),
    **dict.fromkeys(("xpaclri", "xpaci", "xpacd"), _sign_address),
    "and": _align,
    **dict.fromkeys(("udf", "brk", "hlt"), lambda _: {"kind": Kind.HALT}),
}
