# SPDX-License-Identifier: Apache-2.0
"""The run function of a model and the pools that its buffers lie in, as LLVM IR."""

from collections.abc import Mapping, Sequence
from functools import partial

from llvmlite import ir

from atoll.codegen.llvm_caches import CacheCalls
from atoll.codegen.llvm_heap import POINTER
from atoll.codegen.llvm_pools import I32, Pools
from atoll.codegen.llvm_reset import emit_reset
from atoll.codegen.run_arguments import RunArguments, run_arguments
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    CallSpread,
    CallStart,
    CoreCall,
    IRModule,
    KernelCall,
    Step,
)
from atoll.lower.joined_lists import join_lists
from atoll.memory.problem import MemoryPlan
from atoll.protocol import Status
from atoll.resolve.mailbox import core_command
from atoll.resolve.soc import Cpu, ResolvedSoc

VOID = ir.VoidType()


def emit_entry(
    target: ir.Module,
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    images: Mapping[str, bytes],
    position: int = 0,
) -> None:
    """Add pools and ``int32_t <model>_run(...)``; `position` is the model's in its image.

    The sections of the pools with `images` are empty; `pool_images.fill_pools` fills them.

    It takes pointers to the structs of `run_arguments`: arrays of pointers for inputs,
    outputs, pools and parameters, of ordinals for devices. The function refuses a pool that is not
    where the plan has it, copies each input to its place unless the caller's pointer is that place
    already, runs the steps, and copies the outputs back likewise. It returns 0, or at once what an
    accelerator or another core, or a kernel that found no block in a heap, failed with, or that a
    firewall kept something back during a step.

    With states there is ``void <model>_reset(void)`` too, which gives them their first bytes.
    """
    pools = Pools(target, module, plan, soc, images)
    run = _RunFunction(target, module, pools, soc, run_arguments(module, plan, soc), position)
    run.emit()
    emit_reset(target, module, pools, soc.host)


class _RunFunction:
    """Emits the run function."""

    def __init__(
        self,
        target: ir.Module,
        module: IRModule,
        pools: Pools,
        soc: ResolvedSoc,
        arguments: RunArguments,
        position: int,
    ) -> None:
        self._target = target
        self._entry = module.entry
        self._functions = module.by_name
        self._pools = pools
        self._soc = soc
        self._arguments = arguments
        self._position = position
        self._copy = self._external("memcpy", POINTER, POINTER, POINTER, I32)
        self._begin = self._external("atoll_trace_begin", VOID, I32, I32)
        self._end = self._external("atoll_trace_end", VOID, I32, I32)
        self._accelerate = self._external("atoll_npu_run", I32, I32, POINTER, I32)
        self._start = self._external("atoll_npu_start", I32, I32, POINTER, I32)
        self._wait = self._external("atoll_npu_wait", I32, I32)
        self._guard = self._external("atoll_guard_check", I32, I32)
        self._run_core = self._external("atoll_core_run", I32, I32, I32)
        self._start_core = self._external("atoll_core_start", I32, I32, I32)
        self._wait_core = self._external("atoll_core_wait", I32, I32)
        self._caches = CacheCalls(target, pools.address, self._entry, soc.host)
        self._npus = {npu.name: partial(self._ordinal, npu.name) for npu in soc.cached_npus}
        self._busy: list[str] = []
        structs = tuple(arguments.structs())
        signature = ir.FunctionType(I32, [POINTER] * len(structs))
        run = ir.Function(target, signature, f"{module.name}_run")
        self._structs = dict(zip(structs, run.args, strict=True))
        run.section = f".text.{run.name}"
        run.attributes.add("nounwind")
        self._run = run
        self._builder = ir.IRBuilder(run.append_basic_block("entry"))

    def emit(self) -> None:
        for name in self._arguments.pools:
            self._require("pools", name, self._pools.origin(name))
        for name in self._arguments.parameters:
            self._require("parameters", name, self._pools.first(name))
        for name in self._arguments.inputs:
            self._transfer("inputs", name, outward=False)
        for first, *further in join_lists(self._entry.steps, self._soc):
            self._step(first, further)
        self._caches.maintain(self._builder, self._entry.after, self._npus)
        for name in self._arguments.outputs:
            self._transfer("outputs", name, outward=True)
        builder, ended = self._builder, I32(0)
        builder.ret(builder.call(self._guard, [ended]) if self._arguments.outputs else ended)

    def _member(self, struct: str, name: str, kind: ir.Type) -> ir.Value:
        """Load a member of a struct of the caller."""
        number = getattr(self._arguments, struct).index(name)
        slot = self._builder.gep(self._structs[struct], [I32(number)], source_etype=kind)
        return self._builder.load(slot, typ=kind)

    def _require(self, struct: str, pool: str, planned: ir.Constant) -> None:
        """Return an error if the caller's pool is not where the plan has it."""
        builder, given = self._builder, self._member(struct, pool, POINTER)
        elsewhere = builder.icmp_unsigned("!=", given, planned)
        with builder.if_then(elsewhere, likely=False):
            builder.ret(I32(Status.ARGUMENT))

    def _transfer(self, struct: str, name: str, *, outward: bool) -> None:
        """Copy between the caller's buffer and the planned one where they differ."""
        builder, planned = self._builder, self._pools.address(name)
        given = self._member(struct, name, POINTER)
        with builder.if_then(builder.icmp_unsigned("!=", given, planned)):
            target, source = (given, planned) if outward else (planned, given)
            builder.call(self._copy, [target, source, I32(self._entry.sizes[name])])

    def _step(self, step: Step, further: Sequence[Step]) -> None:
        """Run a step; `further` ones are what its engine goes on with."""
        ordinal = I32(self._soc.device(step.runner).ordinal)
        last = further[-1] if further else step
        if not isinstance(step.action, AcceleratorWait):
            self._builder.call(self._begin, [ordinal, I32(step.number)])
        self._caches.maintain(self._builder, step.before, self._npus)
        match step.action:
            case KernelCall() if step.device != self._soc.host:
                self._check_call(self._run_core, self._ordinal(step.device), self._command(step))
            case CallStart():
                self._check_call(self._start_core, self._ordinal(step.device), self._command(step))
                self._busy.append(step.device)
            case KernelCall(function, arguments):
                self._call(step, function, arguments)
            case CallSpread(parts):
                self._spread(step, parts)
            case AcceleratorRun(device, commands, count):
                place = self._pools.address(commands)
                number = I32(count + bool(further))
                self._check_call(self._accelerate, self._ordinal(device), place, number)
            case AcceleratorStart(device, commands, count):
                place = self._pools.address(commands)
                self._check_call(self._start, self._ordinal(device), place, I32(count))
                self._busy.append(device)
            case AcceleratorWait(device):
                self._busy.remove(device)
                self._check_call(self._wait_for(device), self._ordinal(device))
        if not isinstance(step.action, (AcceleratorStart, CallStart)):
            self._check_call(self._guard, I32(0))
            self._builder.call(self._end, [ordinal, I32(last.number)])

    def _call(self, step: Step, function: str, arguments: tuple[str, ...]) -> None:
        """Run a kernel on the host."""
        pointers = self._pools.pointers(self._builder, step, arguments, self._functions[function])
        kernel = self._target.get_global(function)
        if kernel.return_value.type == I32:
            self._check_call(kernel, *pointers)
        else:
            self._builder.call(kernel, pointers)

    def _spread(self, step: Step, parts: tuple[CoreCall, ...]) -> None:
        """Start all parts on other cores, run the host's, and wait for the others."""
        others = [part.device for part in parts if part.device != self._soc.host]
        for device in others:
            self._check_call(self._start_core, self._ordinal(device), self._command(step))
            self._busy.append(device)
        for part in parts:
            if part.device == self._soc.host:
                self._call(step, part.function, part.arguments)
        for device in others:
            self._busy.remove(device)
            self._check_call(self._wait_core, self._ordinal(device))

    def _command(self, step: Step) -> ir.Constant:
        return I32(core_command(self._position, step.number))

    def _wait_for(self, device: str) -> ir.Function:
        return self._wait_core if isinstance(self._soc.device(device), Cpu) else self._wait

    def _ordinal(self, device: str) -> ir.Value:
        return self._member("devices", device, I32)

    def _check_call(self, function: ir.Function, *arguments: ir.Value) -> None:
        """Call `function`; if it fails, wait for what still runs and return why."""
        builder = self._builder
        status = builder.call(function, arguments)
        with builder.if_then(builder.icmp_unsigned("!=", status, I32(0)), likely=False):
            for device in self._busy:
                builder.call(self._wait_for(device), [self._ordinal(device)])
            builder.ret(builder.call(self._guard, [status]))

    def _external(self, name: str, result: ir.Type, *arguments: ir.Type) -> ir.Function:
        return ir.Function(self._target, ir.FunctionType(result, arguments), name)
