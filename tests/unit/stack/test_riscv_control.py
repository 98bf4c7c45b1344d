# SPDX-License-Identifier: Apache-2.0
"""Control registers of RISC-V that say where exceptions begin and go on."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest

from atoll.stack.elf_frames import UNKNOWN, Lost, Surroundings, analyse
from atoll.stack.instruction import RESUME, TRAP, ZERO, Instruction, Kind
from atoll.stack.register_values import State, Value, decide_branch
from atoll.stack.riscv import decode

MEPC, MTVEC, MSCRATCH = 0x341, 0x305, 0x340
CSRRW, CSRRS = 1, 2
S0, A5, SP = 8, 15, 2


def decoded(csr: int, kind: int, rd: int, rs1: int) -> tuple[Kind, int, int, tuple[int, ...]]:
    word = csr << 20 | rs1 << 15 | kind << 12 | rd << 7 | 0x73
    (item,) = decode(word.to_bytes(4, "little"), 0x1000)
    return item.kind, item.rd, item.rs1, item.clobbers


@pytest.mark.parametrize(("csr", "written"), [(MTVEC, TRAP), (MEPC, RESUME)])
def test_an_exchange_writes_it_and_changes_a_register(csr: int, written: int) -> None:
    assert decoded(csr, CSRRW, S0, A5) == (Kind.ADD_IMMEDIATE, written, A5, (S0,))
    assert decoded(csr, CSRRW, ZERO, A5) == (Kind.ADD_IMMEDIATE, written, A5, ())
    assert decoded(csr, CSRRS, S0, A5)[:2] == (Kind.OTHER, written), "what it is then is not known"


def test_reading_it_and_exchanging_another_one_writes_none() -> None:
    assert decoded(MTVEC, CSRRS, S0, ZERO)[:3] == (Kind.ADD_IMMEDIATE, S0, TRAP)
    assert decoded(MSCRATCH, CSRRW, SP, SP)[1] == SP


def test_what_only_reads_the_stack_pointer_leaves_it() -> None:
    words = 0x12A10073, 0x00B13533, 0x00A16463  # sfence.vma sp, a0; sltu a0, sp, a1; bltu sp, a0
    for word in words:
        (item,) = decode(word.to_bytes(4, "little"), 0x1000)
        assert item.rd != SP
        assert not item.clobbers


S1 = 9
VECTORS = {
    0x02110157: ZERO,  # vadd.vv v2, v1, v2
    0x02040107: ZERO,  # vle8.v v2, (s0)
    0x0D0574D7: S1,  # vsetvli s1, a0, e32, m1, ta, ma
    0xCD0274D7: S1,  # vsetivli s1, 4, e32, m1, ta, ma
    0x80B574D7: S1,  # vsetvl s1, a0, a1
    0x422024D7: S1,  # vmv.x.s s1, v2
    0x422824D7: S1,  # vcpop.m s1, v2
    0x4228A4D7: S1,  # vfirst.m s1, v2
    0x4204E157: ZERO,  # vmv.s.x v2, s1
    0xF684E157: ZERO,  # vwmacc.vx v2, s1, v8
    0x9E24C157: ZERO,  # vsmul.vx v2, v2, s1
    0x02442157: ZERO,  # vredsum.vs v2, v4, v8
    0x5208A157: ZERO,  # vid.v v2
}
"""What instructions of vectors write of the integer registers, as GNU as encodes them."""


@pytest.mark.parametrize("word", VECTORS, ids=hex)
@pytest.mark.parametrize("bits", [32, 64])
def test_vector_registers_are_no_integer_registers(word: int, bits: int) -> None:
    (item,) = decode(word.to_bytes(4, "little"), 0x1000, bits)
    assert item.rd == VECTORS[word]
    assert not item.clobbers


@pytest.mark.parametrize("move", [0x40A10133, 0x00A10133])  # sub sp, sp, a0; add sp, sp, a0
def test_a_frame_of_as_many_bytes_as_vectors_have_is_not_known(move: int) -> None:
    words = 0xC2202573, move, 0x00008067  # csrr a0, vlenb; ...; ret
    code = b"".join(word.to_bytes(4, "little") for word in words)
    frame = analyse(decode(code, 0x1000), Surroundings(lambda _: UNKNOWN), top=None)
    assert frame.unbounded == 0x1008
    assert frame.lost is Lost.AMOUNT


BRANCHES: dict[int, Callable[[int, int], bool]] = {
    0: lambda a, b: a == b,
    1: lambda a, b: a != b,
    4: lambda a, b: signed(a) < signed(b),
    5: lambda a, b: signed(a) >= signed(b),
    6: lambda a, b: a < b,
    7: lambda a, b: a >= b,
}
"""By the function of the instruction (RISC-V unprivileged ISA, conditional branches)."""


def signed(number: int) -> int:
    return int.from_bytes(number.to_bytes(4, "little"), "little", signed=True)


@pytest.mark.parametrize("function", BRANCHES)
@pytest.mark.parametrize(("rs1", "rs2"), [(S0, ZERO), (ZERO, S0), (S0, A5)])
def test_a_branch_on_constants_goes_one_way(function: int, rs1: int, rs2: int) -> None:
    word = rs2 << 20 | rs1 << 15 | function << 12 | 8 << 8 | 0x63
    (item,) = decode(word.to_bytes(4, "little"), 0x1000)
    assert item.kind is Kind.BRANCH
    numbers = (0, 1, 15, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
    for left in numbers if rs1 else (0,):
        for right in numbers if rs2 else (0,):
            known = {rs1: Value(left), rs2: Value(right), ZERO: Value(0)}
            state = State(registers=tuple(known.get(number) for number in range(32)))
            assert decide_branch(item, state) == BRANCHES[function](left, right)
            small = max(left, right) < 1 << 31
            wide = BRANCHES[function](left, right) if small else None
            assert decide_branch(item, replace(state, word=8)) is wide, "only halves are known"
    unknown = State(registers=tuple(Value(0) if number == ZERO else None for number in range(32)))
    assert decide_branch(item, unknown) is None


@pytest.mark.parametrize(("bits", "is_taken"), [(32, True), (64, None)])
def test_a_sum_may_leave_the_lower_half(bits: int, is_taken: bool | None) -> None:
    """`lui` of 64 bits makes a negative number, and two of them 2^32 less than 0."""
    words = (
        0x80000437,  # lui s0, 0x80000
        0x008404B3,  # add s1, s0, s0
        0x00900463,  # beq zero, s1, behind the jump that follows
        0x0000006F,  # j itself
        0x00008067,  # ret
    )
    code = b"".join(word.to_bytes(4, "little") for word in words)
    decided: list[bool | None] = []
    items = tuple(decode(code, 0x1000, bits))
    (branch,) = (item for item in items if item.kind is Kind.BRANCH)

    def note(item: Instruction, state: State) -> bool | None:
        found = decide_branch(item, state)
        decided.extend([found] * (item.address == branch.address))
        return found

    with patch("atoll.stack.elf_frames.decide_branch", note):
        analyse(items, Surroundings(lambda _: UNKNOWN, word=bits // 8), top=None)
    assert set(decided) == {is_taken}
