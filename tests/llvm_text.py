# SPDX-License-Identifier: Apache-2.0
"""LLVM IR to look at."""

from atoll.codegen.core_steps import overlapping_parameters
from atoll.codegen.llvm import LEVEL
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_machine import core_machine, new_module, optimize
from atoll.ir.tir import IRModule
from atoll.isa.find import instruction_set


def dump(module: IRModule, isa: str, level: int = LEVEL, *, branches: bool = False) -> str:
    """Return the kernels as LLVM IR for a core, optimised at -O`level`; see `emit_functions`."""
    machine = core_machine(instruction_set(isa).llvm)
    target = new_module(module.name, machine)
    overlapping = overlapping_parameters(module)
    emit_functions(target, module.functions, "", overlapping, branches=branches)
    return str(optimize(target, machine, level))
