# SPDX-License-Identifier: Apache-2.0
"""Run a compiled network, check it, and report: the body of `atoll run` and `atoll simulate`."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal

import numpy as np

from atoll.api.accuracy import Accuracy
from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import Sample
from atoll.bsp.image_stacks import stacks_of
from atoll.cost.basis import basis_of_operator
from atoll.cost.spent import Spent
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled, expected_cycles
from atoll.ops.registry import kind_of
from atoll.records import dataclass
from atoll.report.explanation import cautions, notes
from atoll.report.result import InterruptLine, LayerCycles, Relinked, RunReport
from atoll.resolve.register_steps import SOFTWARE_LINE
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll.stack.bound import StackBound
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import (
    NOTHING_WRITTEN,
    AcceleratorKind,
    Backends,
    CpuKind,
    Work,
    Written,
)
from atoll_sim.check.distance import own_rounding
from atoll_sim.check.layers import check_layers
from atoll_sim.check.protection_traps import blocked_accesses
from atoll_sim.check.stack_use import overruns, stack_use, unmeasured_stacks, unused_stacks
from atoll_sim.check.touched import touched_ranges
from atoll_sim.inputs.build_folder import Image
from atoll_sim.iss.rules import not_modelled
from atoll_sim.protocol.records import AccessKind
from atoll_sim.qemu.relink import relink, relinking_for
from atoll_sim.simulate.turns import turn_of
from atoll_sim.trace.findings import count_accesses, unreachable_ports, violations
from atoll_sim.trace.simulation import (
    START_SEED,
    USUAL,
    Conditions,
    OwnBench,
    Phase,
    SimResult,
    Stop,
)

__all__ = [
    "BOARD",
    "AcceleratorKind",
    "Backends",
    "CpuKind",
    "Outcome",
    "Setup",
    "Written",
    "check_kinds",
    "judge",
    "judge_all",
    "run_image",
    "run_models",
]


BOARD: Literal["board"] = "board"
"""In the place of who plays the cores: nobody does, all of the chip is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How a run was made.

    Attributes:
        cpu: who played the cores, or `BOARD`: nobody saw accesses, nor results but the outputs.
        stacks: bound of the chip's linked image, by core; empty if none ran.
        start_seed: decides the values with which registers and memories of RTL begin.
        wall: seconds of the parts before the simulation.
        relinked: where the firmware ran that was linked for other addresses than the chip's.
    """

    cpu: CpuKind | Literal["board"]
    backends: Backends
    stacks: Mapping[str, StackBound] = field(default_factory=dict)
    start_seed: int = START_SEED
    wall: Mapping[str, float]
    relinked: Relinked | None = None

    def in_rtl(self, soc: ResolvedSoc) -> frozenset[str]:
        """Return the devices of which hardware ran, whose accesses are those of the chip."""
        if self.cpu == BOARD:
            return frozenset()
        others = self.backends.models(soc)
        if self.cpu is not CpuKind.RTL:
            others |= {cpu.name for cpu in soc.cpus}
        return frozenset(device.name for device in soc.devices) - others


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A report, the outputs of each finished sample, and what a labelled set of more says."""

    report: RunReport
    outputs: tuple[Sample, ...]
    accuracy: Accuracy | None = None


def check_kinds(cpu: CpuKind, written: Written = NOTHING_WRITTEN) -> None:
    """Refuse a combination that cannot mean anything.

    Raises:
        UsageError: E070, E089.
    """
    cpu.session().check(written.waves)
    if written.coverage and cpu is not CpuKind.RTL:
        raise UsageError(
            "E089",
            f"--coverage counts what runs reach of the whole chip's RTL, and --cpu {cpu} has none",
            remedy=f"leave --cpu {cpu} out, or --coverage",
        )


def run_models(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    *,
    cpu: CpuKind = CpuKind.RTL,
    accelerator: AcceleratorKind | Backends | None = None,
    keep: Path | None = None,
    progress: Progress = silent,
    toolchain: str | None = None,
    written: Written = NOTHING_WRITTEN,
    conditions: Conditions = USUAL,
) -> tuple[Outcome, ...]:
    """Run networks in turn, as one firmware; hold each layer and access against reference and plan.

    Args:
        models: what `atoll.driver.pipeline.compile_models` returned; at least one.
        samples: for each network as many samples, at least one.
        cpu: who plays the cores.
        accelerator: who plays the accelerators; None: RTL where there is some, if they are used.
        keep: folder for the build; a temporary one is removed afterwards.
        progress: told what goes on.
        toolchain: see `atoll.artifacts.build_tree.build`.
        written: waveforms, only with `CpuKind.RTL`; coverage, also of accelerators in RTL that a
            native host drives.
        conditions: under which RTL runs.
    """
    backends = _backends(accelerator, models)
    cpu.session().check(written.waves)
    begin = time.perf_counter()
    session = cpu.session()
    cpu.check_chip(models[0].soc)
    relinked = relinking_for(models[0].soc) if cpu is CpuKind.QEMU else None
    running = relink(models) if relinked else models
    elves: tuple[Path, ...] = ()
    stacks: Mapping[str, StackBound] = {}
    with temporary_folder() as temporary:
        if keep or session.runs_firmware:
            progress("building the firmware")
            tree = build(models, keep or temporary / "build", toolchain=toolchain)
            if session.runs_firmware:
                elves, stacks = tree.firmware.elves, tree.firmware.stacks
        if relinked:
            progress(f"linking for {relinked.place}")
            elves = build(running, temporary / "relinked", toolchain=toolchain).firmware.elves
        wall = {"build": time.perf_counter() - begin}
        work = Work(
            models=running,
            samples=samples,
            elves=elves,
            backends=backends,
            progress=progress,
            written=written,
            conditions=conditions,
        )
        result = session.run(work)
    setup = Setup(
        cpu=cpu,
        backends=backends,
        stacks=stacks,
        wall=wall,
        start_seed=conditions.seed,
        relinked=relinked,
    )
    return judge_all(models, samples, result, setup)


def run_image(
    image: Image,
    samples: Sequence[Sequence[Sample]],
    *,
    cpu: CpuKind = CpuKind.RTL,
    accelerator: AcceleratorKind | Backends | None = None,
    progress: Progress = silent,
    written: Written = NOTHING_WRITTEN,
    bench: OwnBench | None = None,
) -> tuple[Outcome, ...]:
    """Simulate the firmware of a build folder and hold it against its plans.

    `bench` is a user's test that runs beside it, in RTL. All but this and `image` is as in
    `run_models`; `cpu` is one that runs firmware.
    """
    backends = _backends(accelerator, image.models)
    check_kinds(cpu, written)
    models, folder = image.models, image.elves[0].parent
    bounds = stacks_of(folder, {each.graph.name: each.soc for each in models})
    work = Work(
        models=models,
        samples=samples,
        elves=image.elves,
        backends=backends,
        progress=progress,
        written=written,
        bench=bench,
    )
    session = cpu.session()
    cpu.check_chip(models[0].soc)
    result = session.run(work)
    setup = Setup(cpu=cpu, backends=backends, stacks=bounds, wall={})
    return judge_all(models, samples, result, setup)


def _backends(asked: AcceleratorKind | Backends | None, models: Sequence[Compiled]) -> Backends:
    """Return who plays the accelerators.

    Raises:
        UsageError: E163; somebody is named who is not there.
    """
    if asked is None:
        used = models[0].options.accelerators
        asked = AcceleratorKind.RTL if used else AcceleratorKind.NONE
    backends = asked if isinstance(asked, Backends) else Backends(asked)
    backends.check(models[0].soc)
    return backends


def judge_all(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    result: SimResult,
    setup: Setup,
) -> tuple[Outcome, ...]:
    """Hold what networks did in turn against reference, plans and stack bounds; see `judge`."""
    return tuple(
        judge(model, samples[number], turn_of(result, number, len(models)), setup)
        for number, model in enumerate(models)
    )


def judge(
    compiled: Compiled, samples: Sequence[Sample], result: SimResult, setup: Setup
) -> Outcome:
    """Hold what a run did against reference, plan and stack bound."""
    begin = time.perf_counter()
    on_board = setup.cpu == BOARD
    layers = check_layers(
        compiled.graph,
        samples,
        result,
        compiled.soc,
        compiled.network,
        outputs_alone=on_board,
    )
    stacks = stack_use(compiled.soc, result, setup.stacks)
    samples_cycles = _by_sample(
        compiled, result, setup.in_rtl(compiled.soc), accesses_seen=not on_board
    )
    by_layer = samples_cycles.get(0, ())
    report = RunReport(
        soc=compiled.soc.name,
        model=compiled.graph.name,
        model_sha256=compiled.source.sha256,
        cpu=setup.cpu,
        accelerator=BOARD if on_board else str(setup.backends),
        samples=len(samples),
        layers_compared=layers.compared,
        layers_equal=layers.compared - len(layers.mismatches),
        mismatches=layers.mismatches,
        accesses=count_accesses(result),
        violations=(
            *violations(result),
            *unreachable_ports(compiled.soc, compiled.contract),
            *overruns(compiled.soc, stacks),
            *(
                unused_stacks(compiled.soc, stacks, _working_devices(compiled))
                if 0 in result.results
                else ()
            ),
            *blocked_accesses(compiled.soc, compiled.contract, result),
        ),
        stack=stacks,
        pools=compiled.plan.use,
        total_cycles=result.cycles,
        cycles_by_kind=_cycles_by_kind(compiled, by_layer),
        by_layer=by_layer,
        by_sample=samples_cycles,
        wall={
            **setup.wall,
            "simulation": result.wall_seconds,
            "checks": time.perf_counter() - begin,
        },
        notes=(*unmeasured_stacks(stacks), *_notes(compiled, result, samples)),
        host_clock=compiled.soc.host_cpu.clock,
        not_modelled=not_modelled(compiled.soc) if setup.cpu is CpuKind.ISS else (),
        touched=touched_ranges(compiled.soc, result.heat[0]) if result.heat else None,
        interrupts=_interrupts(result),
        start_seed=setup.start_seed if setup.cpu is CpuKind.RTL else None,
        relinked=setup.relinked,
    )
    return Outcome(report=report, outputs=tuple(_outputs(compiled, result)))


def _working_devices(compiled: Compiled) -> frozenset[str]:
    """Return the devices that do something for a network; the host runs all of it."""
    steps = compiled.module.entry.steps
    return frozenset((compiled.soc.host, *(call.device for step in steps for call in step.calls)))


def _by_sample(
    compiled: Compiled, result: SimResult, in_rtl: frozenset[str], *, accesses_seen: bool
) -> Mapping[int, tuple[LayerCycles, ...]]:
    """Return when each operator of each sample ran, in the order in which they began."""
    samples: dict[int, dict[int, list[Phase]]] = defaultdict(lambda: defaultdict(list))
    for phase in result.phases:
        if phase.sample is not None:
            for number in phase.operators:
                samples[phase.sample][number].append(phase)
    estimates = expected_cycles(compiled) if samples else {}
    return {
        sample: tuple(_layers(compiled, operators, estimates, in_rtl, accesses_seen=accesses_seen))
        for sample, operators in samples.items()
    }


def _layers(
    compiled: Compiled,
    operators: Mapping[int, Sequence[Phase]],
    estimates: Mapping[str, Spent],
    in_rtl: frozenset[str],
    *,
    accesses_seen: bool,
) -> Iterator[LayerCycles]:
    for number, during in operators.items():
        op = compiled.graph.operators[number]
        begin, end = during[0].begin, during[-1].end
        device = compiled.soc.device(op.device)
        hosts = device.name == compiled.soc.host or (isinstance(device, Engine) and device.spec.fed)
        own = frozenset((*op.devices, compiled.soc.host) if hosts else op.devices)
        done = end if hosts or not accesses_seen else min(end, last_access(op.device, during) + 1)
        yield LayerCycles(
            operator=op.name,
            kind=op.kind,
            device=op.device,
            begin=begin,
            cycles=end - begin,
            worked=max(0, done - begin),
            estimate=estimates[op.name].cycles,
            basis=basis_of_operator(op, compiled.graph, compiled.soc),
            instructions=sum(counted) if (counted := _counts(during)) else None,
            clock=device.clock,
            host_clock=compiled.soc.host_cpu.clock,
            helpers={
                core: max(0, min(end, last_access(core, during) + 1) - begin) for core in op.helpers
            }
            if accesses_seen
            else {},
            moved=_bytes_by_memory(compiled, during, number, own) if own <= in_rtl else None,
        )


def _bytes_by_memory(
    compiled: Compiled, during: Sequence[Phase], number: int, own: frozenset[str]
) -> Mapping[str, tuple[int, int]] | None:
    """Return what the devices of an operator read and wrote in each memory, if that is known."""
    operators = compiled.graph.operators
    names = {memory.origin: memory.name for memory in compiled.soc.memories}
    moved: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for phase in during:
        if any(own & {*operators[other].devices} for other in phase.operators if other != number):
            return None
        for touch in (each for each in phase.touched if each.master in own):
            if touch.by_memory is None or touch.by_memory.keys() - names:
                return None
            for origin, count in touch.by_memory.items():
                moved[names[origin]][touch.kind is AccessKind.WRITE] += count
    return {name: (read, written) for name, (read, written) in moved.items()} or None


def _interrupts(result: SimResult) -> tuple[InterruptLine, ...] | None:
    """Return what interrupt lines did, in the first sample and in all."""
    during = [phase for phase in result.phases if phase.sample == 0]
    sample = range(during[0].begin, during[-1].end) if during else range(0)
    if result.lines is None:
        return None
    return tuple(
        InterruptLine(
            source=each.source,
            core=each.core,
            line=None if each.number == SOFTWARE_LINE else each.number,
            raised=len(each.pulses),
            pulses=tuple(pulse for pulse in each.pulses if pulse[0] in sample),
        )
        for each in result.lines
    )


def _counts(phases: Iterable[Phase]) -> tuple[int, ...]:
    return tuple(each.instructions for each in phases if each.instructions is not None)


def last_access(device: str, phases: Iterable[Phase]) -> int:
    """Return the last cycle in which a device touched memory, 0 if it never did."""
    touched = (touch for phase in phases for touch in phase.touched)
    return max((touch.last for touch in touched if touch.master == device), default=0)


def _cycles_by_kind(compiled: Compiled, layers: Iterable[LayerCycles]) -> Mapping[str, int]:
    """Sum the cycles of operators over the devices of each kind."""
    sums = {device.kind: 0 for device in compiled.soc.devices}
    for layer in layers:
        sums[compiled.soc.device(layer.device).kind] += layer.cycles
    return sums


def _notes(compiled: Compiled, result: SimResult, samples: Sequence[Sample]) -> Iterator[str]:
    yield from own_rounding(compiled, samples)
    yield from notes(compiled)
    yield from cautions(compiled)
    told = ((op.device, kind_of(op).unproven) for op in compiled.graph.operators)
    yield from (f"{device}: {what}" for device, what in dict.fromkeys(told) if what)
    for number, status in enumerate(result.results):
        if status:
            yield f"sample {number}: the run function returned {status}"
    if result.trapped:
        yield f"{result.trapped} met an illegal instruction or address and stopped"
    elif result.stop is not Stop.EXIT:
        yield f"the simulation was stopped: {result.stop}"
    kept = sum(finding.violation.count for finding in result.findings)
    if result.findings_total > kept:
        yield f"{result.findings_total - kept:,} more accesses broke the plan in further ways"
    if result.recorded:
        yield str(result.recorded)
    yield from result.notes
    if result.text.strip():
        yield f"the firmware printed: {result.text.strip()}"


def _outputs(compiled: Compiled, result: SimResult) -> Iterator[Sample]:
    tensors = {name: compiled.graph.tensor(name) for name in compiled.graph.outputs}
    for buffers in result.outputs:
        yield {
            name: np.frombuffer(data, dtype=tensors[name].dtype).reshape(tensors[name].shape)
            for name, data in buffers.items()
        }
