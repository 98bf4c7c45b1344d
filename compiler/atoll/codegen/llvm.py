# SPDX-License-Identifier: Apache-2.0
"""Machine code from loop programs: an object file for each core."""

from collections.abc import Iterable, Mapping

from llvmlite import ir

from atoll.codegen.apart import Apart, together_on
from atoll.codegen.code_ways import unit_of, way_of
from atoll.codegen.commands import link_lists
from atoll.codegen.core_steps import overlapping_parameters
from atoll.codegen.kept_code import compile_cached
from atoll.codegen.llvm_entry import emit_entry
from atoll.codegen.llvm_kernels import emit_functions
from atoll.codegen.llvm_steps import emit_steps
from atoll.codegen.parameter_record import SECTION, parameter_record
from atoll.codegen.pool_images import fill_pools, pool_images, split_images
from atoll.ir.tir import IRModule, PrimFunc
from atoll.ir.walk import externs
from atoll.isa.code_target import Generator
from atoll.memory.problem import MemoryPlan
from atoll.resolve.c_functions import with_functions
from atoll.resolve.soc import Cpu, ResolvedSoc

LEVEL = 3


def emit_objects(
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    commands: Mapping[str, bytes],
    position: int = 0,
) -> dict[str, bytes]:
    """Compile a whole model: an object for every core that has an image, by name, host first.

    Raises:
        ToolchainError: E040; no code can be made for a core.
    """
    host = emit_object(module, plan, soc, commands, position)
    others = {
        core.name: emit_core_object(module, plan, soc, core, position) for core in soc.remote_cpus
    }
    return {soc.host: host} | others


def emit_object(
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    commands: Mapping[str, bytes],
    position: int = 0,
) -> bytes:
    """Compile what the host core of `soc` has of a model.

    Args:
        module: verified; every kernel-local buffer has a place.
        plan: where the entry's buffers are.
        soc: the chip.
        commands: command lists by buffer name, of `atoll.codegen.commands.pad_lists`.
        position: of the model among those of the firmware, from 0.

    Returns:
        A relocatable ELF with ``<model>_run``, the host's kernels as local functions, and one
        section ``.atoll.pool.<pool>`` with the symbol ``atoll_pool_<pool>`` for each pool that
        holds constants. It needs the symbols of the other pools, ``memcpy``, ``memset``,
        ``atoll_trace_begin``, ``atoll_trace_end``, and ``atoll_npu_run`` and ``atoll_core_run``
        or their halves if other devices take part.

    Raises:
        ToolchainError: E040; no code can be made for the core.
    """
    target = ir.Module(module.name)
    called = _emit_core_functions(target, module, soc.host_cpu)
    every = pool_images(module, plan, link_lists(commands, module, plan, soc))
    images, given = split_images(every, soc)
    if record := parameter_record(module, plan, soc, given):
        _emit_record(target, record)
    emit_entry(target, module, plan, soc, images, position)
    return fill_pools(_machine_code(target, soc.host_cpu, called), images)


def emit_core_object(
    module: IRModule, plan: MemoryPlan, soc: ResolvedSoc, core: Cpu, position: int = 0
) -> bytes:
    """Compile what another core than the host has of a model; `position` is the model's.

    Returns:
        A relocatable ELF with ``<model>_<core>_step`` and the core's kernels as local functions.
        It needs the symbols ``atoll_pool_<pool>``, ``memcpy`` and ``memset``.

    Raises:
        ToolchainError: E040; no code can be made for the core.
    """
    target = ir.Module(module.name)
    called = _emit_core_functions(target, module, core)
    emit_steps(target, module, plan, soc, core.name, position)
    return _machine_code(target, core, called)


def emit_apart(module: IRModule, apart: Apart, core: Cpu) -> bytes:
    """Compile kernels of `core` that are made apart.

    Returns:
        A relocatable ELF with the kernels as global functions.

    Raises:
        ToolchainError: E040; no code can be made for the core.
    """
    target = ir.Module(f"{module.name}_{apart.target.name}")
    _emit(target, module, apart.functions, core)
    return _machine_code(target, apart.core, apart.functions)


def _emit_record(target: ir.Module, record: bytes) -> None:
    data = ir.Constant(ir.ArrayType(ir.IntType(8), len(record)), bytearray(record))
    symbol = ir.GlobalVariable(target, data.type, f"{target.name}_parameter_record")
    symbol.initializer, symbol.global_constant, symbol.section = data, True, SECTION


def _emit_core_functions(target: ir.Module, module: IRModule, core: Cpu) -> tuple[PrimFunc, ...]:
    """Emit what is made together of a core, and return it."""
    functions, apart = together_on(module, core, Generator.LLVM)
    _emit(target, module, functions, core, "internal", apart)
    return functions


def _emit(
    target: ir.Module,
    module: IRModule,
    functions: Iterable[PrimFunc],
    core: Cpu,
    linkage: str = "",
    apart: Iterable[PrimFunc] = (),
) -> None:
    target.triple = core.instructions.llvm.triple
    emit_functions(
        target,
        functions,
        linkage,
        overlapping_parameters(module),
        core.vectors,
        unit_of(core),
        branches=not core.instructions.selects,
        ways={each.name: way for each in functions if (way := way_of(each, core))},
        apart=apart,
    )


def _machine_code(target: ir.Module, core: Cpu, functions: Iterable[PrimFunc]) -> bytes:
    """Compile `target`, with the functions of C that its kernels call."""
    instructions = core.instructions

    def generate() -> bytes:
        if core.unit:
            from atoll.codegen.zig_machine import machine_code_by_zig

            return machine_code_by_zig(target, instructions, LEVEL)
        from atoll.codegen.llvm_machine import machine_code  # slow to import

        return machine_code(target, instructions.llvm, LEVEL)

    code = compile_cached(target, repr(instructions.llvm), LEVEL, generate)
    called = externs(functions)
    return with_functions(code, called, target.name, instructions) if called else code
