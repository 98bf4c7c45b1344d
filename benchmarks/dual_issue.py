# SPDX-License-Identifier: Apache-2.0
"""Cycles of a Cortex-M7 as LLVM's scheduling model has it: two instructions a cycle, in order.

Arm publishes no cycles of that core. The units, latencies and pairs are those that LLVM gives
Thumb instructions of whole numbers in llvm/lib/Target/ARM/ARMScheduleM7.td (revision 6a5553319e1b).
What it does not say is taken so: several registers at once go two a cycle, as LDRD does; a branch
that is taken ends its pair; a branch costs LLVM's penalty where it goes another way than a counter
of two bits expects. Memories answer in the next cycle.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from unittest.mock import patch

import capstone
import unicorn
from capstone import arm

from atoll_sim.iss.emulator import Emulator
from atoll_sim.iss.native import CoreState

UNITS: Mapping[str, int] = {
    "alu": 2,
    "branch": 1,
    "load": 2,
    "multiply": 1,
    "shift": 1,
    "simd": 1,
    "store": 1,
}
"""What there is of each unit; all take an instruction each cycle."""

WIDTH, PENALTY, DIVISION = 2, 4, 7
FLAGS = -1
"""In place of a register: the flags."""

STRONG, TAKEN = 3, 2
"""A branch's counter at its end, and from where on the branch is expected to be taken."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a kind of instruction takes.

    Attributes:
        units: it takes, one of each.
        latency: cycles from then until another may issue that needs its result.
        alone: no other issues in its cycle.
        first: it is never the second of a pair.
        early: cycles before others at which it needs its last register.
        cycles: until the next one issues, if more than one.
        holds: cycles for which it has its units, of which the core has one each if that is more
            than one.
    """

    units: tuple[str, ...]
    latency: int = 1
    alone: bool = False
    first: bool = False
    early: int = 0
    cycles: int = 1
    holds: int = 1


ALU, SHIFT = Kind(("alu",)), Kind(("alu", "shift"))
SHIFTED = Kind(("alu", "shift"), early=1)
COMPARE_SHIFTED = Kind(("alu", "shift"), latency=2, early=1)
MULTIPLY = Kind(("multiply",), latency=2)
DIVIDE = Kind(("alu",), alone=True, cycles=DIVISION)
WORD, NARROW = Kind(("load",)), Kind(("load",), latency=2)
STORE, BRANCH = Kind(("store",), latency=2), Kind(("branch",), latency=2)
TABLE = Kind(("load",), alone=True, cycles=2)
FIRST = Kind(("alu",), first=True)
FIELD = Kind(("alu", "shift"), first=True)
SIMD, SLOW_SIMD = (Kind(("simd", "alu"), latency=each, first=True) for each in (1, 2))
REVERSE, EXTRACT, SATURATE = (
    Kind(("simd", "alu", "shift"), latency=each, first=True, early=1) for each in (0, 1, 2)
)
NOTHING = Kind((), latency=0)

KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("adc", "add", "addw", "adr", "and", "bic", "eor", "mov", "movt", "movw"), ALU),
    **dict.fromkeys(("mvn", "orn", "orr", "rsb", "sbc", "sub", "subw"), ALU),
    **dict.fromkeys(("cmn", "cmp", "teq", "tst"), ALU),
    **dict.fromkeys(("asr", "lsl", "lsr", "ror", "rrx"), SHIFT),
    **dict.fromkeys(("mul", "smulbb", "smulbt", "smultb", "smultt", "smull", "umull"), MULTIPLY),
    **dict.fromkeys(("smulwb", "smulwt", "smmul", "smmulr", "smuad", "smuadx"), MULTIPLY),
    **dict.fromkeys(("sdiv", "udiv"), DIVIDE),
    "ldr": WORD,
    **dict.fromkeys(("ldrb", "ldrh", "ldrsb", "ldrsh"), NARROW),
    **dict.fromkeys(("str", "strb", "strh"), STORE),
    **dict.fromkeys(("b", "bl", "blx", "bx", "cbz", "cbnz"), BRANCH),
    **dict.fromkeys(("tbb", "tbh"), TABLE),
    "clz": FIRST,
    **dict.fromkeys(("bfc", "bfi"), FIELD),
    **dict.fromkeys(("sxtb", "sxth", "uxtb", "uxth", "sxtb16", "uxtb16", "sel"), SIMD),
    **dict.fromkeys(("sadd16", "sadd8", "ssub16", "ssub8", "uadd8", "usub8"), SIMD),
    **dict.fromkeys(("qadd", "qsub", "qadd16", "qadd8", "qsub16", "qsub8"), SLOW_SIMD),
    **dict.fromkeys(("rbit", "rev", "rev16", "revsh"), REVERSE),
    **dict.fromkeys(("sbfx", "ubfx", "pkhbt", "pkhtb"), EXTRACT),
    **dict.fromkeys(("sxtab", "sxtah", "uxtab", "uxtah", "sxtab16", "uxtab16"), EXTRACT),
    **dict.fromkeys(("ssat", "usat"), SATURATE),
    **dict.fromkeys(("it", "hint", "nop"), NOTHING),
    **dict.fromkeys(("cps", "mrs", "msr", "dmb", "dsb", "isb"), Kind((), latency=3, alone=True)),
}
"""By the name of an instruction; those of several registers and with sums are below."""

SUMS = ("mla", "mls", "smla", "smml", "smls", "umla", "umaa")
"""What multiplications begin with that add to what they made a cycle before."""

SEVERAL = {
    **dict.fromkeys(("ldm", "ldmdb", "pop", "ldrd"), WORD),
    **dict.fromkeys(("stm", "stmdb", "push", "strd"), STORE),
}
LONG = ("smlal", "umlal", "umaal", "smlsl")
"""What multiplications begin with that add to a pair of registers."""


class Instruction(NamedTuple):
    """What one takes and makes.

    Attributes:
        kind: of it.
        needs: registers, and how many cycles after (before, if negative) it has them.
        makes: registers, and the cycles after which others have them.
    """

    kind: Kind
    needs: tuple[tuple[int | str, int], ...]
    makes: tuple[tuple[int | str, int], ...]


class State(NamedTuple):
    """Where the core is.

    Attributes:
        units: that the instructions of this cycle took.
        issued: how many these instructions are.
        shut: no other joins them.
        ready: registers, and in how many cycles they are.
        busy: units, and in how many cycles they are free.
    """

    units: tuple[str, ...] = ()
    issued: int = 0
    shut: bool = True
    ready: tuple[tuple[int | str, int], ...] = ()
    busy: tuple[tuple[int | str, int], ...] = ()


def issue(
    state: State,
    block: Sequence[Instruction],
    units: Mapping[str, int] = UNITS,
    width: int = WIDTH,
) -> tuple[int, State]:
    """Return in how many cycles the last instruction of a block issues, and where the core is."""
    now, used, count, shut = 0, state.units, state.issued, state.shut
    ready, busy = dict(state.ready), dict(state.busy)
    for kind, needs, makes in block:
        at = max((ready.get(name, 0) - late for name, late in needs), default=0)
        at = max((at, *(busy.get(each, 0) for each in kind.units)))
        joins = at <= now and not shut and count < width
        joins = joins and not (count and (kind.alone or kind.first))
        joins = joins and all((*used, *kind.units).count(each) <= units[each] for each in units)
        if not joins:
            now, used, count = max(at, now + 1), (), 0
        used, count, shut = (*used, *kind.units), count + 1, kind.alone
        ready |= {name: now + latency for name, latency in makes}
        if kind.holds > 1:
            busy |= dict.fromkeys(kind.units, now + kind.holds)
        now += kind.cycles - 1
    left, taken = (
        tuple(sorted(((name, at - now) for name, at in each.items() if at > now), key=str))
        for each in (ready, busy)
    )
    return now, State(tuple(sorted(used)), count, shut, left, taken)


def instruction(found: Any) -> Instruction:
    """Return what an instruction is that Capstone decoded."""
    name, operands = found.insn_name(), found.operands
    registers = [each for each in operands if each.type == arm.ARM_OP_REG]
    kind = _kind(name, registers)
    made = [each.reg for each in registers if each.access & capstone.CS_AC_WRITE]
    read = [each for each in registers if each.access != capstone.CS_AC_WRITE]
    stores = "store" in kind.units
    needs = [(each.reg, int(stores)) for each in read]
    if name.startswith(SUMS):
        sums = made if name.startswith(LONG) else [read[-1].reg]
        needs = [each for each in needs if each[0] not in sums] + [(each, 1) for each in sums]
    if kind.early and read:
        needs[-1] = read[-1].reg, -kind.early
    makes = [(each, kind.latency) for each in made]
    for each in operands:
        if each.type == arm.ARM_OP_MEM:
            needs += [(place, -1) for place in (each.mem.base, each.mem.index) if place]
            makes += [(each.mem.base, 0)] if found.writeback else []
    if name in ("pop", "push"):
        needs, makes = [*needs, (arm.ARM_REG_SP, -1)], [*makes, (arm.ARM_REG_SP, 0)]
    if found.update_flags or name in ("cmp", "cmn", "tst", "teq"):
        makes.append((FLAGS, kind.latency))
    if name != "it" and (conditional(found) or name in ("adc", "sbc", "sel")):
        needs += [(FLAGS, 0), *((each, 0) for each in made)]
    return Instruction(kind, tuple(needs), tuple(makes))


def conditional(found: Any) -> bool:
    """Tell whether an instruction runs, or a branch goes, only if a condition holds."""
    always = (arm.ARM_CC_AL, arm.ARM_CC_INVALID)
    return found.cc not in always or found.insn_name() in ("cbz", "cbnz")


def _kind(name: str, registers: Sequence[Any]) -> Kind:
    if name in SEVERAL:
        usual, moved = SEVERAL[name], len(registers) - name.startswith(("ldm", "stm"))
        return Kind(usual.units, usual.latency, alone=True, cycles=-(-moved // 2))
    if name.startswith(SUMS):
        return MULTIPLY
    kind = KINDS[name]
    if kind is ALU and any(each.shift.type for each in registers):
        return COMPARE_SHIFTED if name in ("cmp", "cmn", "tst", "teq") else SHIFTED
    return kind


@dataclass
class Block:
    """Instructions that run one after the other.

    Attributes:
        body: the instructions.
        end: address behind them.
        branches: the last one goes elsewhere only if a condition holds.
    """

    body: Sequence[Instruction]
    end: int
    branches: bool


class RunsBlocks(Protocol):
    """A core."""

    def run(self, address: int, code: bytes) -> int:
        """Return the cycles that the next block takes."""


@dataclass(frozen=True, slots=True)
class Model:
    """How a core issues.

    Attributes:
        decode: returns the instructions at an address.
        units: what there is of each.
        width: instructions that issue in a cycle.
        penalty: of a branch that goes another way than expected.
    """

    decode: Callable[[int, bytes], Block]
    units: Mapping[str, int]
    width: int
    penalty: int


def decode(address: int, code: bytes) -> Block:
    """Return the instructions at an address."""
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    engine.detail = True
    found = [*engine.disasm(code, address)]
    body = tuple(map(instruction, found))
    return Block(body, address + len(code), bool(found) and conditional(found[-1]))


CORTEX_M7 = Model(decode, UNITS, WIDTH, PENALTY)


@dataclass
class Core:
    """A core that runs blocks.

    Attributes:
        model: how it issues.
        counters: of branches, by the end of their block.
    """

    model: Model = CORTEX_M7
    state: State = field(default_factory=State)
    counters: dict[int, int] = field(default_factory=dict)
    _last: Block | None = None
    _blocks: dict[tuple[int, int], Block] = field(default_factory=dict)
    _known: dict[tuple[State, int, int], tuple[int, State]] = field(default_factory=dict)

    def run(self, address: int, code: bytes) -> int:
        """Return the cycles that pass until the last instruction of the next block issues."""
        block, lost = self._block(address, code), 0
        if self._last:
            taken = address != self._last.end
            if self._last.branches and self._mispredicts(taken=taken):
                lost = self.model.penalty
            if taken or lost:
                self.state = self.state._replace(shut=True)
        cycles, self.state = self._issue(self.state, address, block)
        self._last = block
        return cycles + lost

    def cycles_after(self, before: tuple[int, bytes], after: tuple[int, bytes]) -> int:
        """Return what a block takes behind another one, each by its address and code."""
        first, second = self._block(*before), self._block(*after)
        _, state = self._issue(State(), before[0], first)
        if after[0] != first.end:
            state = state._replace(shut=True)
        return self._issue(state, after[0], second)[0]

    def _block(self, address: int, code: bytes) -> Block:
        place = address, len(code)
        if place not in self._blocks:
            self._blocks[place] = self.model.decode(address, code)
        return self._blocks[place]

    def _issue(self, state: State, address: int, block: Block) -> tuple[int, State]:
        key = (state, address, block.end)
        if key not in self._known:
            self._known[key] = issue(state, block.body, self.model.units, self.model.width)
        return self._known[key]

    def _mispredicts(self, *, taken: bool) -> bool:
        assert self._last
        counter = self.counters.get(self._last.end, TAKEN)
        self.counters[self._last.end] = min(counter + 1, STRONG) if taken else max(counter - 1, 0)
        return taken != (counter >= TAKEN)


@contextmanager
def cores_take(make: Callable[[], RunsBlocks]) -> Iterator[None]:
    """Let each core of the instruction-set simulator take what one says that `make` returns."""
    usual = Emulator.watch

    def watch(emulator: Emulator, block: Any, access: Any, invalid: Any, user: Any) -> None:
        usual(emulator, block, access, invalid, user)
        core, state = make(), user._obj
        assert isinstance(state, CoreState)

        def hook(engine: Any, address: int, size: int, _: object) -> None:
            state.time += core.run(address, bytes(engine.mem_read(address, size)))

        emulator._uc.hook_add(unicorn.UC_HOOK_BLOCK, hook)

    with patch.object(Emulator, "watch", watch):
        yield
