"""The compiler from top to bottom: each stage is one call, each arrow one value."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from atoll import plugins
from atoll.bsp.firmware import build_firmware
from atoll.bsp.interface import ELF_NAME, Firmware, GivenPool, ModelInterface, PoolShare, Port
from atoll.checksums import write_checksums
from atoll.codegen.llvm import emit_object
from atoll.description.build import BuildRequests
from atoll.errors import PlanError, UsageError
from atoll.files import new_folder
from atoll.frontend.tflite import load_tflite
from atoll.ir.graph import Graph
from atoll.ir.narrowing import verify_narrowing, verify_scopes
from atoll.ir.tir import IRModule
from atoll.ir.verify import verify
from atoll.lower.accelerator import CommandEmitter, Job
from atoll.lower.overlap_runs import OverlapRuns
from atoll.lower.share_constants import ShareConstants
from atoll.lower.specialize_storage import SpecializeStorage
from atoll.lower.to_tir import lower_graph
from atoll.memory.build_problem import NOTHING, build_problem
from atoll.memory.contract import Contract, contract_of
from atoll.memory.first_fit import plan_first_fit
from atoll.memory.frames import FRAME_ALLOWANCE
from atoll.memory.plan_text import plan_json
from atoll.memory.problem import MemoryPlan
from atoll.memory.run_arguments import run_arguments
from atoll.memory.stack_bound import RUNTIME_ALLOWANCE, check_stack
from atoll.place.candidates import WORKSPACE_ROLES, candidate_pools, pools_for
from atoll.place.copy_engines import assign_copies
from atoll.place.partition import Decision
from atoll.place.plan_devices import plan_devices
from atoll.report.explain_buffers import buffer_stories
from atoll.report.explain_text import Explanation
from atoll.resolve.export import to_json, without_positions
from atoll.resolve.soc import Access, Engine, ResolvedSoc
from atoll.resolve.storage_scope import ScopeNames

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
        accelerators: False compiles every operator for the cores.
        requests: where operators and tensors shall be.
    """

    accelerators: bool = True
    requests: BuildRequests = field(default_factory=BuildRequests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A network planned for a chip: everything but machine code.

    Attributes:
        source: bytes of the model file.
        graph: the placed graph; its operator order is the order of execution.
        decisions: why each operator of the network runs where it runs.
        copies: for each constant that repeats another, the one that stands for both.
        jobs: what accelerators were asked to run, by operator.
        commands: bytes of each command list, by buffer.
    """

    soc: ResolvedSoc
    options: BuildOptions
    source: bytes
    graph: Graph
    decisions: tuple[Decision, ...]
    module: IRModule
    copies: Mapping[str, str]
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
    taken: Mapping[str, int] = NOTHING,
) -> Compiled:
    """Take a model file to a complete, checked plan on `soc`.

    Args:
        soc: the chip.
        model: the file.
        options: what the user chose.
        observe: told the result of every stage.
        taken: bytes at the start of pools that hold other models' constants.

    Raises:
        ModelError: the file is damaged or holds what Atoll does not support.
        PlacementError: a tensor cannot be where its devices reach it.
        PlanError: a pool or a stack is too small.
    """
    options = options or BuildOptions()
    network = load_tflite(model)
    observe("frontend", network)
    placed = plan_devices(network, soc, options.requests, accelerators=options.accelerators)
    graph = assign_copies(placed.graph, soc) if options.accelerators else placed.graph
    observe("place", graph)
    return _plan(soc, options, model.read_bytes(), graph, placed.decisions, observe, taken)


def _plan(
    soc: ResolvedSoc,
    options: BuildOptions,
    source: bytes,
    graph: Graph,
    decisions: tuple[Decision, ...],
    observe: Observer,
    taken: Mapping[str, int],
) -> Compiled:
    jobs = _jobs(graph, soc)
    module = lower_graph(graph, soc, jobs, candidate_pools(graph, soc))
    verify(module)
    shared = ShareConstants().run(module)
    module = shared.module
    verify(module)
    verify_scopes(module, ScopeNames.of(soc))
    observe("lower", module)
    module = specialized(module, soc)
    observe("specialize-storage", module)
    check_stack(module, soc)
    module, plan = _scheduled(module, soc, taken)
    observe("overlap-runs", module)
    observe("memory", json.dumps(plan_json(plan), indent=2))
    return Compiled(
        soc=soc,
        options=options,
        source=source,
        graph=graph,
        decisions=decisions,
        module=module,
        copies=shared.copies,
        plan=plan,
        jobs=jobs,
        commands=_commands(graph, soc, jobs, shared.copies, plan),
        contract=contract_of(module, plan),
    )


def with_plan(compiled: Compiled, plan: MemoryPlan) -> Compiled:
    """Return the same program on another plan; nothing checks that the plan is right."""
    return replace(
        compiled,
        plan=plan,
        commands=_commands(compiled.graph, compiled.soc, compiled.jobs, compiled.copies, plan),
        contract=contract_of(compiled.module, plan),
    )


def specialized(module: IRModule, soc: ResolvedSoc) -> IRModule:
    """Decide for every kernel's buffer whether it lives on the stack or in a pool.

    Raises:
        PlanError: E067; neither can hold it.
    """
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


def _scheduled(
    module: IRModule, soc: ResolvedSoc, taken: Mapping[str, int]
) -> tuple[IRModule, MemoryPlan]:
    """Let DMA engines work beside other devices, unless only one at a time fits the pools."""
    overlap = OverlapRuns(devices=frozenset(dma.name for dma in soc.dmas if dma.spec.asynchronous))
    overlapped = overlap.run(module)
    verify(overlapped)
    try:
        return overlapped, _planned(overlapped, soc, taken)
    except PlanError:
        if overlapped == module:
            raise
    return module, _planned(module, soc, taken)


def _planned(module: IRModule, soc: ResolvedSoc, taken: Mapping[str, int]) -> MemoryPlan:
    steps = [step.operator for step in module.entry.steps]
    return plan_first_fit(build_problem(module, soc, taken), steps)


def _jobs(graph: Graph, soc: ResolvedSoc) -> Mapping[str, Job]:
    return {
        op.name: _emitter(npu).prepare(op, graph, npu)
        for op in graph.operators
        if isinstance(npu := soc.device(op.device), Engine)
    }


def _commands(
    graph: Graph,
    soc: ResolvedSoc,
    jobs: Mapping[str, Job],
    copies: Mapping[str, str],
    plan: MemoryPlan,
) -> Mapping[str, bytes]:
    def address(buffer: str) -> int:
        return plan.address(copies.get(buffer, buffer))

    return {
        jobs[op.name].commands: _emitter(npu).encode(op, graph, npu, address)
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
        write_texts(compiled, fresh)
        code = emit_object(compiled.module, compiled.plan, compiled.soc, compiled.commands)
        firmware = build_firmware(compiled.soc, interface_of(compiled), code, fresh, toolchain)
        write_checksums(fresh, sources_of(compiled.graph.name))
    return BuildTree(folder=folder, firmware=replace(firmware, folder=folder))


def explanation(compiled: Compiled) -> Explanation:
    """Return where every buffer of the compiled network is, and why (C5)."""
    stories = buffer_stories(compiled.soc, compiled.graph, compiled.module, compiled.plan)
    return Explanation(
        soc=compiled.soc.name,
        model=compiled.graph.name,
        buffers=stories,
        decisions=compiled.decisions,
    )


def interface_of(compiled: Compiled) -> ModelInterface:
    """Return what the application sees of the compiled network."""
    soc, graph, plan = compiled.soc, compiled.graph, compiled.plan

    def ports(names: tuple[str, ...]) -> tuple[Port, ...]:
        tensors = map(graph.tensor, names)
        return tuple(
            Port(name=each.name, size=each.size, address=plan.address(each.name), dtype=each.dtype)
            for each in tensors
        )

    arguments = run_arguments(compiled.module, plan, soc)
    return ModelInterface(
        name=graph.name,
        inputs=ports(graph.inputs),
        outputs=ports(graph.outputs),
        shares=tuple(_shares(compiled)),
        pools=tuple(
            GivenPool(pool=name, size=plan.use[name].used, alignment=soc.pool(name).alignment)
            for name in arguments.pools
        ),
        devices=arguments.devices,
        map_inputs=soc.interface.map_inputs,
        map_outputs=soc.interface.map_outputs,
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
        "requests": compiled.options.requests.plain(),
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


def write_texts(compiled: Compiled, folder: Path) -> None:
    """Write the texts of every stage and the model file into `folder`."""
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
