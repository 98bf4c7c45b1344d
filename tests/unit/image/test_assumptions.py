# SPDX-License-Identifier: Apache-2.0
"""What a bound rests on is said where the code that counts has it, and nowhere else."""

import json
from pathlib import Path

import pytest
from tests.unit.image.test_shared_prologues import linked

from atoll.cli import main

BELOW = "below its stack pointer, a function stores only where its own code shows the offset"
POINTER = "no store through a pointer changes code, a saved register or where exceptions begin"
STRANGE = "instructions that are not known neither jump, nor move the stack pointer, nor store"
SAID = (BELOW, POINTER, STRANGE)

FUNCTION = ".globl {0}\n.type {0}, %function\n{0}:\n{1}\n.size {0}, .-{0}\n"
RISCV = "la sp, __stack\n call work\nfinished: j finished"
RESET = "ldr r0, =__stack\n mov sp, r0\n bl work\nfinished: b finished\n.ltorg"
A64 = "adrp x0, __stack\n mov sp, x0\n bl work\nfinished: b finished"
STARTS = {"riscv32": RISCV, "riscv64": RISCV, "thumb": RESET, "aarch64": A64}
WORKS: dict[str, tuple[str | dict[str, str], tuple[str, ...]]] = {
    "nothing": ("nop", ()),
    "its own stack": (
        {
            "riscv": "addi sp, sp, -16\n sw a0, 8(sp)\n addi sp, sp, 16",
            "thumb": "push {r0, lr}\n str r1, [sp]\n pop {r0, pc}",
            "aarch64": "sub sp, sp, #16\n str x0, [sp, #8]\n add sp, sp, #16",
        },
        (),
    ),
    "a constant": (
        {
            "riscv": "lui a1, 64\n sw a0, 0(a1)",
            "thumb": "movs r1, #64\n lsls r1, r1, #12\n str r0, [r1]",
            "aarch64": "mov x1, #0x40000\n str x0, [x1]",
        },
        (POINTER,),
    ),
    "what it is given": (
        {"riscv": "sw a1, 0(a0)", "thumb": "str r1, [r0]", "aarch64": "str x1, [x0]"},
        (BELOW, POINTER),
    ),
    "an element of its array": (
        {
            "riscv": "addi sp, sp, -64\n add a0, a0, sp\n sb a1, 0(a0)\n addi sp, sp, 64",
            "thumb": "sub sp, #64\n add r0, sp\n strb r1, [r0]\n add sp, #64",
            "aarch64": "sub sp, sp, #64\n add x0, sp, x0\n strb w1, [x0]\n add sp, sp, #64",
        },
        (BELOW, POINTER),
    ),
    "a strange instruction": (
        {"riscv": ".insn r 0x0b, 0, 0, a0, a0, a0", "thumb": ".inst.w 0xf040e001"},
        (STRANGE,),
    ),
}


def image(folder: Path, family: str, *functions: str) -> Path:
    """Link a program that begins with a call of `work`."""
    target = "thumb" if family == "thumb" else family
    word = ".word" if family == "thumb" else ""
    vectors = f".section .vectors\n{word} __stack, _start + 1\n" if word else ""
    arch = ".syntax unified\n.cpu cortex-m4\n.thumb\n" if family == "thumb" else ""
    start = '.section .text.start, "ax"\n' + FUNCTION.format("_start", STARTS[family])
    text = arch + vectors + start + "".join(functions)
    (folder / "main.S").write_text(text)
    return linked(folder, "main.S", target)


def said(elf: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, ...]:
    """Return what is said, which text and JSON agree on."""
    capsys.readouterr()
    main(["check-image", "--stack-only", str(elf), "--allow-unbounded", "--json", *words])
    assumes = json.loads(capsys.readouterr().out)["assumes"]
    main(["check-image", "--stack-only", str(elf), "--allow-unbounded", *words])
    out = capsys.readouterr().out
    assert [each for each in SAID if f"  {each}\n" in out] == [x for x in SAID if x in assumes]
    return tuple(each for each in SAID if each in assumes)


@pytest.mark.parametrize("family", STARTS)
@pytest.mark.parametrize("name", WORKS)
def test_what_is_assumed_of_stores(
    name: str, family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bodies, assumed = WORKS[name]
    set_of = "riscv" if "riscv" in family else family
    if not isinstance(bodies, str) and set_of not in bodies:
        return  # a word that A64 does not have may move the stack pointer
    body = bodies if isinstance(bodies, str) else bodies[set_of]
    ends = "ret" if set_of != "thumb" else "bx lr"
    elf = image(tmp_path, family, FUNCTION.format("work", f"{body}\n{ends}"))
    assert said(elf, capsys) == assumed


def test_code_that_does_not_count_has_no_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stores = FUNCTION.format("stores", "sw a1, 0(a0)\nret")
    quiet = FUNCTION.format("quiet", "ret")
    work = FUNCTION.format(
        "work", "addi sp, sp, -16\nsw ra, 0(sp)\ncall stores\nlw ra, 0(sp)\naddi sp, sp, 16\nret"
    )
    elf = image(tmp_path, "riscv32", work, quiet, stores)
    assert said(elf, capsys) == (BELOW, POINTER)
    assert said(elf, capsys, "--entry", "work") == (BELOW, POINTER)
    assert said(elf, capsys, "--entry", "quiet") == ()
