# SPDX-License-Identifier: Apache-2.0
"""P6, M9: a run function that fails leaves no device busy, and can be called again."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from llvmlite import binding

from atoll.codegen.llvm_entry import emit_entry
from atoll.codegen.llvm_machine import host_machine, new_module
from atoll.codegen.pool_images import pool_images
from atoll.ir.read_module import parse_module
from atoll.ir.verify import verify
from atoll.memory.build_problem import build_problem
from atoll.memory.solve import plan_memory
from atoll.resolve import load_soc

PAIR = Path(__file__).parents[2] / "data" / "pair.yaml"

PROGRAM = """\
module net
entry [] -> [] {
  allocate a: i8[16] align 16 in global.workspace [shared]
  allocate b: i8[16] align 16 in global.workspace [shared]
  allocate c: i8[16] align 16 in global.workspace [shared]
  constant list: 64 align 64 [weights] = 0xDATA
  step 0 first on npu_a: start npu_a(list, 1) reads [list] writes [a]
  step 1 second on npu_b: start npu_b(list, 1) reads [list] writes [b]
  step 1 second on npu_b: wait npu_b reads [list] writes [b]
  step 2 third on npu_b: run npu_b(list, 1) reads [list] writes [c]
  step 0 first on npu_a: wait npu_a reads [list] writes [a]
}
""".replace("DATA", "00" * 64)

MAIN = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
uint8_t atoll_pool_shared[4096] __attribute__((aligned(64)));
static const char *failing;
static int32_t called(const char *what, int32_t device) {
  char call[32];
  sprintf(call, "%s %d", what, (int)device);
  printf("%s, ", call);
  return strcmp(call, failing) == 0 ? -5 : 0;
}
void atoll_trace_begin(int32_t d, int32_t n) { (void)d; (void)n; }
void atoll_trace_end(int32_t d, int32_t n) { (void)d; (void)n; }
int32_t atoll_guard_check(int32_t status) { return status; }
int32_t atoll_npu_start(int32_t device, void *c, int32_t n) { return called("start", device); }
int32_t atoll_npu_run(int32_t device, void *c, int32_t n) { return called("run", device); }
int32_t atoll_npu_wait(int32_t device) { return called("wait", device); }
struct devices { int32_t npu_a, npu_b; };
int32_t net_run(const struct devices *devices);
int main(int argc, char **argv) {
  const struct devices devices = {1, 2};
  for (int call = 1; call < argc; ++call) {
    failing = argv[call];
    printf("%d\\n", (int)net_run(&devices));
  }
  return 0;
}
"""
GOOD = "start 1, start 2, wait 2, run 2, wait 1, 0"

Call = Callable[..., list[str]]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Call the run function once for each step that shall fail; return what each call did."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc for this machine")
    soc, program = load_soc(str(PAIR)), parse_module(PROGRAM)
    verify(program)
    host_machine()  # makes LLVM know this machine
    machine = binding.Target.from_default_triple().create_target_machine(
        reloc="static", codemodel="default"
    )
    target = new_module("net", machine)
    plan = plan_memory(build_problem(program, soc))
    emit_entry(target, program, plan, soc, pool_images(program, plan, {}))
    code = machine.emit_object(binding.parse_assembly(str(target)))
    (tmp_path / "net.o").write_bytes(code)
    (tmp_path / "main.c").write_text(MAIN)
    command = [compiler, "-no-pie", "-w", "main.c", "net.o", "-o", "net"]
    subprocess.run(command, cwd=tmp_path, check=True)

    def run(*failing: str) -> list[str]:
        command = [str(tmp_path / "net"), *failing]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split(
            "\n"
        )[:-1]

    return run


def test_p6_two_devices_are_started_before_either_is_waited_for(call: Call) -> None:
    assert call("") == [GOOD]


@pytest.mark.parametrize(
    ("failing", "did"),
    [
        ("start 1", "start 1, -5"),
        ("start 2", "start 1, start 2, wait 1, -5"),
        ("wait 2", "start 1, start 2, wait 2, wait 1, -5"),
        ("run 2", "start 1, start 2, wait 2, run 2, wait 1, -5"),
        ("wait 1", "start 1, start 2, wait 2, run 2, wait 1, -5"),
    ],
)
def test_m9_what_runs_is_waited_for_before_an_error_is_returned(
    failing: str, did: str, call: Call
) -> None:
    assert call(failing, "") == [did, GOOD]
