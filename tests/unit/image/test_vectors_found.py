# SPDX-License-Identifier: Apache-2.0
"""Every handler that hardware may begin counts, or what interrupts take is said not to be known."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.foreign_images import environment

from atoll_image.elf import read_image
from atoll_image.image_stacks import Questions, StackUse, stack_of

RISCV = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m")
THUMB = ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m4")
SCRIPT = "SECTIONS { . = 0x08000000; .text : { KEEP(*(.text*)) } }\n"
HANDLER = """
.type deep,@function
deep: addi sp, sp, -512
 sw ra, 0(sp)
 lw ra, 0(sp)
 addi sp, sp, 512
 mret
.size deep, .-deep
"""
START = """
.option norelax
.text
.globl _start
.type _start,@function
_start: lui sp, 0x20008
{set_up}
1: j 1b
.size _start, .-_start
.balign 64
"""
SET = " la t0, {table}\n ori t0, t0, {mode}\n csrw mtvec, t0"
THUMB_START = """
.syntax unified
.thumb
.section .text.a, "ax", %progbits
.globl vectors
.type vectors,%object
vectors: .word 0x20001000, _start, idle, idle, idle, idle, idle, {reserved}
 .word 0, 0, 0, idle, idle, 0, idle, idle
{table}
.globl _start
.type _start,%function
_start: b _start
.size _start, .-_start
.type idle,%function
idle: b idle
.size idle, .-idle
.type deep,%function
deep: sub sp, #508
 add sp, #508
 bx lr
.size deep, .-deep
"""
END = ".size vectors, .-vectors\n"


def use_of(folder: Path, machine: tuple[str, ...], text: str) -> StackUse:
    source, script, elf = (folder / name for name in ("firmware.S", "firmware.ld", "firmware.elf"))
    source.write_text(text)
    script.write_text(SCRIPT)
    options = ["-nostdlib", "-Wl,-e,_start", f"-Wl,-T,{script}", str(source), "-o", str(elf)]
    command = [sys.executable, "-m", "ziglang", "cc", *machine, *options]
    subprocess.run(command, check=True, env=environment())
    return stack_of(elf, read_image(elf), Questions())


@pytest.mark.parametrize(
    "table",
    [
        "vectors: j idle\n .word 0, 0, 0, 0, 0, 0\n j deep\n",
        "vectors: j idle\n unimp\n unimp\n j deep\n",
        ".type one,@function\nvectors: one: j idle\n.size one, 4\n"
        ".type two,@function\ntwo: j deep\n.size two, 4\n",
    ],
    ids=["gap", "no instruction", "symbols of their own"],
)
def test_each_vector_of_riscv_counts(table: str, tmp_path: Path) -> None:
    set_up = SET.format(table="vectors", mode=1)
    text = f"{START.format(set_up=set_up)}.option norvc\n{table}\nidle: j idle\n{HANDLER}"
    use = use_of(tmp_path, RISCV, text)
    assert not use.roots.unknown
    assert max(each.bytes or 0 for each in use.roots.handlers) == 512


@pytest.mark.parametrize(
    ("set_up", "why"),
    [
        (SET.format(table="idle", mode=3), "where a table in memory says"),
        ("", "code returns from traps"),
    ],
)
def test_what_begins_elsewhere_is_not_known(set_up: str, why: str, tmp_path: Path) -> None:
    text = f"{START.format(set_up=set_up)}idle: j idle\n{HANDLER}"
    use = use_of(tmp_path, RISCV, text)
    assert why in use.roots.unknown
    assert [fault.code for fault in use.unbounded_faults()] == ["E183"]


@pytest.mark.parametrize(
    ("table", "reserved"),
    [
        (f" .word 0, 0, 0, deep\n{END}", 0xEFFF_F5A8),
        (f"{END}.type more,%object\nmore: .word 0, deep\n.size more, .-more\n", 0),
    ],
    ids=["a checksum", "two arrays"],
)
def test_each_vector_of_a_cortex_m_counts(table: str, reserved: int, tmp_path: Path) -> None:
    use = use_of(tmp_path, THUMB, THUMB_START.format(table=table, reserved=reserved))
    assert not use.roots.unknown
    assert max(each.bytes or 0 for each in use.roots.handlers) == 508 + 36


@pytest.mark.parametrize("tag", [10, 48], ids=["floats", "vectors of integers"])
def test_exceptions_push_the_registers_of_floats(tag: int, tmp_path: Path) -> None:
    pushed = []
    for value in (0, 1):
        text = THUMB_START.format(table=f" .word 0, 0, 0, deep\n{END}", reserved=0)
        use = use_of(tmp_path, THUMB, f".eabi_attribute {tag}, {value}\n.fpu none\n{text}")
        pushed.append(max(each.pushed for each in use.roots.handlers))
    assert pushed == [36, 108]


def test_a_vector_that_leads_out_of_the_image_is_not_known(tmp_path: Path) -> None:
    table = f" .word 0x1fff1235, deep\n{END}"
    use = use_of(tmp_path, THUMB, THUMB_START.format(table=table, reserved=0))
    assert "vector 16 leads to 0x1fff1235, where the image has no code" in use.roots.unknown
