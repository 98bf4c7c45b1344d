# SPDX-License-Identifier: Apache-2.0
"""What LLVM made is freed: a process may compile any number of modules."""

import subprocess
import sys
from pathlib import Path

import pytest
from llvmlite import ir

from atoll.codegen import llvm_machine
from atoll.codegen.llvm_machine import host_machine, new_module, optimize

STATUS = Path("/proc/self/statm")
MODULES = 100
GREATEST_GROWTH = 2_000_000


def main() -> None:
    """Print by how many bytes this process grows, with ``leaking`` if nothing is freed."""
    if "leaking" in sys.argv:
        llvm_machine._free = lambda manager: None
    machine = host_machine()
    module = new_module("m", machine)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), "f")
    ir.IRBuilder(function.append_basic_block()).ret_void()
    optimize(module, machine, 3)
    before = pages()
    for _ in range(MODULES):
        optimize(module, machine, 3)
    print((pages() - before) * 4096)


def pages() -> int:
    return int(STATUS.read_text().split()[1])


def growth(*arguments: str) -> int:
    command = [sys.executable, __file__, *arguments]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not STATUS.exists(), reason="needs Linux")
def test_pass_managers_are_freed() -> None:
    """Processes of their own have no memory that others freed before."""
    assert growth() < GREATEST_GROWTH
    assert growth("leaking") > GREATEST_GROWTH, "llvmlite frees them now; _free can go"


if __name__ == "__main__":
    main()
