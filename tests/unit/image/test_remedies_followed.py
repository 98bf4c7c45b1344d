# SPDX-License-Identifier: Apache-2.0
"""What `check-image` says to do about a stack without a bound (E183) works when it is done."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.foreign_images import environment

from atoll.cli import main

THUMB = ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_m4")
BOTH = ("-target", "thumb-freestanding-eabi", "-mcpu=cortex_a9")
RISCV = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m")
A64 = ("-target", "aarch64-freestanding-none")
SCRIPT = """
SECTIONS { . = 0x08000000; .text : { KEEP(*(.text.a)) KEEP(*(.text*)) }
           . = 0x20000000; .data : { KEEP(*(.data*)) } }
"""
VECTORS = """
.syntax unified
.thumb
.section .text.a, "ax", %progbits
.globl vectors
.type vectors,%object
vectors: .word 0x20001000, _start, idle, idle
.size vectors, .-vectors
"""
FUNCTION = ".globl {0}\n.type {0},{2}function\n{0}:\n{1}\n.ltorg\n.size {0}, .-{0}\n"
ARRAY = "push {r4, lr}\nsub sp, #64\nadd sp, #64\npop {r4, pc}"
VTOR = "ldr r0, =0xE000ED08\nldr r1, ={0}\nstr r1, [r0]\n1: b 1b"
TABLE = ".pushsection {0}\n.balign 128\n.globl vectors_then\nvectors_then: .word 0, 0, idle, idle"
TABLE += "\n.popsection"
MTVEC = "la t0, {0}\ncsrw mtvec, t0\n1: j 1b"
TRAP = "addi sp, sp, -16\nsw ra, 0(sp)\nlw ra, 0(sp)\naddi sp, sp, 16\nmret"
ENTRY = "--entry NAME"


def thumb(table: str = VECTORS, **functions: str) -> str:
    text = {"idle": "b idle", "leaf": "bx lr", **functions}
    return f"{table}.text\n" + "".join(FUNCTION.format(*each, "%") for each in text.items())


def riscv(**functions: str) -> str:
    text = {"leaf": "ret", **functions}
    head = '.option norelax\n.section .text.a, "ax"\n.balign 64\n'
    body = FUNCTION.replace(".ltorg\n", "")
    return head + "".join(body.format(*each, "@") for each in text.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An image without a bound, what is said to do, and that done: in the source, by options."""

    wrong: str
    said: str
    right: str = ""
    options: Sequence[str] = ()
    given: Sequence[str] = ()
    machine: Sequence[str] = THUMB
    entries: Sequence[str] = field(default=("leaf",))


CASES = {
    "recursion": Case(
        wrong=thumb(_start="push {r4, lr}\nbl _start\npop {r4, pc}"),
        said="turn the recursion into a loop",
        right=thumb(_start="1: bl leaf\nb 1b"),
    ),
    "alloca": Case(
        wrong=thumb(
            _start="bl a\n1: b 1b",
            a="push {r7, lr}\nmov r7, sp\nsub.w r3, sp, r0\n"
            "bic r3, r3, #7\nmov sp, r3\nmov sp, r7\npop {r7, pc}",
        ),
        said="use arrays of constant size",
        right=thumb(_start="bl a\n1: b 1b", a=ARRAY),
    ),
    "alloca in a loop": Case(
        wrong=thumb(_start="1: sub sp, #16\nb 1b"),
        said="use arrays of constant size",
        right=thumb(_start="bl a\n1: b 1b", a=ARRAY),
    ),
    "longjmp": Case(
        wrong=thumb(_start="ldmia r0!, {r4-r11, r12, lr}\nmov sp, r12\nbx lr"),
        said=ENTRY,
    ),
    "a stack in memory": Case(
        wrong=riscv(_start="lw sp, 0(a0)\n1: j 1b"), said=ENTRY, machine=RISCV
    ),
    "mscratch": Case(
        wrong=riscv(_start=MTVEC.format("trap"), trap=f".balign 4\ncsrrw sp, mscratch, sp\n{TRAP}"),
        said=ENTRY,
        machine=RISCV,
    ),
    "control": Case(wrong=thumb(_start="msr control, r0\nisb\n1: b 1b"), said=ENTRY),
    "another end": Case(
        wrong=thumb(_start="bl a\n1: b 1b", a="sub sp, #16\nbx lr"),
        said=ENTRY,
    ),
    "a pointer": Case(
        wrong=thumb(_start="ldr r3, [r0]\nblx r3\n1: b 1b"),
        said="--calls _start=NAME",
        options=("--calls", "_start=leaf"),
    ),
    "a tail call through a pointer": Case(
        wrong=thumb(_start="bl a\n1: b 1b", a="ldr r3, [r0]\nbx r3"),
        said="--calls a=NAME",
        options=("--calls", "a=leaf"),
    ),
    "no function": Case(
        wrong=thumb(_start="ldr r3, =0x1fff1235\nblx r3\n1: b 1b"),
        said=ENTRY,
    ),
    "a stale link": Case(
        wrong=thumb(_start="bl a\n1: b 1b", a="bl leaf\nbx lr"),
        said="save the link register",
        right=thumb(_start="bl a\n1: b 1b", a="push {r4, lr}\nbl leaf\npop {r4, pc}"),
    ),
    "Arm code": Case(
        wrong=thumb(_start="blx a\n1: b 1b", a=".arm\nbx lr\n.thumb"),
        said="compile it as Thumb code",
        right=thumb(_start="bl a\n1: b 1b", a="bx lr"),
        machine=BOTH,
    ),
    "--calls of nothing": Case(
        wrong=thumb(_start="bl leaf\n1: b 1b"),
        said="delete the --calls",
        given=("--calls", "leaf=idle"),
    ),
    "a table in RAM": Case(
        wrong=thumb(_start=VTOR.format("vectors_then") + "\n" + TABLE.format(".data")),
        said="let the table be constant",
        right=thumb(_start=VTOR.format("vectors_then") + "\n" + TABLE.format(".text.b")),
        entries=("leaf", "idle", "_start"),
    ),
    "VTOR's address in data": Case(
        wrong=thumb(_start="1: b 1b", leaf="bx lr\n.data\n.word 0xE000ED00\n.text"),
        said="write to VTOR by name",
        right=thumb(_start=VTOR.format("vectors")),
        entries=("leaf", "idle", "_start"),
    ),
    "VTOR's address handed on": Case(
        wrong=thumb(_start="ldr r0, =0xE000ED00\nstr r0, [r4]\n1: b 1b"),
        said="let _start write to VTOR by name",
        right=thumb(_start=VTOR.format("vectors")),
        entries=("leaf", "idle", "_start"),
    ),
    "VTOR of memory": Case(
        wrong=thumb(_start="ldr r0, =0xE000ED08\nldr r1, [r4]\nstr r1, [r0]\n1: b 1b"),
        said="the name of a table",
        right=thumb(_start=VTOR.format("vectors")),
        entries=("leaf", "idle", "_start"),
    ),
    "no vectors": Case(
        wrong=thumb(
            VECTORS.replace("vectors", "things").replace("things:", "things: .word 1\n"),
            _start="1: b 1b",
        ),
        said="a symbol whose name has 'vector'",
        right=thumb(_start="1: b 1b"),
        entries=("leaf", "idle", "_start"),
    ),
    "a vector to a ROM": Case(
        wrong=thumb(VECTORS.replace("idle, idle", "idle, 0x1fff1235"), _start="1: b 1b"),
        said="let vector 3 lead to a function",
        right=thumb(_start="1: b 1b"),
        entries=("leaf", "idle", "_start"),
    ),
    "mtvec of memory": Case(
        wrong=riscv(_start="lw t0, 0(a0)\ncsrw mtvec, t0\n1: j 1b", trap=f".balign 4\n{TRAP}"),
        said="the name of a table or handler",
        right=riscv(_start=MTVEC.format("trap"), trap=f".balign 4\n{TRAP}"),
        machine=RISCV,
        entries=("leaf", "trap", "_start"),
    ),
    "handlers that nothing sets": Case(
        wrong=riscv(_start="1: j 1b", trap=f".balign 4\n{TRAP}"),
        said="let the code that begins set mtvec",
        right=riscv(_start=MTVEC.format("trap"), trap=f".balign 4\n{TRAP}"),
        machine=RISCV,
        entries=("leaf", "trap", "_start"),
    ),
    "mtvt": Case(
        wrong=riscv(_start=MTVEC.format("trap + 3"), trap=f".balign 4\n{TRAP}"),
        said="a handler of all traps (mode 0)",
        right=riscv(_start=MTVEC.format("trap"), trap=f".balign 4\n{TRAP}"),
        machine=RISCV,
        entries=("leaf", "trap", "_start"),
    ),
    "a program behind mret": Case(
        wrong=riscv(_start="call a\n1: j 1b", a="csrw mepc, a0\nmret"),
        said=ENTRY,
        machine=RISCV,
    ),
    "vectors without code": Case(
        wrong="".join(
            (
                ".text\n",
                FUNCTION.format("leaf", "ret", "%"),
                FUNCTION.format("_start", "ldr x0, =0x40000\nmsr vbar_el1, x0\n1: b 1b", "%"),
            )
        ),
        said="link the vectors there",
        right="".join(
            (
                ".text\n",
                FUNCTION.format("leaf", "ret", "%"),
                FUNCTION.format("_start", "adr x0, v\nmsr vbar_el1, x0\n1: b 1b", "%"),
                ".balign 2048\nv:\n.rept 16\n.balign 128\neret\n.endr\n",
            )
        ),
        machine=A64,
    ),
}


def link(folder: Path, machine: Sequence[str], text: str) -> Path:
    source, script, elf = (folder / name for name in ("main.S", "chip.ld", "it.elf"))
    source.write_text(text)
    script.write_text(SCRIPT)
    options = ["-nostdlib", "-Wl,-e,_start", f"-Wl,-T,{script}", str(source), "-o", str(elf)]
    command = [sys.executable, "-m", "ziglang", "cc", *machine, *options]
    subprocess.run(command, check=True, env=environment())
    return elf


def asked(capsys: pytest.CaptureFixture[str], elf: Path, *options: str) -> tuple[int, str]:
    capsys.readouterr()
    status = main(["check-image", "--stack-only", str(elf), *options])
    return status, capsys.readouterr().err


@pytest.mark.parametrize("name", CASES)
def test_a_remedy_works(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES[name]
    elf = link(tmp_path, case.machine, case.wrong)
    status, said = asked(capsys, elf, *case.given)
    remedies = re.findall(r"error\[E183\].*\n  help: (.*)", said)
    assert status == 1, said
    assert any(case.said in each for each in remedies), said
    assert all("alloca" not in each for each in remedies) or "alloca" in name
    if any(ENTRY in each for each in remedies):
        for entry in case.entries:
            assert asked(capsys, elf, "--entry", entry) == (0, ""), entry
    assert asked(capsys, elf, *case.given, "--allow-unbounded") == (0, "")
    assert all(each.endswith("or pass --allow-unbounded") for each in remedies)
    if case.options or case.given:
        assert asked(capsys, elf, *case.options) == (0, "")
    if case.right:
        assert asked(capsys, link(tmp_path, case.machine, case.right)) == (0, "")
