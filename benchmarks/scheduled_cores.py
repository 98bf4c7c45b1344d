# SPDX-License-Identifier: Apache-2.0
"""Cores that issue in order as LLVM's scheduling models have them, by the rules of `dual_issue`.

Those beside the Cortex-M7 are SiFive's U54, which llvm/lib/Target/RISCV/RISCVSchedRocket.td
(revision 03669ce5b155) has with one instruction a cycle, and the Cortex-A53 in its 64-bit state,
which llvm/lib/Target/AArch64/AArch64SchedA53.td (revision 02b3d4f49c4d) has with two. Of vectors of
128 bits, that file says for most that they hold their unit for two cycles. Its latencies differ by
instruction; here, simple ones have 2, products 4, and all others 3.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import capstone

from benchmarks.dual_issue import CORTEX_M7, Block, Instruction, Kind, Model

ALU = Kind(())
_LOADS = {
    **dict.fromkeys(("ld", "ldsp", "lw", "lwsp", "lwu"), Kind((), latency=2)),
    **dict.fromkeys(("lb", "lbu", "lh", "lhu"), Kind((), latency=3)),
}
_PRODUCTS = dict.fromkeys(("mul", "mulh", "mulhsu", "mulhu", "mulw"), Kind((), latency=4))
_DIVISIONS = {
    **dict.fromkeys(("div", "divu", "rem", "remu"), Kind((), latency=33)),
    **dict.fromkeys(("divw", "divuw", "remw", "remuw"), Kind((), latency=34)),
}
_STORES = ("sb", "sd", "sdsp", "sh", "sw", "swsp")
_RISCV = {**_LOADS, **_PRODUCTS, **_DIVISIONS}
_WRITES_ALONE = ("addi4spn", "ld", "ldsp", "li", "lui", "lw", "lwsp", "mv")
"""Compressed instructions that do not read their first register."""


def _riscv_instruction(found: Any) -> Instruction:
    full = found.insn_name()
    name = full.removeprefix("c.")
    kind = _RISCV.get(name, ALU)
    registers = [found.reg_name(each.reg) for each in found.operands if each.type == 1]
    bases = [found.reg_name(each.mem.base) for each in found.operands if each.type == 3]
    writes = name not in (*_STORES, "j", "jr") and not name.startswith("b")
    made = registers[:1] if writes else []
    again = full != name and name not in _WRITES_ALONE
    read = [*(registers if again else registers[len(made) :]), *bases]
    return Instruction(
        kind,
        tuple((each, 0) for each in read if each != "zero"),
        tuple((each, kind.latency) for each in made if each != "zero"),
    )


def decode_riscv(address: int, code: bytes) -> Block:
    """Return the instructions of RV64 at an address."""
    engine = capstone.Cs(capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64 | capstone.CS_MODE_RISCVC)
    engine.detail = True
    found = [*engine.disasm(code, address)]
    branches = bool(found) and found[-1].insn_name().removeprefix("c.").startswith("b")
    return Block(tuple(map(_riscv_instruction, found)), address + len(code), branches)


_UNITS = {"alu": 2, "branch": 1, "divide": 1, "memory": 1, "multiply": 1, "simd": 1, "product": 1}
_FLAGS, _LOADED = "nzcv", "loaded "
"""The flags, and what stands before a register that a load makes, which comes to nobody earlier."""

_LATE = {"alu": 2, "multiply": 1, "divide": 1, "branch": 2}
"""Cycles after which units need what others than loads made."""

_COMPARES = ("ccmn", "ccmp", "cmn", "cmp", "tst")
_SUMS = ("madd", "msub", "smaddl", "smsubl", "umaddl", "umsubl")
"""Multiplications that need their last register a cycle later."""
_WIDE = re.compile(r"\b[qv][0-9]+\.?(16b|8h|4s|2d)?\b")
_SIMPLE = ("add", "and", "bic", "dup", "eor", "mov", "movi", "mvn", "mvni", "neg", "orr", "sub")


def _a64_kind(name: str, registers: str, *, vectors: bool) -> Kind:
    wide = 2 if any(each != "" for each in _WIDE.findall(registers)) or "q" in registers else 1
    if name.startswith(("ld", "st")):
        several = name[2:3].isdigit() or name in ("ldp", "stp")
        holds = (int(name[2]) if name[2:3].isdigit() else 2) if several else 1
        latency = 4 + (holds - 1 if vectors else 0)
        return Kind(("memory",), latency=latency, holds=max(holds, wide if several else 1))
    if vectors:
        product = "mul" in name or name.startswith(("mla", "mls", "smla", "smls", "umla", "umls"))
        latency = 4 if product else 2 if name in _SIMPLE else 3
        return Kind(("product" if product else "simd",), latency=latency, holds=wide)
    if name in ("madd", "msub", "mul", "mneg") or name.endswith(("addl", "mull", "mulh", "subl")):
        return Kind(("multiply",), latency=4)
    if name in ("sdiv", "udiv"):
        return Kind(("divide",), latency=4)
    if name in ("b", "bl", "blr", "br", "cbnz", "cbz", "ret", "tbnz", "tbz"):
        return Kind(("branch",))
    return Kind(("alu",), latency=3)


def _a64_instruction(found: Any) -> Instruction:
    name = found.insn_name()
    read, made = ({*_names(found, each)} for each in found.regs_access())
    if name in _COMPARES:
        read, made = read | made - {_FLAGS}, {_FLAGS}
    kind = _a64_kind(name, found.op_str, vectors=any(each[0] == "v" for each in read | made))
    shifted = any(each.shift.type or each.ext for each in found.operands)
    late = _LATE.get(kind.units[0], 0) - (shifted and kind.units[0] == "alu")
    sums = _name(found.reg_name(found.operands[-1].reg)) if name in _SUMS else ""
    needs = [(each, late + (each == sums)) for each in read]
    needs += [(_LOADED + each, 0) for each in read]
    loads = kind.units[0] == "memory"
    makes = [(_LOADED + each if loads else each, kind.latency) for each in made]
    makes += [(each if loads else _LOADED + each, 0) for each in made]
    if found.writeback:
        bases = (_name(found.reg_name(each.mem.base)) for each in found.operands if each.type == 3)
        makes += [(each, 0) for base in bases for each in (base, _LOADED + base)]
    return Instruction(kind, tuple(needs), tuple(makes))


def _names(found: Any, registers: Any) -> Iterator[str]:
    for each in registers:
        name = _name(found.reg_name(each))
        if name not in ("xzr", ""):
            yield name


def _name(register: str) -> str:
    """Return the name of the whole register."""
    if register in ("sp", "wsp", _FLAGS):
        return "sp" if register != _FLAGS else _FLAGS
    letter, number = register[:1], register[1:]
    if letter in "wx":
        return f"x{number}"
    return f"v{number}" if number.isdigit() else register


def decode_a64(address: int, code: bytes) -> Block:
    """Return the instructions of A64 at an address."""
    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    engine.detail = True
    found = [*engine.disasm(code, address)]
    branches = bool(found) and found[-1].insn_name() in ("cbnz", "cbz", "tbnz", "tbz")
    branches |= bool(found) and found[-1].mnemonic.startswith("b.")
    return Block(tuple(map(_a64_instruction, found)), address + len(code), branches)


MODELS: Mapping[str, Model] = {
    "cortex_m7": CORTEX_M7,
    "sifive_u54": Model(decode_riscv, {}, 1, 3),
    "cortex_a53": Model(decode_a64, _UNITS, 2, 9),
}
"""By the name of a core."""
