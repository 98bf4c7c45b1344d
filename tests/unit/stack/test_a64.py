# SPDX-License-Identifier: Apache-2.0
"""What A64 instructions do to the stack, from their words."""

import struct

import pytest

from atoll.stack.a64 import decode
from atoll.stack.elf_frames import UNKNOWN, Frame, Surroundings, analyse
from atoll.stack.instruction import RA, SP, T0, Kind

AT = 0x1000
PUSH, POP = 0xA9BE7BFD, 0xA8C27BFD  # stp x29, x30, [sp, #-32]!; ldp x29, x30, [sp], #32
LOWER, RAISE = 0xD10043FF, 0x910043FF  # sub sp, sp, #16; add sp, sp, #16
RET, CALL_NEXT = 0xD65F03C0, 0x94000010  # ret; bl . + 64
FAR_LOWER = 0xD14007FF  # sub sp, sp, #1, lsl #12


def frame(*words: int) -> Frame:
    code = struct.pack(f"<{len(words)}I", *words)
    return analyse(decode(code, AT), Surroundings(lambda _: UNKNOWN, word=8), top=0x9000)


@pytest.mark.parametrize(
    ("word", "kind", "fields"),
    [
        (PUSH, Kind.ADD_IMMEDIATE, {"rd": SP, "rs1": SP, "immediate": -32}),
        (POP, Kind.ADD_IMMEDIATE, {"rd": SP, "rs1": SP, "immediate": 32}),
        (FAR_LOWER, Kind.ADD_IMMEDIATE, {"rd": SP, "immediate": -4096}),
        (0x910003FD, Kind.ADD_IMMEDIATE, {"rd": 8, "rs1": SP, "immediate": 0}),  # mov x29, sp
        (0x910003BF, Kind.ADD_IMMEDIATE, {"rd": SP, "rs1": 8, "immediate": 0}),  # mov sp, x29
        (0xCB2063FF, Kind.SUBTRACT, {"rd": SP, "rs2": 10}),  # sub sp, sp, x0
        (0xD2820000, Kind.SET, {"rd": 10, "immediate": 0x1000}),  # mov x0, #0x1000
        (CALL_NEXT, Kind.JUMP, {"rd": RA, "immediate": AT + 64}),
        (0x14000010, Kind.JUMP, {"rd": 0, "immediate": AT + 64}),  # b
        (0x54000200, Kind.BRANCH, {"immediate": AT + 64}),  # b.eq
        (0xB4000200, Kind.BRANCH, {"immediate": AT + 64}),  # cbz x0
        (RET, Kind.JUMP_REGISTER, {"rd": 0, "rs1": RA}),
        (0xD63F0020, Kind.JUMP_REGISTER, {"rd": RA, "rs1": 11}),  # blr x1
        (0xD4200000, Kind.HALT, {}),  # brk #0
    ],
)
def test_an_instruction(word: int, kind: Kind, fields: dict[str, object]) -> None:
    found = next(each for each in decode(struct.pack("<I", word), AT) if each.kind is kind)
    assert {name: getattr(found, name) for name in fields} == fields


def test_a_frame() -> None:
    found = frame(PUSH, LOWER, CALL_NEXT, RAISE, POP, RET)
    assert (found.deepest, found.calls, found.returns) == (48, ((AT + 8 + 64, 48),), True)
    assert (found.unresolved, found.unbounded, found.covered) == ((), None, True)


def test_a_stack_pointer_that_moves_by_an_unknown_amount() -> None:
    assert frame(0xCB2063FF, LOWER, RET).unbounded == AT + 4


def test_a_constant_beside_the_code_is_no_instruction() -> None:
    load, switch = 0x58000060, 0xD61F0000  # ldr x0, . + 12; br x0
    found = frame(load, switch, RET, 0x2000, 0)
    assert found.calls == ((0x2000, 0),)


def test_a_return_with_another_stack_pointer_is_seen() -> None:
    assert frame(LOWER, RET).unbounded == AT + 4


def test_a_return_to_what_code_stored_is_seen() -> None:
    push, other_order = 0xA9BF7BE9, 0xA8C127FE  # stp x9, x30, [sp, #-16]!; ldp x30, x9, [sp], #16
    found = frame(push, other_order, RET)
    assert [place.address for place in found.unresolved] == [AT + 8]
    assert frame(0xA9BF7BFD, 0xA8C17BFD, RET).unresolved == ()


def test_a_jump_through_x8_is_no_return() -> None:
    code = struct.pack("<3I", 0xD2820008, 0x14000010, RET)  # mov x8, #0x1000; b . + 64
    called = frame(0xD61F0100)  # br x8
    assert called.links == {T0}
    assert analyse(decode(code, AT), Surroundings(lambda _: called, word=8), top=None).unresolved


def test_a_frame_of_vectors_has_no_known_size() -> None:
    add_lengths = 0x0420_5000 | 31 << 16 | (-8 & 63) << 5 | 31  # addvl sp, sp, #-8
    (item,) = decode(add_lengths.to_bytes(4, "little"), 0x1000)
    assert SP in item.clobbers


@pytest.mark.parametrize("tag", [0, 3])
def test_a_frame_with_tags(tag: int) -> None:
    lower, higher = (word | 63 << 16 | tag << 10 for word in (0xD18003FF, 0x918003FF))
    found = frame(lower, higher, RET)  # subg sp, sp, #1008, #tag; addg likewise
    assert (found.deepest, found.unbounded, found.returns) == (1008, None, True)
    assert frame(lower, RET).unbounded == AT + 4


def test_a_tag_at_random_leaves_nothing_known_of_a_register() -> None:
    (item,) = decode(struct.pack("<I", 0x9ADF13FF), AT)  # irg sp, sp
    assert SP in item.clobbers
    assert frame(0x9ADF113F, LOWER, RET).unbounded == AT + 4  # irg sp, x9
    (item,) = decode(struct.pack("<I", 0x9ADF13E9), AT)  # irg x9, sp
    assert item.clobbers == (6,)


def test_what_sets_the_stack_pointer_otherwise_is_not_followed() -> None:
    for word in (0xB27D013F, 0xD27D013F, 0x8B2163FF):  # orr, eor, add of an extended register
        assert frame(word, LOWER, RET).unbounded == AT + 4


def test_what_exceptions_had_before_may_be_set_again() -> None:
    read, back, another = 0xD538C004, 0xD518C004, 0xD518C001  # vbar_el1 of x4, x4, x1
    ours = 0xD2820001  # mov x1, #0x1000
    assert frame(read, ours, another, back, RET).traps == (0x1000,)
    assert frame(read, back, another, RET).traps == (None,)
    chained = frame(read, 0xD61F0080)  # br x4
    assert [place.address for place in chained.unresolved] == [AT + 4]


@pytest.mark.parametrize(
    "word",
    [
        0xEB2163FF,  # cmp sp, x1
        0xF10043FF,  # cmp sp, #16
        0xEB214BFF,  # cmp sp, w1, uxtw #2
        0xAB2163FF,  # cmn sp, x1
        0xB10043FF,  # cmn sp, #16
        0xBAC103FF,  # cmpp sp, x1
        0xF10083E0,  # subs x0, sp, #32
        0xCB2867E9,  # sub x9, sp, x8, uxtx #1
        0x910003F1,  # mov x17, sp
    ],
)
def test_what_only_reads_the_stack_pointer_leaves_it(word: int) -> None:
    found = frame(LOWER, word, RAISE, RET)
    assert (found.deepest, found.unbounded, found.returns) == (16, None, True)


def test_a_comparison_changes_none_of_its_operands() -> None:
    (item,) = decode(struct.pack("<I", 0xF2400C3F), AT)  # tst x1, #15
    assert (item.kind, item.rd, item.clobbers) == (Kind.OTHER, 0, ())


def test_two_registers_beyond_those_of_risc_v_are_told_apart() -> None:
    push, other = 0xF81F0FFE, 0xF84107F1  # str x30, [sp, #-16]!; ldr x17, [sp], #16
    jump = 0xD61F0200  # br x16
    assert [each.address for each in frame(push, other, jump).unresolved] == [AT + 8]
    assert frame(push, 0xF84107F0, jump).unresolved == ()  # ldr x16, [sp], #16


def test_a_veneer_leads_where_its_register_does() -> None:
    page, rest = 0x90000010, 0x91010210  # adrp x16, .; add x16, x16, #64
    found = frame(page, rest, 0xD61F0200)
    assert (found.calls, found.unresolved) == (((AT + 64, 0),), ())


@pytest.mark.parametrize("sign", [0xDAC103FE, 0xD503233F])  # pacia x30, sp; paciasp
@pytest.mark.parametrize("check", [(0xD65F0BFF,), (0xDAC113FE, RET), (0xD50323BF, RET)])
def test_a_signed_address_is_returned_to(sign: int, check: tuple[int, ...]) -> None:
    """The checks are retaa, autia x30, sp, and autiasp."""
    found = frame(sign, PUSH, CALL_NEXT, POP, *check)
    assert (found.deepest, found.unresolved, found.unbounded, found.returns) == (32, (), None, True)
