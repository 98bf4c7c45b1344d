# SPDX-License-Identifier: Apache-2.0
"""K2 on Thumb (Cortex-M): bounds from machine code, held against known frames and the compiler."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from atoll.diagnostics.errors import PlanError
from atoll.stack.elf_stack import Program
from atoll.utils.cache import cache_folder

HEAD = ".syntax unified\n.thumb\n.text\n"
FUNCTION = ".globl {0}\n.type {0}, %function\n.thumb_func\n{0}:\n{1}\n.size {0}, . - {0}\n"
SMALL = "-Os -ffreestanding -fno-sanitize=all -fno-stack-protector"


def zig(*arguments: str, folder: Path) -> None:
    cache = str(cache_folder() / "zig")
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", *arguments],
        cwd=folder,
        env={"ZIG_GLOBAL_CACHE_DIR": cache, "ZIG_LOCAL_CACHE_DIR": cache, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def link(folder: Path, source: str, cpu: str, *flags: str) -> Path:
    target = ("-target", "thumb-freestanding-eabi", f"-mcpu={cpu}", *flags)
    zig("cc", *target, "-c", source, "-o", "code.o", folder=folder)
    zig(
        "ld.lld",
        "-m",
        "armelf",
        "-e",
        "a",
        "-Ttext=0x20000",
        "-o",
        "code.elf",
        "code.o",
        folder=folder,
    )
    return folder / "code.elf"


@pytest.fixture
def assemble(tmp_path: Path) -> Callable[..., Path]:
    """Link functions that are given as assembly text."""

    def run(**functions: str) -> Path:
        text = "".join(FUNCTION.format(*item) for item in functions.items())
        (tmp_path / "code.S").write_text(HEAD + text)
        return link(tmp_path, "code.S", "cortex_m4")

    return run


POINTER_CALL = "push {r7, lr}\nldr r3, [r0]\nblx r3\npop {r7, pc}"


def calls(*names: str) -> str:
    """Annotate pairs (caller, callee), as `ATOLL_STACK_CALLS` does."""
    words = ", ".join(names)
    return f'\n.pushsection .atoll.calls, "a"\n.word {words}\n.popsection\n'


INTO = "push {r4, r5}\npop {r4, r5}\n.globl c\n.set c, . + 1\npush {r6, lr}\npop {r6, pc}"

BOUNDS: dict[str, tuple[dict[str, str], int]] = {
    "one condition": (
        {
            "a": "push {r4, lr}\nsub sp, #8\ncmp r0, #3\nitt ne\naddne sp, #8\n"
            "popne {r4, pc}\nadd sp, #8\npop {r4, pc}"
        },
        16,
    ),
    "an address that is pushed and popped": (
        {"a": "ldr r3, =b\npush {r3}\npop {pc}", "b": "sub sp, #400\nadd sp, #400\nbx lr"},
        400,
    ),
    "an interrupt that aligns its stack": (
        {
            "a": "mov r0, sp\nbic r1, r0, #7\nmov sp, r1\npush {r0, lr}\npop {r0, lr}\n"
            "mov sp, r0\nbx lr"
        },
        15,
    ),
    "a switch of Armv6-M": (
        {
            "a": "push {r4, lr}\nbl __gnu_thumb1_case_uqi\n.byte 1, 4\n"
            "movs r0, #1\npop {r4, pc}\nnop\nbl b\npop {r4, pc}",
            "b": "sub sp, #400\nadd sp, #400\nbx lr",
            "__gnu_thumb1_case_uqi": "bx lr",
        },
        408,
    ),
    "far jump by a call": (
        {"a": "push {r4, lr}\nsub sp, #16\nbl 1f\nudf #0\n1: add sp, #16\npop {r4, pc}"},
        24,
    ),
    "own subroutine": (
        {"a": "push {r4, lr}\nbl 1f\nsub sp, #64\nadd sp, #64\npop {r4, pc}\n1: udf #0"},
        72,
    ),
    "own subroutine that returns, or ends the function": (
        {
            "a": "push {r4, lr}\nbl 1f\nsub sp, #64\nadd sp, #64\npop {r4, pc}\n"
            "1: cbz r0, 2f\nbx lr\n2: pop {r4, pc}"
        },
        72,
    ),
    "end of another function": (
        {"a": "push {r4, r5, lr}\ncbz r0, 1f\nb 2f\n1: pop {r4, r5, pc}"}
        | {"b": "bx lr\n2: sub sp, #32\nadd sp, #32\npop {r4, r5, pc}"},
        44,
    ),
    "link in another register": ({"a": "mov r12, lr\nsub sp, #16\nadd sp, #16\nbx r12"}, 16),
    "switch of Armv6-M": (
        {
            "a": "ldr r2, 2f\nlsls r3, r3, #2\nldr r3, [r2, r3]\nmov pc, r3\n"
            "1: sub sp, #64\nadd sp, #64\n3: bx lr\n.p2align 2\n2: .word 4f\n"
            ".pushsection .rodata\n4: .word 1b, 3b\n.popsection"
        },
        64,
    ),
    "return by ldr": ({"a": "push {lr}\nmov.w lr, #3\nldr.w pc, [sp], #4"}, 4),
    "into the middle": ({"a": "push {r4, lr}\nbl b\nbl c\npop {r4, pc}", "b": INTO}, 16),
    "leaf": ({"a": "bx lr"}, 0),
    "push and pop": ({"a": "push {r4, r5, r7, lr}\npop {r4, r5, r7, pc}"}, 16),
    "wide push": ({"a": "push.w {r4-r11, lr}\nsub sp, #4\nadd sp, #4\npop.w {r4-r11, pc}"}, 40),
    "one register": ({"a": "str lr, [sp, #-8]!\nldr pc, [sp], #8"}, 8),
    "two registers": ({"a": "strd r4, lr, [sp, #-16]!\nldrd r4, lr, [sp], #16\nbx lr"}, 16),
    "deepest of two calls": (
        {
            "a": "push {r7, lr}\nbl b\nbl c\npop {r7, pc}",
            "b": "sub sp, #48\nadd sp, #48\nbx lr",
            "c": "sub sp, #32\nadd sp, #32\nbx lr",
        },
        56,
    ),
    "tail call": ({"a": "push {r7, lr}\npop {r7, lr}\nb.w b", "b": "sub sp, #64\n1: b 1b"}, 64),
    "conditional return": (
        {"a": "push {r4, lr}\ncmp r0, #0\nit eq\npopeq {r4, pc}\nbl b\npop {r4, pc}"}
        | {"b": "sub sp, #100\nadd sp, #100\nbx lr"},
        108,
    ),
    "early return": ({"a": "cbz r0, 1f\nsub sp, #64\nadd sp, #64\n1: bx lr"}, 64),
    "frame from a register": (
        {"a": "movw r4, #9000\nsub.w sp, sp, r4\nadd sp, r4\nbx lr"},
        9000,
    ),
    "frame from a constant in the code": (
        {"a": "ldr r4, 1f\nadd sp, r4\nldr r4, 2f\nadd sp, r4\nbx lr\n.p2align 2\n"}
        | {"b": "bx lr"},
        9000,
    ),
    "frame pointer": (
        {"a": "push {r7, lr}\nmov r7, sp\nsub sp, #24\nbl b\nmov sp, r7\npop {r7, pc}"}
        | {"b": "push {r4, lr}\npop {r4, pc}"},
        40,
    ),
    "function through a register": (
        {"a": "push {r7, lr}\nmovw r3, :lower16:b\nmovt r3, :upper16:b\nblx r3\npop {r7, pc}"}
        | {"b": "sub sp, #32\nadd sp, #32\nbx lr"},
        40,
    ),
    "loop": ({"a": "push {r4, lr}\n1: bl b\nsubs r4, #1\nbne 1b\npop {r4, pc}", "b": "bx lr"}, 8),
    "annotated call": (
        {"a": POINTER_CALL + calls("a", "b", "a", "c"), "b": "bx lr"}
        | {"c": "sub sp, #64\nadd sp, #64\nbx lr"},
        72,
    ),
    "annotated tail call": (
        {"a": "ldr r3, [r0]\nbx r3" + calls("a", "b"), "b": "sub sp, #48\nadd sp, #48\nbx lr"},
        48,
    ),
    "return through the stack": ({"a": "push {r7, lr}\nmovw lr, #4\npop {r7, pc}"}, 8),
    "switch": (
        {"a": "tbb [pc, r0]\n.byte 1, 2\nbx lr\nsub sp, #64\nadd sp, #64\nbx lr"},
        64,
    ),
    "switch over half words": (
        {"a": "tbh [pc, r0, lsl #1]\n.hword 2, 3\nbx lr\npush {r4, lr}\nbl b\npop {r4, pc}"}
        | {"b": "sub sp, #32\nadd sp, #32\nbx lr"},
        40,
    ),
    "jump by a constant": (
        {"a": "ldr.w pc, 1f\n.p2align 2\n1: .word b", "b": "sub sp, #16\nadd sp, #16\nbx lr"},
        16,
    ),
    "data that looks like calls": (
        {
            "a": "ldr r0, 1f\nb 2f\n.p2align 2\n1: .word 0xb0ffb0ff, 0xf5ad5d80, 0xfffef7ff\n"
            "2: bx lr"
        },
        0,
    ),
    "aligned frame": (
        {
            "a": "push {r7, lr}\nmov r7, sp\nsub sp, #32\nmov r4, sp\nbic r4, r4, #31\nmov sp, r4\n"
            "mov sp, r7\npop {r7, pc}"
        },
        71,
    ),
    "main stack set anew": (
        {"a": "ldr r0, =0x20001000\nmsr msp, r0\nsub sp, #24\n1: b 1b\n.ltorg"},
        24,
    ),
    "end by trap": ({"a": "sub sp, #16\nudf #0"}, 16),
}
literal = "1: .word -9000\n2: .word 9000"
BOUNDS["frame from a constant in the code"][0]["a"] += literal


@pytest.mark.parametrize("case", BOUNDS)
def test_k2_thumb_bound(assemble: Callable[..., Path], case: str) -> None:
    functions, size = BOUNDS[case]
    bound = Program.read(assemble(**functions)).bound("a")
    assert bound.bytes == size
    assert bound.path[0][0] == "a"


REFUSALS: dict[str, tuple[dict[str, str], str]] = {
    "recursion": ({"a": "push {r7, lr}\nbl b\npop {r7, pc}", "b": "b.w a"}, "a > b > a"),
    "call through a table": (
        {"a": "push {r7, lr}\nldr r3, [r0]\nblx r3\npop {r7, pc}"},
        "a jumps at 0x",
    ),
    "annotated switch": (
        {"a": "ldr.w pc, [r0, r1, lsl #2]\nsub sp, #64\n1: b 1b" + calls("a", "b"), "b": "bx lr"},
        "a jumps at 0x",
    ),
    "annotation without a call": (
        {"a": "push {r7, lr}\nbl b\npop {r7, pc}" + calls("a", "b"), "b": "bx lr"},
        "it calls nothing through a pointer",
    ),
    "annotation of no function": (
        {"a": POINTER_CALL + calls("a", "a + 2")},
        "where no function starts",
    ),
    "switch over a table elsewhere": ({"a": "tbb [r1, r0]\nbx lr"}, "a jumps at 0x"),
    "jump to data": ({"a": "ldr.w pc, [r0, r1, lsl #2]"}, "a jumps at 0x"),
    "alloca": ({"a": "sub.w sp, sp, r0\nadd sp, r0\nbx lr"}, "a loses track"),
    "alloca in a loop": ({"a": "1: sub sp, #16\ncbz r0, 2f\nb 1b\n2: udf #0"}, "a loses track"),
    "no way back": ({"a": "sub sp, #16\nbx lr"}, "a loses track"),
    "other stack": ({"a": "msr control, r0\nisb\nbx lr"}, "a loses track"),
    "return to a mode without secrets": (
        {"a": "push {r7, lr}\n.inst.n 0x4784\npop {r7, pc}"},
        "a jumps",
    ),
    "own subroutine that leaves something": (
        {"a": "push {r4, lr}\nbl 1f\npop {r4, pc}\n1: push {r5}\nbx lr"},
        "a loses track",
    ),
    "end of another function that leaves something": (
        {"a": "push {r4, r5, lr}\nb 2f", "b": "bx lr\n2: pop {r4, pc}"},
        "a jumps at 0x",
    ),
    "call through the link": ({"a": "push {r4, lr}\nblx lr\npop {r4, pc}"}, "a jumps at 0x"),
    "what a callee writes over the saved link": (
        {
            "a": "push {r3, lr}\nbl b\npop {r3, pc}",
            "b": "ldr r3, =c\nstr r3, [sp, #4]\nbx lr",
            "c": "sub sp, #400\nadd sp, #400\nbx lr",
        },
        "a jumps at 0x",
    ),
    "one byte of the saved link": (
        {"a": "push {r3, lr}\nstrb r0, [sp, #5]\npop {r3, pc}"},
        "a jumps at 0x",
    ),
    "a link that a call left": ({"a": "bl b\nbx lr", "b": "bx lr"}, "to what a call left"),
    "a tail call to an address in the link register": (
        {"a": "ldr lr, =c\nb b", "b": "bx lr", "c": "sub sp, #400\nadd sp, #400\nbx lr"},
        "a jumps at 0x",
    ),
    "a tail call that leaves something": ({"a": "sub sp, #8\nb b", "b": "bx lr"}, "a loses track"),
    "other pop": ({"a": "push {r4, lr}\npop {pc}"}, "a jumps at 0x"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_k2_thumb_refusal(assemble: Callable[..., Path], case: str) -> None:
    functions, words = REFUSALS[case]
    with pytest.raises(PlanError, match=words) as caught:
        Program.read(assemble(**functions)).bound("a")
    assert {fault.code for fault in caught.value.faults} == {"E076"}


LOOPS = {
    "counted": (
        "push {r4, lr}\ndls lr, r0\n1: sub sp, #8\nadd sp, #8\nle lr, 1b\npop {r4, pc}",
        16,
    ),
    "perhaps not once": (
        "push {r4, lr}\nwls lr, r0, 2f\n1: push {r0, r1, r2, r3}\nadd sp, #16\nle lr, 1b\n"
        "2: pop {r4, pc}",
        24,
    ),
    "vectors": ("push {r4, lr}\nvldrb.u8 q0, [r0], #16\nvaddv.u8 r2, q0\npop {r4, pc}", 8),
    "choice": ("push {r4, lr}\ncsinc r0, r1, r2, ne\npop {r4, pc}", 8),
}


@pytest.mark.parametrize("case", LOOPS)
def test_k2_low_overhead_loops_and_vectors(tmp_path: Path, case: str) -> None:
    text, expected = LOOPS[case]
    (tmp_path / "code.S").write_text(HEAD + FUNCTION.format("a", text))
    elf = link(tmp_path, "code.S", "cortex_m55+mve")
    assert Program.read(elf).bound("a").bytes == expected


def test_k2_a_stack_pointer_that_a_loop_moves_is_lost(tmp_path: Path) -> None:
    text = "dls lr, r0\n1: sub sp, #8\nle lr, 1b\nbx r1"
    (tmp_path / "code.S").write_text(HEAD + FUNCTION.format("a", text))
    with pytest.raises(PlanError, match="a loses track"):
        Program.read(link(tmp_path, "code.S", "cortex_m55+mve")).bound("a")


PROGRAM = """
#define FUNCTION __attribute__((noinline))
FUNCTION int tiny(int x) { volatile char a[24]; a[x & 7] = 1; return a[x & 7]; }
FUNCTION int large(int x) { volatile char a[900]; a[x & 7] = 1; return a[x & 7] + tiny(x); }
FUNCTION int huge(int x) { volatile char a[9000]; a[x & 7] = 1; return a[x & 7] + tiny(x); }
FUNCTION int choose(int x) {
  volatile int a[8];
  if (x > 3) return x;
  a[x & 7] = large(x);
  return a[x & 7] + huge(x);
}
int a(int x) {
  int sum = 0;
  for (int i = 0; i < x; i++) sum += choose(i) * large(i);
  return sum;
}
"""
DEEPEST = ("a", "choose", "huge", "tiny")


def frames_of_the_compiler(assembly: str) -> dict[str, int]:
    """Add up what the compiler says it takes, in its unwinding directives."""
    frames: dict[str, int] = {}
    name = ""
    for line in assembly.splitlines():
        if found := re.match(r"(\w+):", line):
            name = found[1] if not found[1].startswith("$") else name
        elif found := re.match(r"\s+\.pad\s+#(\d+)", line):
            frames[name] = frames.get(name, 0) + int(found[1])
        elif found := re.match(r"\s+\.save\s+\{(.*)\}", line):
            frames[name] = frames.get(name, 0) + 4 * len(found[1].split(","))
    return frames


@pytest.mark.parametrize("cpu", ["cortex_m0", "cortex_m4"])
def test_k2_thumb_bound_is_what_the_compiler_says_it_takes(tmp_path: Path, cpu: str) -> None:
    (tmp_path / "code.c").write_text(PROGRAM)
    flags = (*SMALL.split(), "-funwind-tables")
    target = ("-target", "thumb-freestanding-eabi", f"-mcpu={cpu}", *flags)
    zig("cc", *target, "-S", "code.c", "-o", "code.s", folder=tmp_path)
    frames = frames_of_the_compiler((tmp_path / "code.s").read_text())
    assert frames["huge"] >= 9000
    plain = (*SMALL.split(), "-fno-unwind-tables", "-fno-asynchronous-unwind-tables")
    bound = Program.read(link(tmp_path, "code.c", cpu, *plain)).bound("a")
    assert bound.path == tuple((name, frames[name]) for name in DEEPEST)


def test_vectors_of_before_may_be_set_again(assemble: Callable[..., Path]) -> None:
    swap = "ldr r0, =0xE000ED08\nldr r4, [r0]\nldr r3, =0x20100\nstr r3, [r0]\nstr r4, [r0]\nbx lr"
    program = Program.read(assemble(a=f"{swap}\n.ltorg"))
    program.bound("a")
    assert [*program.traps()] == [("a", 0x20100)]
