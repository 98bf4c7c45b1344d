# SPDX-License-Identifier: Apache-2.0
"""What a function stores below its stack pointer counts as its own use of the stack."""

import struct
from collections.abc import Callable, Iterator
from random import Random

import pytest

from atoll.stack import a64, riscv, thumb
from atoll.stack.elf_frames import UNKNOWN, Frame, Surroundings, analyse
from atoll.stack.instruction import Instruction, within

A64_RET, THUMB_RET, RISCV_RET = 0xD65F03C0, 0x4770, 0x8067
BELOW_100 = 0xD10193E9  # sub x9, sp, #100


def unknown(address: int) -> Frame:
    return UNKNOWN


def a64_deepest(*words: int) -> int:
    code = struct.pack(f"<{len(words) + 1}I", *words, A64_RET)
    return analyse(a64.decode(code, 0x1000), Surroundings(unknown, word=8), top=None).deepest


def thumb_deepest(*halves: int) -> int:
    code = struct.pack(f"<{len(halves) + 1}H", *halves, THUMB_RET)
    return analyse(thumb.decode(code, 0x1000), Surroundings(unknown), top=None).deepest


def riscv_deepest(*words: int, bits: int = 32) -> int:
    code = b"".join(word.to_bytes(4 if word & 3 == 3 else 2, "little") for word in words)
    code += RISCV_RET.to_bytes(4, "little")
    items = riscv.decode(code, 0x1000, bits)
    return analyse(items, Surroundings(unknown, word=bits // 8), top=None).deepest


@pytest.mark.parametrize(
    ("deepest", "words"),
    [
        (200, (0xF81383E0,)),  # stur x0, [sp, #-200]
        (16, (0x991F03E0,)),  # stlur w0, [sp, #-16]
        (128, (0xA93807E0,)),  # stp x0, x1, [sp, #-128]
        (100, (BELOW_100, 0x38286920)),  # strb w0, [x9, x8]
        (100, (BELOW_100, 0xB82D5920)),  # str w0, [x9, w13, uxtw #2]
        (100, (BELOW_100, 0x8B080129, 0x39000120)),  # add x9, x9, x8; strb w0, [x9]
        (100, (0xD10193F0, 0x39000200)),  # sub x16, sp, #100; strb w0, [x16]
        (116, (0xD10043FF, BELOW_100, 0x4C007120, 0x910043FF)),  # below 16; st1 {v0.16b}, [x9]
        (100, (0x910003E9, 0xD1019129, 0x39000120)),  # mov x9, sp; sub x9, x9, #100
        (100, (0xF10193E9, 0x39000120)),  # subs x9, sp, #100; strb w0, [x9]
        (100, (0x910003F1, 0x3819C220)),  # mov x17, sp; sturb w0, [x17, #-100]
        (
            116,
            (0xD10043FF, BELOW_100, 0xCB080D29, 0x39000120, 0x910043FF),
        ),  # sub x9, x9, x8, lsl #3
        (100, (BELOW_100, 0xE5BF5D20)),  # str z0, [x9, #-1, mul vl]
        (0, (0x25A0C200,)),  # add z0.s, z0.s, #16
        (0, (BELOW_100,)),
        (16, (0xD10043FF, 0xF90003E0, 0xF90007E0, 0x910043FF)),  # str x0, [sp], [sp, #8]
    ],
)
def test_of_a64(deepest: int, words: tuple[int, ...]) -> None:
    assert a64_deepest(*words) == deepest


@pytest.mark.parametrize(
    ("deepest", "halves"),
    [
        (1000, (0xED0D, 0x0BFA)),  # vstr d0, [sp, #-1000]
        (16, (0xE90D, 0x000F)),  # stmdb sp, {r0-r3}
        (200, (0xF84D, 0x0CC8)),  # str r0, [sp, #-200]
        (12, (0x466B, 0xE923, 0x0007)),  # mov r3, sp; stmdb r3!, {r0-r2}
        (100, (0xF1AD, 0x0364, 0x5498)),  # sub r3, sp, #100; strb r0, [r3, r2]
        (100, (0xF1AD, 0x0364, 0xEB03, 0x0382, 0x7018)),  # add r3, r3, r2, lsl #2; strb r0, [r3]
        (100, (0xF1AD, 0x0364, 0xEBA3, 0x0382, 0x7018)),  # sub r3, r3, r2, lsl #2; strb r0, [r3]
        (100, (0xF1AD, 0x0364, 0xE8C3, 0x1F42)),  # strexb r2, r1, [r3]
        # push {r0}; add r2, #48; add r2, sp; strb r0, [r2, #-40]; add sp, #4
        (4, (0xB401, 0x3230, 0x446A, 0xF802, 0x0C28, 0xB001)),
        (508, (0xED0D, 0x1F7F)),  # vstrw.32 q0, [sp, #-508]
        (4, (0xB401, 0x9000, 0xB001)),  # push {r0}; str r0, [sp]; add sp, #4
    ],
)
def test_of_thumb(deepest: int, halves: tuple[int, ...]) -> None:
    assert thumb_deepest(*halves) == deepest


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    ("deepest", "words"),
    [
        (300, (0xECA12A23,)),  # sw a0, -300(sp)
        (100, (0xF9C10593, 0x00A58023)),  # addi a1, sp, -100; sb a0, 0(a1)
        (100, (0xF9C10593, 0x00C585B3, 0x00A58023)),  # add a1, a1, a2; sb a0, 0(a1)
        (60, (0xF9C10593, 0x00C585B3, 0x02A58423)),  # sb a0, 40(a1)
        (0, (0xF9C10593, 0x00C585B3)),
        (100, (0xF9C10593, 0x00C5A52F)),  # amoadd.w a0, a2, (a1)
        (100, (0xF9C10593, 0x0205E427)),  # vse32.v v8, (a1)
        (100, (0xF9C10593, 0x8988)),  # c.sb a0, 0(a1)
        (32, (0xFEA14027,)),  # fsq fa0, -32(sp)
        # li a1, -100; sh3add sp, a1, sp; sw a0, 0(sp); li a1, 100; sh3add sp, a1, sp
        (800, (0xF9C00593, 0x2025E133, 0xC02A, 0x06400593, 0x2025E133)),
        (100, (0xF9C10593, 0x20B645B3, 0x00A58023)),  # sh2add a1, a2, a1; sb a0, 0(a1)
        (16, (0x1141, 0xC02A, 0x0141)),  # addi sp, sp, -16; sw a0, 0(sp); addi sp, sp, 16
    ],
)
def test_of_riscv(deepest: int, words: tuple[int, ...], bits: int) -> None:
    assert riscv_deepest(*words, bits=bits) == deepest


def test_a_table_of_a_switch_may_be_read_with_an_index_that_is_shifted() -> None:
    """Zba adds and shifts: auipc a1, 0; addi a1, a1, 24; sh2add a0, a0, a1; lw a1, 0(a0); jr a1."""
    words = 0x00000597, 0x01858593, 0x20B54533, 0x00052583, 0x00058067, RISCV_RET
    code, table = struct.pack("<6I", *words), struct.pack("<2I", 0x1014, 0x0)
    read = within(code + table, 0x1000)
    found = analyse(riscv.decode(code, 0x1000), Surroundings(unknown, constants=read), top=None)
    assert (found.unresolved, found.returns, found.covered) == ((), True, True)


def test_where_the_stack_pointer_is_a_constant() -> None:
    code = struct.pack("<3I", 0x20001137, 0xECA12A23, 0x9002)  # lui sp, 0x20001; sw a0, -300(sp)
    assert analyse(riscv.decode(code, 0), Surroundings(unknown), top=0x20001000).deepest == 300


@pytest.mark.parametrize("decode", [a64.decode, thumb.decode, riscv.decode])
def test_no_word_breaks_a_decoder(decode: Callable[[bytes, int], Iterator[Instruction]]) -> None:
    """Among them those that did: vectors, tiles and registers of other cores."""
    words = (0x25A0C200, 0x24C240C0, 0xC040C224, 0xAC24F393, 0x93F324AC)
    chance = Random(7)
    for word in (*words, *(chance.getrandbits(32) for _ in range(4000))):
        assert [*decode(word.to_bytes(4, "little"), 0x1000)]
