# SPDX-License-Identifier: Apache-2.0
"""The function that gives a model's states their first bytes, as LLVM IR."""

from llvmlite import ir

from atoll.codegen.llvm_caches import CacheCalls
from atoll.codegen.llvm_heap import POINTER
from atoll.codegen.llvm_pools import I8, I32, Pools
from atoll.ir.tir import IRModule


def emit_reset(target: ir.Module, module: IRModule, pools: Pools, host: str) -> None:
    """Add ``void <model>_reset(void)`` if the model has states.

    Bytes of one value are set, others copied from a constant of the host's code.
    """
    entry = module.entry
    if not entry.states:
        return
    name = f"{module.name}_reset"
    reset = ir.Function(target, ir.FunctionType(ir.VoidType(), []), name)
    reset.section = f".text.{name}"
    reset.attributes.add("nounwind")
    builder = ir.IRBuilder(reset.append_basic_block("entry"))
    for allocation in entry.allocations:
        if allocation.initial is None:
            continue
        at, size = pools.address(allocation.buffer), I32(allocation.size)
        if len(set(allocation.initial)) == 1:
            value = I32(allocation.initial[0])
            builder.call(_external(target, "memset", POINTER, I32, I32), [at, value, size])
        else:
            data = ir.Constant(ir.ArrayType(I8, allocation.size), bytearray(allocation.initial))
            first = ir.GlobalVariable(target, data.type, f"{allocation.buffer}_initial")
            first.initializer, first.global_constant, first.linkage = data, True, "internal"
            builder.call(_external(target, "memcpy", POINTER, POINTER, I32), [at, first, size])
    CacheCalls(target, pools.address, entry, host).maintain(builder, entry.reset)
    builder.ret_void()


def _external(target: ir.Module, name: str, *arguments: ir.Type) -> ir.Function:
    if name in target.globals:
        return target.get_global(name)
    return ir.Function(target, ir.FunctionType(POINTER, arguments), name)
