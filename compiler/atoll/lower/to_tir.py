# SPDX-License-Identifier: Apache-2.0
"""From the placed graph to the loop program: one step for each operator."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from atoll.ir.graph import Graph, Operator, Tensor
from atoll.ir.job import Job
from atoll.ir.tir import (
    AcceleratorRun,
    Action,
    Allocate,
    BufferPart,
    CallSpread,
    Constant,
    CoreCall,
    Entry,
    IRModule,
    KernelCall,
    Lowered,
    PrimFunc,
    SafeOverlap,
    Step,
)
from atoll.ir.walk import callees
from atoll.lower.constant_pools import constant_pools
from atoll.lower.unit_kernels import unit_kernel
from atoll.ops.kernel_builder import ELEMENT_TYPES
from atoll.ops.loops import fixed_point_loops
from atoll.ops.loops.parallel_loops import parallel_loop, part_of
from atoll.ops.registry import kind_of
from atoll.reach.candidates import candidate_pools
from atoll.resolve.se_scope import target_of
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.resolve.storage_scope import IN_WORKSPACE

BUFFER_ALIGNMENT = 16


def lower_graph(graph: Graph, soc: ResolvedSoc, jobs: Mapping[str, Job]) -> IRModule:
    """Lower every operator: to a kernel on its core, or to a run of its job.

    Args:
        graph: placed.
        soc: the chip.
        jobs: by operator name, for every operator on an accelerator.

    Raises:
        PlacementError: E060, E061; no pool can hold a constant that lowering makes.
    """
    packed = {
        graph.storage(name): jobs[op.name].alignment
        for op in graph.operators
        if op.name in jobs
        for name in op.packed
    }
    lowering = _Lowering(graph, soc, packed)
    for number, op in enumerate(graph.operators):
        if op.name in jobs:
            lowering.accelerate(number, op, jobs[op.name])
        else:
            (core,) = (each for each in soc.cpus if each.name == op.device)
            aimed = core.for_target(op.target)
            own = None if op.helpers else unit_kernel(op, graph, aimed)
            lowered = own or kind_of(op).lower_for(op, graph, aimed.arithmetic)
            if op.target:
                lowered = _aim(lowered, str(target_of(core, op.target)))
            lowering.call(number, op, lowered, apart=bool(op.helpers or own))
    return lowering.module()


def with_callees(
    kernels: Iterable[PrimFunc], operators: Iterable[PrimFunc] = ()
) -> tuple[PrimFunc, ...]:
    """Put the scalar functions that kernels need before them: shared ones and operators' own."""
    kernels = tuple(kernels)
    needed = {name for kernel in kernels for name in callees(kernel)}
    library: list[PrimFunc] = []
    for function in reversed((*fixed_point_loops.LIBRARY, *operators)):
        if function.name in needed:
            needed.update(callees(function))
            library.insert(0, function)
    return (*library, *kernels)


def without_overlaps(module: IRModule, operators: Container[str]) -> IRModule:
    """Return the module with the results of some operators apart from their operands."""
    steps = tuple(
        replace(step, overlaps=()) if step.operator in operators else step
        for step in module.entry.steps
    )
    return replace(module, entry=replace(module.entry, steps=steps))


def _aim(lowered: Lowered, target: str) -> Lowered:
    """Have the kernel of an operator made for a target of its core."""
    return replace(lowered, function=replace(lowered.function, target=target))


class _Lowering:
    """Collects kernels, buffers and steps; identical kernels are kept once."""

    def __init__(self, graph: Graph, soc: ResolvedSoc, packed: Mapping[str, int]) -> None:
        """Begin; `packed` has the alignment of constants that lie in private memory."""
        self._packed = packed
        self._graph = graph
        self._soc = soc
        self._pools = candidate_pools(graph, soc)
        self._kernels: dict[PrimFunc, PrimFunc] = {}
        self._library: dict[PrimFunc, None] = {}
        self._allocations: dict[str, Allocate] = {}
        self._constants: dict[str, Constant] = {}
        self._parts: dict[str, BufferPart] = {}
        self._steps: list[Step] = []
        for name in (*graph.filled, *graph.outputs):
            self._touch(graph.tensor(name), (soc.host,))

    def call(self, number: int, op: Operator, lowered: Lowered, *, apart: bool) -> None:
        """Add a step that runs a kernel, whose result is `apart` from its operands."""
        made = {tensor.name: tensor for tensor in lowered.constants}
        names = tuple(
            name if name in made else self._graph.buffer(name) for name in lowered.arguments
        )
        for name in names:
            self._touch(made.get(name) or self._graph.tensor(name), op.devices)
        self._library |= dict.fromkeys(lowered.library)
        used = list(zip(names, lowered.function.buffers, strict=True))
        self._steps.append(
            Step(
                operator=op.name,
                number=number,
                device=op.device,
                reads=_unique(name for name, buffer in used if buffer.direction.reads),
                writes=_unique(name for name, buffer in used if buffer.direction.writes),
                action=self._action(op, lowered.function, names),
                overlaps=() if apart else self._safe(op),
            )
        )

    def _action(self, op: Operator, kernel: PrimFunc, names: tuple[str, ...]) -> Action:
        """Call a kernel, or parts of it on a core each."""
        if not op.helpers:
            return KernelCall(self._keep_kernel(kernel), names)
        parts = len(op.devices)
        loop = parallel_loop(kernel, kind_of(op).parallel, parts)
        assert loop is not None, f"{op.name} is spread over {parts} cores"
        return CallSpread(
            tuple(
                CoreCall(device, self._keep_kernel(part_of(kernel, loop, number, parts)), names)
                for number, device in enumerate(op.devices)
            )
        )

    def _keep_kernel(self, kernel: PrimFunc) -> str:
        """Return the name of the kernel that does this."""
        return self._kernels.setdefault(replace(kernel, name=""), kernel).name

    def accelerate(self, number: int, op: Operator, job: Job) -> None:
        """Add a step that runs a job's commands; their bytes come after memory planning.

        The host moves the data of a device without a port to memory, and reads the records of one
        that it drives by registers.
        """
        engine = self._soc.device(job.device)
        assert isinstance(engine, Engine)
        mover = self._soc.host if engine.spec.fed else job.device
        driver = self._soc.host if engine.spec.program else job.device
        reads, writes = (tuple(map(self._graph.buffer, each)) for each in (job.reads, job.writes))
        for name in (*reads, *writes):
            self._touch(self._graph.tensor(name), (mover,))
        for tensor in job.constants:
            self._touch(tensor, (mover,), job.alignment)
        size = job.commands_size + job.link_size
        self._constants[job.commands] = Constant(
            name=job.commands,
            size=size,
            align=job.commands_alignment,
            pools=constant_pools(self._soc, job.commands, size, driver),
        )
        constants = (*(tensor.name for tensor in job.constants), job.commands)
        self._steps.append(
            Step(
                operator=op.name,
                number=number,
                device=mover,
                reads=_unique((*reads, *constants)),
                writes=_unique(writes),
                action=AcceleratorRun(job.device, job.commands, job.commands_count),
                overlaps=tuple(
                    SafeOverlap(
                        self._graph.buffer(each.written),
                        self._graph.buffer(each.read),
                        each.distance,
                    )
                    for each in job.overlaps
                    if self._graph.tensor(each.read).data is None
                ),
                record=job.commands if driver != mover else "",
                driver=driver if engine.spec.program else "",
            )
        )

    def module(self) -> IRModule:
        """Return what was collected."""
        entry = Entry(
            inputs=self._graph.inputs,
            outputs=self._graph.outputs,
            allocations=tuple(self._allocations.values()),
            constants=tuple(self._constants.values()),
            steps=tuple(self._steps),
            parts=tuple(self._parts.values()),
        )
        functions = with_callees(self._kernels.values(), self._library)
        return IRModule(self._graph.name, functions, entry)

    def _safe(self, op: Operator) -> tuple[SafeOverlap, ...]:
        """Say how far the first output of a kernel may lie over the activations that it reads."""
        distances: dict[str, int | None] = {}
        for name, distance in zip(op.inputs, kind_of(op).overlap(op, self._graph), strict=True):
            if name and self._graph.tensor(name).data is None:
                read = self._graph.buffer(name)
                before = distances.get(read, 0)
                apart = distance is None or before is None
                distances[read] = None if apart else max(distance or 0, before or 0)
        written = self._graph.buffer(op.outputs[0])
        return tuple(
            SafeOverlap(written, read, distance)
            for read, distance in distances.items()
            if distance is not None
        )

    def _touch(
        self, tensor: Tensor, devices: tuple[str, ...], align: int = BUFFER_ALIGNMENT
    ) -> None:
        """Make sure that a tensor has a buffer."""
        if tensor.name in self._allocations or tensor.name in self._constants:
            return
        if tensor.view:
            self._touch(self._graph.tensor(tensor.view), devices)
            part = BufferPart(
                name=tensor.name, buffer=tensor.view, offset=tensor.offset, size=tensor.size
            )
            self._parts[tensor.name] = part
            return
        if tensor.data is None:
            self._allocations[tensor.name] = Allocate(
                buffer=tensor.name,
                type=ELEMENT_TYPES[tensor.dtype],
                elements=tensor.stored,
                align=max(align, self._packed.get(tensor.name, 1)),
                scope=IN_WORKSPACE,
                pools=self._pools[tensor.name],
                initial=tensor.initial,
            )
            return
        pools = self._pools.get(tensor.name)
        self._constants[tensor.name] = Constant(
            name=tensor.name,
            size=tensor.size,
            align=align,
            pools=pools or constant_pools(self._soc, tensor.name, tensor.size, *devices),
            data=tensor.data,
        )


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
