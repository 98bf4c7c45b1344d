# SPDX-License-Identifier: Apache-2.0
"""M8: the run function on this machine: what it refuses, what it copies, what it starts."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from llvmlite import binding

from atoll.codegen.llvm_entry import emit_entry
from atoll.codegen.llvm_machine import host_machine, new_module
from atoll.codegen.pool_images import pool_images
from atoll.codegen.run_arguments import run_arguments
from atoll.ir.tir import AcceleratorRun, Allocate, Constant, Entry, IRModule, Step, Type
from atoll.memory.build_problem import build_problem
from atoll.memory.solve import plan_memory
from atoll.resolve import load_soc

STUBS = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
uint8_t atoll_pool_shared[4096] __attribute__((aligned(64)));
static uint8_t elsewhere[64], given[16] = "caller's bytes", taken[16];
static int32_t fails, violation;
void atoll_trace_begin(int32_t d, int32_t n) { (void)d; (void)n; }
void atoll_trace_end(int32_t d, int32_t n) { (void)d; (void)n; }
int32_t atoll_guard_check(int32_t status) { return status ? status : violation; }
int32_t atoll_npu_run(int32_t device, const void *commands, int32_t count) {
  (void)commands;
  printf("npu_run(%d, %d) ", (int)device, (int)count);
  memcpy(&atoll_pool_shared[OUTPUT], &atoll_pool_shared[INPUT], 16);
  return fails;
}
"""
CALLS = """
struct ports { uint8_t *pointer; };
struct device { int32_t ordinal; };
static struct ports in = {given}, out = {taken}, pools = {atoll_pool_shared};
static struct device devices = {1};
int32_t net_run(PARAMETERS);
int main(void) {
  SETUP
  int32_t status = net_run(ARGUMENTS);
  printf("%d %s", (int)status, (char *)taken);
  return 0;
}
"""


def network() -> IRModule:
    """One accelerator run from `x` to `y`."""
    entry = Entry(
        inputs=("x",),
        outputs=("y",),
        allocations=tuple(
            Allocate(
                buffer=name,
                type=Type.I8,
                elements=16,
                align=16,
                scope="global.workspace",
                pools=("shared",),
            )
            for name in ("x", "y")
        ),
        constants=(Constant(name="c", size=64, align=64, pools=("weights",), data=bytes(64)),),
        steps=(
            Step(
                operator="conv",
                number=0,
                device="npu",
                reads=("x", "c"),
                writes=("y",),
                action=AcceleratorRun("npu", "c", 1),
            ),
        ),
    )
    return IRModule("net", (), entry)


Run = Callable[..., tuple[tuple[str, ...], str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Compile the network for this machine, call it once, return its parameters and output."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs cc for this machine")

    def call(keys: Sequence[str] = (), setup: str = "") -> tuple[tuple[str, ...], str]:
        soc, program = load_soc("lagoon", list(keys)), network()
        plan = plan_memory(build_problem(program, soc))
        host_machine()  # makes LLVM know this machine
        machine = binding.Target.from_default_triple().create_target_machine(
            reloc="static", codemodel="default"
        )
        target = new_module("net", machine)
        emit_entry(target, program, plan, soc, pool_images(program, plan, {}))
        module = binding.parse_assembly(str(target))
        (tmp_path / "net.o").write_bytes(machine.emit_object(module))
        structs = tuple(run_arguments(program, plan, soc).structs())
        names = {"inputs": "in", "outputs": "out", "pools": "pools", "devices": "devices"}
        defines = (
            f"-DINPUT={plan.placements['x'].offset}",
            f"-DOUTPUT={plan.placements['y'].offset}",
            f"-DPARAMETERS={', '.join(['const void *'] * len(structs)) or 'void'}",
            f"-DARGUMENTS={', '.join('&' + names[name] for name in structs)}",
            f"-DSETUP={setup}",
        )
        (tmp_path / "main.c").write_text(STUBS + CALLS)
        command = [compiler, "-no-pie", "-w", *defines, "main.c", "net.o", "-o", "net"]
        subprocess.run(command, cwd=tmp_path, check=True)
        ran = subprocess.run([tmp_path / "net"], capture_output=True, text=True, check=True)
        return structs, ran.stdout

    return call


def test_m8_ports_are_copied_and_the_given_device_runs(run: Run) -> None:
    assert run() == (("inputs", "outputs", "devices"), "npu_run(1, 1) 0 caller's bytes")


def test_m8_the_device_is_what_the_caller_says(run: Run) -> None:
    assert run(setup="devices.ordinal = 7;")[1].startswith("npu_run(7, 1) ")


def test_m8_the_status_of_the_accelerator_is_returned(run: Run) -> None:
    assert run(setup="fails = -5;")[1] == "npu_run(1, 1) -5 ", "nothing is copied out"


def test_c3_a_violation_ends_the_run_after_its_operator(run: Run) -> None:
    assert run(setup="violation = -9;")[1] == "npu_run(1, 1) -9 ", "nothing is copied out"


def test_m1_a_pool_that_is_elsewhere_is_refused_before_anything_runs(run: Run) -> None:
    keys = ["pools.shared.provided=application"]
    structs = ("inputs", "outputs", "pools", "devices")
    assert run(keys) == (structs, "npu_run(1, 1) 0 caller's bytes")
    assert run(keys, "pools.pointer = elsewhere;") == (structs, "-6 ")


def test_m7_u4_mapped_ports_are_not_copied(run: Run) -> None:
    mapped = ["interface.map_inputs=true", "interface.map_outputs=true"]
    assert run(mapped) == (("devices",), "npu_run(1, 1) 0 ")
    assert run(mapped[:1]) == (("outputs", "devices"), "npu_run(1, 1) 0 ")
    assert run(mapped[:1], 'strcpy((char *)&atoll_pool_shared[INPUT], "mapped");')[1].endswith(
        " 0 mapped"
    )
