# SPDX-License-Identifier: Apache-2.0
"""Code that begins and ends functions for others, and addresses to return to in temporaries."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.foreign_images import SCRIPT, Compiler, environment
from tests.stack_measure import measure
from tests.unit.image.test_foreign_stacks import ask, there

from atoll import bsp

START = """
.globl _start, finished
_start:
  la sp, __stack
  call outer
finished: j finished
"""
SHARED = """
.globl outer, {prefix}save_0, {prefix}restore_0
.type outer, %function
outer:
  jal t0, {prefix}save_0
  addi sp, sp, -48
  call small
  addi sp, sp, 48
  j {prefix}restore_0
.size outer, .-outer
.type {prefix}save_0, %function
{prefix}save_0:
  addi sp, sp, -16
  sw s0, 8(sp)
  sw ra, 12(sp)
  jr t0
.size {prefix}save_0, .-{prefix}save_0
.type {prefix}restore_0, %function
{prefix}restore_0:
  lw s0, 8(sp)
  lw ra, 12(sp)
  addi sp, sp, 16
  ret
.size {prefix}restore_0, .-{prefix}restore_0
.globl small
.type small, %function
small:
  addi sp, sp, -32
  sw a0, 0(sp)
  addi sp, sp, 32
  ret
.size small, .-small
"""
IN_T2 = """
.globl outer, leaf
.type outer, %function
outer:
  mv t2, ra
  addi sp, sp, -32
  sw a0, 0(sp)
  call leaf
  addi sp, sp, 32
  jr t2
.size outer, .-outer
.type leaf, %function
leaf:
  li {changed}, 1
  ret
.size leaf, .-leaf
"""


ANNOTATED = """
#include "atoll_stack.h"
typedef int callee(int);
__attribute__((noinline)) int large(int n) { volatile char a[400]; a[n] = 1; return a[n + 1]; }
callee *volatile handler = large;
__attribute__((noinline)) int handle(int n) { return handler(n) + 1; }
ATOLL_STACK_CALLS(handle, large);
void _start(void) { handle(3); for (;;) {} }
"""


def linked(folder: Path, source: str, family: str) -> Path:
    """Compile or assemble a program, and link it."""
    elf, runtime = folder / "it.elf", Path(bsp.__file__).parent / "runtime"
    words = ("-target", f"{family}-freestanding", "-nostdlib", "-O1", "-fno-sanitize=all")
    command = [sys.executable, "-m", "ziglang", "cc", *words, f"-I{runtime}", "-T", "chip.ld"]
    kept = ".atoll.calls 0 (INFO) : { KEEP(*(.atoll.calls)) }"
    (folder / "chip.ld").write_text(SCRIPT.replace("  /DISCARD/", f"  {kept}\n  /DISCARD/"))
    done = subprocess.run(
        [*command, source, "-o", str(elf)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 0, done.stderr
    return elf


@pytest.mark.parametrize("march", ["rv32imac", "rv32im", "rv64imac"])
@pytest.mark.parametrize("kind", ["CHAIN", "TAIL", "SWITCH"])
def test_what_gcc_shares_of_its_prologues_is_bounded(
    kind: str, march: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiler = there(Compiler("gcc", march[:4], "-Os"))
    part = compiler.link(kind, tmp_path, f"-march={march}_zicsr", "-msave-restore", "-c")
    elf, abi = tmp_path / "it.elf", "lp64" if "64" in march else "ilp32"
    command = ["riscv64-unknown-elf-gcc", f"-march={march}", f"-mabi={abi}", "-nostdlib"]
    command += ["-T", "chip.ld", str(part), "-lgcc", "-o", str(elf)]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert b"__riscv_restore_" in elf.read_bytes()
    answer = ask(capsys, elf)
    assert answer.status == 0, answer.reasons()
    assert isinstance(answer.bytes, int)
    taken = measure(elf, "_start")
    assert taken.finished
    assert taken.bytes <= answer.bytes <= taken.bytes + 64


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (SHARED.format(prefix="__riscv_"), 16 + 48 + 32),
        (SHARED.format(prefix="my_"), None),
        (IN_T2.format(changed="t1"), 32),
        (IN_T2.format(changed="t2"), None),
    ],
    ids=["shared", "of another name", "t2 is kept", "t2 is changed"],
)
def test_assembly_that_shares_prologues_or_has_its_link_in_t2(
    text: str, size: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.S").write_text(START + text)
    assert ask(capsys, linked(tmp_path, "main.S", "riscv32")).bytes == size


@pytest.mark.parametrize("family", ["riscv32", "riscv64", "aarch64"])
def test_annotations_are_pairs_of_pointers(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.c").write_text(ANNOTATED)
    elf = linked(tmp_path, "main.c", family)
    answer = ask(capsys, elf)
    assert answer.status == 0, answer.reasons()
    assert isinstance(answer.bytes, int)
    assert answer.bytes >= 400
