"""The compiler from top to bottom: each stage is one call, each arrow one value."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from atoll import plugins
from atoll.bsp.firmware import build_firmware
from atoll.bsp.interface import ELF_NAME, Firmware, ModelInterface, PoolShare, Port
from atoll.checksums import write_checksums
from atoll.codegen.llvm import emit_object
from atoll.errors import PlanError, UsageError
from atoll.files import new_folder
from atoll.frontend.tflite import load_tflite
from atoll.ir.graph import Graph
from atoll.ir.narrowing import verify_narrowing
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.lower.accelerator import CommandEmitter, Job
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import lower_graph
from atoll.memory.build_problem import build_problem
from atoll.memory.contract import Contract, contract_of
from atoll.memory.first_fit import plan_first_fit
from atoll.memory.frames import FRAME_ALLOWANCE
from atoll.memory.plan_text import plan_json
from atoll.memory.problem import MemoryPlan
from atoll.memory.stack_bound import RUNTIME_ALLOWANCE, check_stack
from atoll.place.candidates import WORKSPACE_ROLES, candidate_pools, pools_for
from atoll.place.copy_engines import assign_copies
from atoll.place.device_copies import insert_copies
from atoll.place.partition import Decision, decide, partition
from atoll.resolve.export import to_json, without_positions
from atoll.resolve.soc import Access, Engine, ResolvedSoc

MARKER = "build.json"
RESOLVED = "resolved.json"
FORMAT = 1
STAGES = ("frontend", "place", "lower", "specialize-storage", "overlap-runs", "memory")

Observer = Callable[[str, object], None]
"""Called with the name of a stage and its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """What a user may choose.

    Attributes:
        accelerators: False compiles every operator for the host.
    """

    accelerators: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A network planned for a chip: everything but machine code.

    Attributes:
        source: bytes of the model file.
        graph: the placed graph; its operator order is the order of execution.
        decisions: why each operator of the network runs where it runs.
        jobs: what accelerators were asked to run, by operator.
        commands: bytes of each command list, by buffer.
    """

    soc: ResolvedSoc
    options: BuildOptions
    source: bytes
    graph: Graph
    decisions: tuple[Decision, ...]
    module: IRModule
    jobs: Mapping[str, Job]
    plan: MemoryPlan
    commands: Mapping[str, bytes]
    contract: Contract


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildTree:
    """A build folder on disk."""

    folder: Path
    firmware: Firmware


def compile_file(
    soc: ResolvedSoc,
    model: Path,
    options: BuildOptions | None = None,
    observe: Observer = lambda stage, result: None,
) -> Compiled:
    """Take a model file to a complete, checked plan on `soc`.

    Raises:
        ModelError: the file is damaged or holds what Atoll does not support.
        PlacementError: a tensor cannot be where its devices reach it.
        PlanError: a pool or a stack is too small.
    """
    options = options or BuildOptions()
    network = load_tflite(model)
    observe("frontend", network)
    decisions = decide(network, soc, accelerators=options.accelerators)
    graph = insert_copies(partition(network, soc, accelerators=options.accelerators), soc)
    if options.accelerators:
        graph = assign_copies(graph, soc)
    observe("place", graph)
    return _plan(soc, options, model.read_bytes(), graph, decisions, observe)


def _plan(
    soc: ResolvedSoc,
    options: BuildOptions,
    source: bytes,
    graph: Graph,
    decisions: tuple[Decision, ...],
    observe: Observer,
) -> Compiled:
    jobs = _jobs(graph, soc)
    module = lower_graph(graph, soc, jobs, candidate_pools(graph, soc))
    verify(module)
    observe("lower", module)
    module = _specialized(module, soc)
    observe("specialize-storage", module)
    check_stack(module, soc)
    module, plan = _scheduled(module, soc)
    observe("overlap-runs", module)
    observe("memory", json.dumps(plan_json(plan), indent=2))
    return Compiled(
        soc=soc,
        options=options,
        source=source,
        graph=graph,
        decisions=decisions,
        module=module,
        plan=plan,
        jobs=jobs,
        commands=_commands(graph, soc, jobs, plan),
        contract=contract_of(module, plan),
    )


def with_plan(compiled: Compiled, plan: MemoryPlan) -> Compiled:
    """Return the same program on another plan; nothing checks that the plan is right."""
    return replace(
        compiled,
        plan=plan,
        commands=_commands(compiled.graph, compiled.soc, compiled.jobs, plan),
        contract=contract_of(compiled.module, plan),
    )


def _specialized(module: IRModule, soc: ResolvedSoc) -> IRModule:
    host = soc.host_cpu
    taken = host.interrupt_reserve + RUNTIME_ALLOWANCE + FRAME_ALLOWANCE
    specialize = SpecializeStorage(
        max_alloca=host.max_stack_alloca_size.value,
        max_stack=max(0, host.max_stack_size.value - taken),
        pools=pools_for(soc, {soc.host: Access.WRITE}, WORKSPACE_ROLES, 1),
    )
    narrowed = specialize.run(module)
    verify(narrowed)
    verify_narrowing(module, narrowed)
    return narrowed


def _scheduled(module: IRModule, soc: ResolvedSoc) -> tuple[IRModule, MemoryPlan]:
    """Let DMA engines work beside other devices, unless only one at a time fits the pools."""
    overlap = OverlapRuns(devices=frozenset(dma.name for dma in soc.dmas if dma.spec.asynchronous))
    overlapped = overlap.run(module)
    verify(overlapped)
    try:
        return overlapped, _planned(overlapped, soc)
    except PlanError:
        if overlapped == module:
            raise
    return module, _planned(module, soc)


def _planned(module: IRModule, soc: ResolvedSoc) -> MemoryPlan:
    steps = [step.operator for step in module.entry.steps]
    return plan_first_fit(build_problem(module, soc), steps)


def _jobs(graph: Graph, soc: ResolvedSoc) -> Mapping[str, Job]:
    return {
        op.name: _emitter(npu).prepare(op, graph, npu)
        for op in graph.operators
        if isinstance(npu := soc.device(op.device), Engine)
    }


def _commands(
    graph: Graph, soc: ResolvedSoc, jobs: Mapping[str, Job], plan: MemoryPlan
) -> Mapping[str, bytes]:
    return {
        jobs[op.name].commands: _emitter(npu).encode(op, graph, npu, plan.address)
        for op in graph.operators
        if isinstance(npu := soc.device(op.device), Engine)
    }


def _emitter(npu: Engine) -> CommandEmitter:
    emitter: CommandEmitter = plugins.load(npu.spec.emitter)()
    return emitter


def build(compiled: Compiled, folder: Path, *, toolchain: str | None = None) -> BuildTree:
    """Write the build folder: texts of every stage, object code, BSP, firmware.

    Args:
        compiled: what `compile_file` returned.
        folder: made, or replaced if it is a build folder; never left half written.
        toolchain: ``zig`` or ``gcc``; None takes the description's.

    Raises:
        UsageError: the folder is something else.
        ToolchainError: a tool is missing or failed.
        PlanError: code or stack do not fit.
    """
    with new_folder(folder, marker=MARKER) as fresh:
        _write_texts(compiled, fresh)
        code = emit_object(compiled.module, compiled.plan, compiled.soc, compiled.commands)
        firmware = build_firmware(compiled.soc, interface_of(compiled), code, fresh, toolchain)
        write_checksums(fresh, sources_of(compiled.graph.name))
    return BuildTree(folder=folder, firmware=replace(firmware, folder=folder))


def interface_of(compiled: Compiled) -> ModelInterface:
    """Return what the application sees of the compiled network."""

    def ports(names: tuple[str, ...]) -> tuple[Port, ...]:
        sizes = compiled.module.entry.sizes
        return tuple(
            Port(name=name, size=sizes[name], address=compiled.plan.address(name)) for name in names
        )

    return ModelInterface(
        name=compiled.graph.name,
        inputs=ports(compiled.graph.inputs),
        outputs=ports(compiled.graph.outputs),
        shares=tuple(_shares(compiled)),
    )


def _shares(compiled: Compiled) -> Iterator[PoolShare]:
    """Yield what the network takes of each pool that it uses."""
    plan, entry = compiled.plan, compiled.module.entry
    constants = {constant.name for constant in entry.constants}
    for pool in plan.problem.pools:
        ends = {True: 0, False: 0}
        for placement in plan.placements.values():
            if placement.pool == pool.name:
                constant = placement.buffer in constants
                end = placement.offset + entry.sizes[placement.buffer]
                ends[constant] = max(ends[constant], end)
        if any(ends.values()):
            yield PoolShare(pool=pool.name, workspace=ends[False], constants=ends[True])


def sources_of(model: str) -> tuple[str, ...]:
    """Return the files that `atoll simulate` reads from the build folder of a model."""
    return (MARKER, RESOLVED, f"{model}.tflite", ELF_NAME)


def texts_of(compiled: Compiled) -> dict[str, str]:
    """Return the text files of the build folder by name."""
    marker = {
        "format": FORMAT,
        "soc": compiled.soc.name,
        "model": compiled.graph.name,
        "accelerators": compiled.options.accelerators,
    }
    texts = {
        MARKER: json.dumps(marker, indent=2),
        RESOLVED: to_json(without_positions(compiled.soc)),
        "graph.txt": str(compiled.graph),
        "placement.txt": "".join(f"{decision}\n" for decision in compiled.decisions),
        "module.tir": str(compiled.module),
        "plan.json": json.dumps(plan_json(compiled.plan), indent=2),
        "contract.json": json.dumps(compiled.contract.as_json(), indent=2),
    }
    return {name: text.rstrip("\n") + "\n" for name, text in texts.items()}


def _write_texts(compiled: Compiled, folder: Path) -> None:
    for name, text in texts_of(compiled).items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / f"{compiled.graph.name}.tflite").write_bytes(compiled.source)


def require_stage(name: str | None) -> None:
    """Refuse the name of a stage that is not there.

    Raises:
        UsageError: E094.
    """
    if name is not None and name not in STAGES:
        raise UsageError("E094", f"no stage '{name}'", remedy=f"use one of {', '.join(STAGES)}")
