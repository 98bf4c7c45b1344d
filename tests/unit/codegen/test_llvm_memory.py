"""What LLVM made is freed: a process may compile any number of modules."""

from pathlib import Path

import pytest
from llvmlite import ir

from atoll.codegen import llvm_machine
from atoll.codegen.llvm_machine import host_machine, new_module, optimized

STATUS = Path("/proc/self/statm")
MODULES = 100
GREATEST_GROWTH = 2_000_000


def pages() -> int:
    return int(STATUS.read_text().split()[1])


def growth() -> int:
    """Return bytes that the process takes more after some modules."""
    machine = host_machine()
    module = new_module("m", machine)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "f")
    ir.IRBuilder(function.append_basic_block()).ret_void()
    optimized(module, machine, 3)
    before = pages()
    for _ in range(MODULES):
        optimized(module, machine, 3)
    return (pages() - before) * 4096


@pytest.mark.skipif(not STATUS.exists(), reason="needs Linux")
def test_pass_managers_are_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert growth() < GREATEST_GROWTH
    monkeypatch.setattr(llvm_machine, "_free", lambda manager: None)
    assert growth() > GREATEST_GROWTH, "llvmlite frees them now; _free can go"
