# SPDX-License-Identifier: Apache-2.0
"""D3: what each core's object holds, and how the run function has another core take part."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from llvmlite import binding

from atoll.codegen.c.source import emit_sources
from atoll.codegen.llvm import emit_object, emit_objects
from atoll.codegen.llvm_entry import emit_entry
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import host_machine, new_module
from atoll.codegen.llvm_steps import emit_steps
from atoll.codegen.pool_images import pool_images
from atoll.codegen.run_arguments import run_arguments
from atoll.ir.builder import FunctionBuilder
from atoll.ir.expressions import add
from atoll.ir.read_module import parse_module
from atoll.ir.tir import Direction, IRModule, PrimFunc, Type
from atoll.ir.verify import verify
from atoll.memory.build_problem import build_problem
from atoll.memory.problem import MemoryPlan
from atoll.memory.solve import plan_memory
from atoll.protocol import Status
from atoll.resolve.mailbox import core_command
from atoll.resolve.soc import Cpu, ResolvedSoc

Duo = Callable[..., ResolvedSoc]
SIZE = 16
OVERLAPPED = """
  step 1 b on dsp: begin @plus_two(x, b) reads [x] writes [b]
  step 0 a on cpu: call @plus_one(x, a) reads [x] writes [a]
  step 1 b on dsp: wait dsp reads [x] writes [b]
  step 2 y on cpu: call @plus_two(b, y) reads [b] writes [y]
"""
IN_TURN = """
  step 0 a on cpu: call @plus_one(x, a) reads [x] writes [a]
  step 1 b on dsp: call @plus_two(x, b) reads [x] writes [b]
  step 2 y on cpu: call @plus_two(b, y) reads [b] writes [y]
"""


def kernel(name: str, more: int) -> PrimFunc:
    builder = FunctionBuilder(name)
    x = builder.buffer("x", Type.I8, SIZE, Direction.READ)
    y = builder.buffer("y", Type.I8, SIZE, Direction.WRITE)
    with builder.loop("i", 0, SIZE) as i:
        y[i] = add(x.wide(i), more)
    return builder.kernel()


def module(steps: str) -> IRModule:
    lines = ["module net", str(kernel("plus_one", 1)), str(kernel("plus_two", 2))]
    lines.append("entry [x] -> [y] {")
    allocated = "allocate {}: i8[16] align 16 in global.workspace [shared]"
    lines += map(allocated.format, ("x", "a", "b", "y"))
    program = parse_module("\n".join((*lines, steps, "}")))
    verify(program)
    return program


def planned(program: IRModule, soc: ResolvedSoc) -> MemoryPlan:
    return plan_memory(build_problem(program, soc))


def section_of(code: bytes, name: str) -> Any:
    section = ELFFile(BytesIO(code)).get_section_by_name(name)
    assert section is not None
    return section


def functions(code: bytes) -> set[str]:
    table = section_of(code, ".symtab")
    return {s.name for s in table.iter_symbols() if s["st_info"]["type"] == "STT_FUNC"}


def undefined(code: bytes) -> set[str]:
    table = section_of(code, ".symtab")
    return {s.name for s in table.iter_symbols() if s.name and s["st_shndx"] == "SHN_UNDEF"}


@pytest.mark.parametrize("steps", [IN_TURN, OVERLAPPED])
def test_d3_a_kernel_of_two_cores_is_in_both_objects(duo: Duo, steps: str) -> None:
    soc, program = duo(), module(steps)
    codes = emit_objects(program, planned(program, soc), soc, {})
    assert list(codes) == ["cpu", "dsp"]
    assert functions(codes["cpu"]) == {"net_run", "plus_one", "plus_two"}
    assert functions(codes["dsp"]) == {"net_dsp_step", "plus_two"}
    halves = {"atoll_core_run"} if steps is IN_TURN else {"atoll_core_start", "atoll_core_wait"}
    assert undefined(codes["cpu"]) & {f"atoll_core_{n}" for n in ("run", "start", "wait")} == halves
    assert undefined(codes["dsp"]) <= {"atoll_pool_shared", "memcpy", "memset"}


def test_d3_each_object_is_made_for_its_cores_isa(duo: Duo) -> None:
    soc, program = duo(), module(IN_TURN)
    for core, code in emit_objects(program, planned(program, soc), soc, {}).items():
        compressed = b"_c2p0" in section_of(code, ".riscv.attributes").data()
        assert compressed == (core == "cpu")


def test_equal_input_makes_equal_objects(duo: Duo) -> None:
    soc, program = duo(), module(IN_TURN)
    plan = planned(program, soc)
    assert emit_objects(program, plan, soc, {}) == emit_objects(program, plan, soc, {})


def test_the_model_of_a_later_position_asks_for_other_commands(duo: Duo) -> None:
    """Else two models of one firmware would run each other's steps."""
    soc, program = duo(), module(IN_TURN)
    plan = planned(program, soc)
    assert emit_object(program, plan, soc, {}, 1) != emit_object(program, plan, soc, {}, 0)


def test_k2_many_steps_make_no_table_of_addresses(duo: Duo) -> None:
    """The stack is bounded from the code: every call is direct, no jump goes by register."""
    soc = duo()
    lines = [
        f"  step {n} s{n} on dsp: call @plus_{'one' if n % 2 else 'two'}"
        f"({'b' if n % 2 else 'x' if n == 0 else 'a'}, {'a' if n % 2 else 'b'}) "
        f"reads [{'b' if n % 2 else 'x' if n == 0 else 'a'}] writes [{'a' if n % 2 else 'b'}]"
        for n in range(64)
    ]
    last = "  step 64 s64 on dsp: call @plus_one(a, y) reads [a] writes [y]"
    program = module("\n".join((*lines, last)))
    code = emit_objects(program, planned(program, soc), soc, {})["dsp"]
    assert not [s.name for s in ELFFile(BytesIO(code)).iter_sections() if "rodata" in s.name]
    symbols = section_of(code, ".symtab")
    relocations = section_of(code, ".rela.text.net_dsp_step").iter_relocations()
    called = [
        symbols.get_symbol(each["r_info_sym"]).name
        for each in relocations
        if each["r_info_type"] == 19  # R_RISCV_CALL_PLT
    ]
    assert len(called) == 65
    assert set(called) == {"plus_one", "plus_two"}


STUBS = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
uint8_t atoll_pool_shared[4096] __attribute__((aligned(64)));
static uint8_t given[16] = {40}, taken[16];
static int32_t fails_run, fails_start, fails_wait;
void atoll_trace_begin(int32_t d, int32_t n) { printf("begin(%d, %d) ", (int)d, (int)n); }
void atoll_trace_end(int32_t d, int32_t n) { printf("end(%d, %d) ", (int)d, (int)n); }
int32_t atoll_guard_check(int32_t status) { return status; }
static int32_t told(const char *what, int32_t device, int32_t command, int32_t status) {
  printf("%s(%d, %#x) ", what, (int)device, (unsigned)command);
  for (int i = 0; i < 16; i++)
    atoll_pool_shared[B + i] = (uint8_t)(atoll_pool_shared[X + i] + 2);
  return status;
}
int32_t atoll_core_run(int32_t d, int32_t c) { return told("run", d, c, fails_run); }
int32_t atoll_core_start(int32_t d, int32_t c) { return told("start", d, c, fails_start); }
int32_t atoll_core_wait(int32_t d) { printf("wait(%d) ", (int)d); return fails_wait; }
struct ports { uint8_t *pointer; };
int32_t atoll_npu_run(int32_t d, const void *c, int32_t n) {
  (void)c; (void)n;
  printf("npu(%d) ", (int)d);
  return -5;
}
struct devices { int32_t core, npu; };
static struct ports in = {given}, out = {taken};
static struct devices devices = {1, 2};
int32_t net_run(const void *, const void *, const void *);
int main(void) {
  SETUP
  int32_t status = net_run(&in, &out, &devices);
  printf("= %d %d", (int)status, taken[0]);
  return 0;
}
"""

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, duo: Duo) -> Run:
    """Run the host's part of a module on this machine, with the other core's answers made up."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc for this machine")

    def call(steps: str, setup: str = "", position: int = 0) -> str:
        soc, program = duo(), module(steps)
        plan = planned(program, soc)
        assert run_arguments(program, plan, soc).devices[0] == "dsp"
        host_machine()  # makes LLVM know this machine
        machine = binding.Target.from_default_triple().create_target_machine(
            reloc="static", codemodel="default"
        )
        target = new_module("net", machine)
        emit_functions(target, program.functions, linkage="internal")
        images = pool_images(program, plan, {"c": bytes(64)})
        emit_entry(target, program, plan, soc, images, position)
        code = machine.emit_object(binding.parse_assembly(str(target)))
        (tmp_path / "net.o").write_bytes(code)
        (tmp_path / "main.c").write_text(STUBS)
        defines = [f"-D{n.upper()}={plan.placements[n].offset}" for n in ("x", "b")]
        command = [compiler, "-no-pie", "-w", *defines, f"-DSETUP={setup}", "main.c", "net.o"]
        subprocess.run([*command, "-o", "net"], cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / "net"], capture_output=True, text=True, check=True)
        return re.sub(r"(begin|end)\(0, \d\) ", "", done.stdout)

    return call


def test_d3_another_core_is_asked_for_its_step(run: Run) -> None:
    assert run(IN_TURN) == "begin(1, 1) run(1, 0x1) end(1, 1) = 0 44"


def test_d3_the_position_of_the_model_is_above_the_step(run: Run) -> None:
    assert "run(1, 0x30001)" in run(IN_TURN, position=3)


def test_d1_the_core_is_the_one_that_the_caller_names(run: Run) -> None:
    assert "run(5, 0x1)" in run(IN_TURN, "devices.core = 5;")


def test_m9_what_a_core_fails_with_ends_the_run_at_once(run: Run) -> None:
    assert run(IN_TURN, "fails_run = -4;") == "begin(1, 1) run(1, 0x1) = -4 0"


def test_p6_a_core_runs_between_start_and_wait(run: Run) -> None:
    assert run(OVERLAPPED) == "begin(1, 1) start(1, 0x1) wait(1) end(1, 1) = 0 44"
    assert run(OVERLAPPED, "fails_wait = -6;").endswith("wait(1) = -6 0")
    assert run(OVERLAPPED, "fails_start = -3;").endswith("start(1, 0x1) = -3 0")


def test_m9_a_core_that_runs_is_waited_for_before_an_error_is_returned(run: Run) -> None:
    steps = """
  constant c: 64 align 64 [weights] = later
  step 0 b on dsp: begin @plus_two(x, b) reads [x] writes [b]
  step 1 a on npu: run npu(c, 1) reads [x, c] writes [a]
  step 0 b on dsp: wait dsp reads [x] writes [b]
  step 2 y on cpu: call @plus_two(b, y) reads [b] writes [y]
"""
    failed = "begin(1, 0) start(1, 0) begin(2, 1) npu(2) wait(1) = -5 0"
    assert run(steps) == failed


STEP_STUBS = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
uint8_t atoll_pool_shared[4096] __attribute__((aligned(64)));
int32_t net_dsp_step(int32_t command);
int main(int argc, char **argv) {
  (void)argc;
  printf("%d", (int)net_dsp_step((int32_t)strtol(argv[1], 0, 0)));
  return 0;
}
"""


@pytest.mark.parametrize("language", ["llvm", "c"])
def test_m9_a_core_refuses_steps_of_another_model(language: str, duo: Duo, tmp_path: Path) -> None:
    """An application that exchanges the calls of two models is told so, not obeyed."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc for this machine")
    soc, program = duo(), module(IN_TURN)
    plan = planned(program, soc)
    source = tmp_path / "net.c"
    if language == "c":
        source.write_text(emit_sources(program, plan, soc, {"c": bytes(64)}, 2)["dsp"])
    else:
        host_machine()  # makes LLVM know this machine
        machine = binding.Target.from_default_triple().create_target_machine(
            reloc="static", codemodel="default"
        )
        target = new_module("net", machine)
        emit_functions(target, program.functions, linkage="internal")
        emit_steps(target, program, plan, soc, "dsp", 2)
        source = tmp_path / "net.o"
        source.write_bytes(machine.emit_object(binding.parse_assembly(str(target))))
    (tmp_path / "main.c").write_text(STEP_STUBS)
    command = [compiler, "-no-pie", "-w", "main.c", str(source), "-o", "net"]
    subprocess.run(command, cwd=tmp_path, check=True)

    def answer(command: int) -> int:
        words = [str(tmp_path / "net"), str(command)]
        return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)

    assert answer(core_command(2, 1)) == 0
    for wrong in (core_command(0, 1), core_command(1, 1), core_command(2, 0)):
        assert answer(wrong) == Status.ARGUMENT


def test_a_core_without_mailbox_gets_no_object(duo: Duo) -> None:
    soc = duo()
    devices = tuple(replace(d, mailbox=None) if isinstance(d, Cpu) else d for d in soc.devices)
    program = module(IN_TURN.replace("on dsp", "on cpu"))
    bare = replace(soc, devices=devices)
    assert list(emit_objects(program, planned(program, bare), bare, {})) == ["cpu"]
