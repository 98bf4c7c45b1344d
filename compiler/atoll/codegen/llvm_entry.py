"""The run function of a model and the pools that its buffers lie in, as LLVM IR."""

from collections.abc import Mapping

from llvmlite import ir

from atoll.codegen.llvm_kernels import POINTER
from atoll.ir.tir import (
    AcceleratorRun,
    AcceleratorStart,
    AcceleratorWait,
    IRModule,
    KernelCall,
    Step,
)
from atoll.memory.problem import MemoryPlan, PoolSpace
from atoll.memory.run_arguments import RunArguments, run_arguments
from atoll.resolve.soc import ResolvedSoc

I8, I32 = ir.IntType(8), ir.IntType(32)
VOID = ir.VoidType()
MODEL_ALIGNMENT = 64  # of constants behind other models' constants
WRONG_ARGUMENT = -6  # ATOLL_ERROR_ARGUMENT of atoll_status.h


def emit_entry(
    target: ir.Module,
    module: IRModule,
    plan: MemoryPlan,
    soc: ResolvedSoc,
    commands: Mapping[str, bytes],
) -> None:
    """Add pools and ``int32_t <model>_run(...)``.

    It takes pointers to the structs of `atoll.memory.run_arguments`: arrays of pointers for inputs,
    outputs and pools, of ordinals for devices. The function refuses a pool that is not where the
    plan has it, copies each input to its place unless the caller's pointer is that place already,
    runs the steps, and copies the outputs back likewise. It returns 0, or at once what an
    accelerator failed with, or that a firewall kept something back during a step.
    """
    pools = _Pools(target, module, plan, soc, commands)
    _RunFunction(target, module, pools, soc, run_arguments(module, plan, soc)).emit()


class _Pools:
    """One symbol for each pool; buffers are offsets from it."""

    def __init__(
        self,
        target: ir.Module,
        module: IRModule,
        plan: MemoryPlan,
        soc: ResolvedSoc,
        commands: Mapping[str, bytes],
    ) -> None:
        self._plan = plan
        self._symbols: dict[str, ir.GlobalVariable] = {}
        images = pool_images(module, plan, commands)
        for space in plan.problem.pools:
            image = images.get(space.name)
            size = space.size if image is None else len(image)
            name = pool_symbol(module.name, space, soc)
            symbol = ir.GlobalVariable(target, ir.ArrayType(I8, size), name)
            least = space.alignment if name.startswith("atoll_") else MODEL_ALIGNMENT
            symbol.align = max([least, space.alignment, *self._alignments(space.name)])
            self._symbols[space.name] = symbol
            if image is not None:
                symbol.initializer = ir.Constant(symbol.value_type, bytearray(image))
                symbol.section = f".atoll.pool.{space.name}"
                memory = soc.memory(soc.pool(space.name).region.memory)
                symbol.global_constant = memory.kind == "rom"

    def _alignments(self, pool: str) -> list[int]:
        return [
            buffer.alignment
            for buffer in self._plan.problem.buffers
            if self._plan.placements[buffer.name].pool == pool
        ]

    def address(self, buffer: str) -> ir.Constant:
        """Return where `buffer` is, as an offset from its pool's symbol."""
        placement = self._plan.placements[buffer]
        return self._symbols[placement.pool].gep([I32(0), I32(placement.offset)])

    def origin(self, pool: str) -> ir.GlobalVariable:
        """Return where `pool` begins."""
        return self._symbols[pool]


def pool_symbol(model: str, space: PoolSpace, soc: ResolvedSoc) -> str:
    """Name the first byte of a pool for a model, which may come after other models' constants."""
    behind = space.origin != soc.pool(space.name).region.origin
    return f"{model}_pool_{space.name}" if behind else f"atoll_pool_{space.name}"


def pool_images(
    module: IRModule, plan: MemoryPlan, commands: Mapping[str, bytes]
) -> dict[str, bytes]:
    """Return the bytes of every pool that holds constants, up to its last buffer, gaps zero.

    Args:
        module: the program.
        plan: where its buffers are.
        commands: bytes of the constants that have none, by name.
    """
    images: dict[str, bytearray] = {}
    for constant in module.entry.constants:
        placement = plan.placements[constant.name]
        data = commands[constant.name] if constant.data is None else constant.data
        assert len(data) == constant.size, f"{constant.name}: {len(data)} of {constant.size} bytes"
        image = images.setdefault(placement.pool, bytearray(plan.use[placement.pool].used))
        image[placement.offset : placement.offset + constant.size] = data
    return {pool: bytes(image) for pool, image in images.items()}


class _RunFunction:
    """Emits the run function."""

    def __init__(
        self,
        target: ir.Module,
        module: IRModule,
        pools: _Pools,
        soc: ResolvedSoc,
        arguments: RunArguments,
    ) -> None:
        self._target = target
        self._entry = module.entry
        self._pools = pools
        self._soc = soc
        self._arguments = arguments
        self._copy = self._external("memcpy", POINTER, POINTER, POINTER, I32)
        self._begin = self._external("atoll_trace_begin", VOID, I32, I32)
        self._end = self._external("atoll_trace_end", VOID, I32, I32)
        self._accelerate = self._external("atoll_npu_run", I32, I32, POINTER, I32)
        self._start = self._external("atoll_npu_start", I32, I32, POINTER, I32)
        self._wait = self._external("atoll_npu_wait", I32, I32)
        self._guard = self._external("atoll_guard_check", I32, I32)
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
            self._require(name)
        for name in self._arguments.inputs:
            self._transfer("inputs", name, outward=False)
        for step in self._entry.steps:
            self._step(step)
        for name in self._arguments.outputs:
            self._transfer("outputs", name, outward=True)
        self._builder.ret(I32(0))

    def _member(self, struct: str, name: str, kind: ir.Type) -> ir.Value:
        """Load a member of a struct of the caller."""
        number = getattr(self._arguments, struct).index(name)
        slot = self._builder.gep(self._structs[struct], [I32(number)], source_etype=kind)
        return self._builder.load(slot, typ=kind)

    def _require(self, pool: str) -> None:
        """Return an error if the caller's pool is not where the plan has it."""
        builder, given = self._builder, self._member("pools", pool, POINTER)
        elsewhere = builder.icmp_unsigned("!=", given, self._pools.origin(pool))
        with builder.if_then(elsewhere, likely=False):
            builder.ret(I32(WRONG_ARGUMENT))

    def _transfer(self, struct: str, name: str, *, outward: bool) -> None:
        """Copy between the caller's buffer and the planned one where they differ."""
        builder, planned = self._builder, self._pools.address(name)
        given = self._member(struct, name, POINTER)
        with builder.if_then(builder.icmp_unsigned("!=", given, planned)):
            target, source = (given, planned) if outward else (planned, given)
            builder.call(self._copy, [target, source, I32(self._entry.sizes[name])])

    def _step(self, step: Step) -> None:
        event = [I32(self._soc.device(step.device).ordinal), I32(step.number)]
        if not isinstance(step.action, AcceleratorWait):
            self._builder.call(self._begin, event)
        match step.action:
            case KernelCall(function, arguments):
                pointers = [self._pools.address(name) for name in arguments]
                self._builder.call(self._target.get_global(function), pointers)
            case AcceleratorRun(device, commands, count):
                place = self._pools.address(commands)
                self._checked(self._accelerate, self._ordinal(device), place, I32(count))
            case AcceleratorStart(device, commands, count):
                place = self._pools.address(commands)
                self._checked(self._start, self._ordinal(device), place, I32(count))
                self._busy.append(device)
            case AcceleratorWait(device):
                self._busy.remove(device)
                self._checked(self._wait, self._ordinal(device))
        if not isinstance(step.action, AcceleratorStart):
            self._checked(self._guard, I32(0))
            self._builder.call(self._end, event)

    def _ordinal(self, device: str) -> ir.Value:
        return self._member("devices", device, I32)

    def _checked(self, function: ir.Function, *arguments: ir.Value) -> None:
        """Call `function`; if it fails, wait for what still runs and return why."""
        builder = self._builder
        status = builder.call(function, arguments)
        with builder.if_then(builder.icmp_unsigned("!=", status, I32(0)), likely=False):
            for device in self._busy:
                builder.call(self._wait, [self._ordinal(device)])
            builder.ret(builder.call(self._guard, [status]))

    def _external(self, name: str, result: ir.Type, *arguments: ir.Type) -> ir.Function:
        return ir.Function(self._target, ir.FunctionType(result, arguments), name)
