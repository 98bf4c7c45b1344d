# SPDX-License-Identifier: Apache-2.0
"""Cycles of Cortex-M0+, M3 and M4 as Arm's technical reference manuals have them: least and most.

The tables are 3.1 of DDI 0484C (Cortex-M0+) and DDI 0337I (Cortex-M3), and 3-1 of 100166_0001_00
(Cortex-M4); the latter two have rules for loads and stores behind each other as well. Each core
runs what a simulator ran, so that what is left are the ranges that the tables give: a pipeline's
refill of 1 to 3 cycles, a division of 2 to 12, loads that may share a cycle with what they follow.
Memories answer in the next cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import capstone
from capstone import arm


class Range(NamedTuple):
    """Cycles."""

    least: int
    most: int


ONE, TWO, THREE = Range(1, 1), Range(2, 2), Range(3, 3)
BARRIERS = ("dmb", "dsb", "isb")
LOADS = ("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh")
STORES = ("str", "strb", "strh")
PAIRS = ("ldrd", "strd")
SEVERAL = ("ldm", "ldmdb", "pop", "push", "stm", "stmdb")


@dataclass(frozen=True, slots=True)
class Table:
    """What a core's table says.

    Attributes:
        cycles: of instructions that do not take one.
        refill: what a jump that is taken takes more.
        pipelines: a load shares a cycle with a load or store behind it.
    """

    cycles: Mapping[str, Range]
    refill: Range
    pipelines: bool


_M4 = {
    **dict.fromkeys(("sdiv", "udiv"), Range(2, 12)),
    **dict.fromkeys(("tbb", "tbh"), Range(2, 3)),
    **dict.fromkeys(("mrs", "msr"), Range(1, 2)),
    **dict.fromkeys(BARRIERS, Range(1, 4)),
    "it": Range(0, 1),
}
_M3 = _M4 | {
    **dict.fromkeys(("mla", "mls"), TWO),
    **dict.fromkeys(("smull", "umull"), Range(3, 5)),
    **dict.fromkeys(("smlal", "umlal"), Range(4, 7)),
}
_M0_PLUS = {
    **dict.fromkeys((*LOADS, *STORES), TWO),
    **dict.fromkeys(("mrs", "msr", *BARRIERS), THREE),
    "bl": TWO,  # and a further cycle, as every jump that is taken
}
TABLES: Mapping[str, Table] = {
    "cortex_m0plus": Table(_M0_PLUS, ONE, pipelines=False),
    "cortex_m3": Table(_M3, Range(1, 3), pipelines=True),
    "cortex_m4": Table(_M4, Range(1, 3), pipelines=True),
}


def cycles_of_block(table: Table, body: Sequence[Any]) -> Range:
    """Return what instructions take that run one after the other, without what a jump adds."""
    before: Any = None
    least = most = 0
    for each in body:
        low, high = _cycles(table, each, before)
        least, most, before = least + low, most + high, each
    return Range(least, most)


def _cycles(table: Table, one: Any, before: Any) -> Range:
    name = one.insn_name()
    if name in PAIRS:
        return THREE
    if name in SEVERAL:
        moved = sum(each.type == arm.ARM_OP_REG for each in one.operands)
        moved -= name.startswith(("ldm", "stm"))
        to_jump = not table.pipelines and name == "pop" and _writes(one, arm.ARM_REG_PC)
        return Range(*(1 + moved + to_jump,) * 2)
    if not table.pipelines or name not in (*LOADS, *STORES):
        return table.cycles.get(name, ONE)
    return _cycles_of_access(one, before)


def _cycles_of_access(one: Any, before: Any) -> Range:
    """Return what a load or a store takes, of which a Cortex-M3 or M4 pipelines some.

    At most, nothing is pipelined, an address that was just computed comes a cycle late, and a load
    from behind the code meets a fetch.
    """
    places = _places(one)
    usual = 1 if one.insn_name() in STORES and len(places) == 1 else 2
    late = before is not None and any(_writes(before, place) for place in places)
    loaded = before is not None and before.insn_name() in LOADS
    least = 1 if loaded and not late else usual
    return Range(least, usual + (late and not loaded) + (arm.ARM_REG_PC in places))


def _places(one: Any) -> list[int]:
    """Return the registers that an address is made of."""
    found = [each.mem for each in one.operands if each.type == arm.ARM_OP_MEM]
    return [place for each in found for place in (each.base, each.index) if place]


def _writes(one: Any, register: int) -> bool:
    return any(
        each.type == arm.ARM_OP_REG and each.reg == register and each.access & capstone.CS_AC_WRITE
        for each in one.operands
    )


@dataclass
class Core:
    """A core that takes the least or the most of its table."""

    name: str
    which: int
    _end: int = 0
    _jumps: bool = False
    _known: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    def run(self, address: int, code: bytes) -> int:
        """Return what the next block takes, and the jump to it if there was one."""
        place, table = (address, len(code)), TABLES[self.name]
        if place not in self._known:
            body = [*_disassembler().disasm(code, address)]
            self._known[place] = cycles_of_block(table, body)[self.which], address + len(code)
        cycles, end = self._known[place]
        taken = self._end not in (0, address)
        self._end = end
        return cycles + taken * table.refill[self.which]


def _disassembler() -> capstone.Cs:
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    engine.detail = True
    return engine
