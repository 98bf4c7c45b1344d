"""Machine code from loop programs: an object file for the host core, or LLVM IR to look at."""

from collections.abc import Mapping

from atoll.codegen.llvm_entry import emit_entry
from atoll.codegen.llvm_jit import NativeProgram
from atoll.codegen.llvm_kernels import emit_functions, overlapping_parameters
from atoll.codegen.llvm_target import core_machine, new_module, optimized
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.resolve.soc import ResolvedSoc

__all__ = ["NativeProgram", "dump", "emit_object"]

LEVEL = 3


def emit_object(
    module: IRModule, plan: MemoryPlan, soc: ResolvedSoc, commands: Mapping[str, bytes]
) -> bytes:
    """Compile a whole model for the host core of `soc`.

    Args:
        module: verified; every kernel-local buffer has a place.
        plan: where the entry's buffers are.
        soc: the chip.
        commands: command lists by buffer name.

    Returns:
        A relocatable ELF with ``<model>_run``, the kernels as local functions, and one section
        ``.atoll.pool.<pool>`` with the symbol ``atoll_pool_<pool>`` for each pool that holds
        constants. It needs the symbols of the other pools, ``memcpy``, ``memset``,
        ``atoll_trace_begin``, ``atoll_trace_end`` and ``atoll_npu_run``.

    Raises:
        ToolchainError: E040; no code can be made for the core.
    """
    machine = core_machine(soc.host_cpu.isa)
    target = new_module(module.name, machine)
    emit_functions(target, module.functions, "internal", overlapping_parameters(module))
    emit_entry(target, module, plan, soc, commands)
    code: bytes = machine.emit_object(optimized(target, machine, LEVEL))
    return code


def dump(module: IRModule, isa: str, level: int = LEVEL) -> str:
    """Return the kernels as LLVM IR for a core, optimised at -O`level`.

    Raises:
        ToolchainError: E040; no code can be made for `isa`.
    """
    machine = core_machine(isa)
    target = new_module(module.name, machine)
    emit_functions(target, module.functions, "", overlapping_parameters(module))
    return str(optimized(target, machine, level))
