# SPDX-License-Identifier: Apache-2.0
"""The dispatcher of another core than the host: run one step of a model, by its number."""

from llvmlite import ir

from atoll.codegen.core_steps import calls_on
from atoll.codegen.llvm_caches import CacheCalls
from atoll.codegen.llvm_pools import I32, ForeignPools
from atoll.ir.tir import IRModule
from atoll.memory.problem import MemoryPlan
from atoll.protocol import Status
from atoll.resolve.mailbox import core_command, step_function
from atoll.resolve.soc import ResolvedSoc


def emit_steps(
    target: ir.Module,
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    core: str,
    position: int,
) -> None:
    """Add ``int32_t <model>_<core>_step(int32_t command)``; `position` is the model's.

    It calls the kernel of the step that `core_command` means, on the planned buffers, and returns
    0; what is no command of the model for the core is refused, another model's too. Every call is
    direct and the numbers are compared one by one, which optimisation must not turn into a table of
    addresses: the stack of the linked image is bounded from its code.
    """
    name = step_function(module.name, core)
    dispatch = ir.Function(target, ir.FunctionType(I32, [I32]), name)
    dispatch.section = f".text.{name}"
    for attribute in ("nounwind", "noinline", "optnone"):
        dispatch.attributes.add(attribute)
    builder = ir.IRBuilder(dispatch.append_basic_block("entry"))
    pools = ForeignPools(target, plan, soc, core)
    caches = CacheCalls(target, pools.address, module.entry, core)
    for step, call in calls_on(module, core):
        wanted = I32(core_command(position, step.number))
        with builder.if_then(builder.icmp_unsigned("==", dispatch.args[0], wanted)):
            pointers = pools.pointers(builder, step, call.arguments, module.by_name[call.function])
            caches.maintain(builder, step.before)
            builder.call(target.get_global(call.function), pointers)
            caches.maintain(builder, step.after)
            builder.ret(I32(0))
    builder.ret(I32(Status.ARGUMENT))
