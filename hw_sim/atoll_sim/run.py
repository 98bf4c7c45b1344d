"""Run a compiled network, check it, and report: the body of `atoll run` and `atoll simulate`."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import numpy as np

from atoll.bsp.elf_stack import stack_bound
from atoll.errors import UsageError
from atoll.pipeline import Compiled, build
from atoll.report.result import LayerCycles, RunReport, StackUse
from atoll.resolve.soc import Dma
from atoll_sim.cpu.native import NativeSession
from atoll_sim.execution import BETWEEN, Execution, SampleRun
from atoll_sim.layers import check_layers
from atoll_sim.placement import check_placement, count_accesses
from atoll_sim.rtl_session import simulate
from atoll_sim.samples import Sample

PAINT = 0xA5A5_A5A5
"""The word that the startup code fills the stack with."""

Progress = Callable[[str], None]
"""Told what the run is busy with."""


class CpuKind(StrEnum):
    """Who plays the cores."""

    RTL = "rtl"
    NATIVE = "native"


class AcceleratorKind(StrEnum):
    """Who plays the accelerators."""

    RTL = "rtl"
    MODEL = "model"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A report, and the outputs of each sample."""

    report: RunReport
    outputs: tuple[Sample, ...]


def check_kinds(cpu: CpuKind, accelerator: AcceleratorKind) -> None:
    """Refuse a combination that cannot mean anything.

    Raises:
        UsageError: E095.
    """
    if cpu is CpuKind.RTL and accelerator is AcceleratorKind.MODEL:
        raise UsageError(
            "E095",
            "a core in RTL cannot drive an accelerator that is a software model: "
            "the model has no bus and no clock to answer it",
            remedy="use --accelerator rtl with --cpu rtl, or --cpu native with --accelerator model",
        )


def run_compiled(
    compiled: Compiled,
    samples: Sequence[Sample],
    *,
    cpu: CpuKind,
    accelerator: AcceleratorKind,
    keep: Path | None = None,
    progress: Progress = lambda what: None,
    toolchain: str | None = None,
) -> Outcome:
    """Run `samples` and hold every layer and every access against reference and plan.

    Args:
        compiled: the planned network.
        samples: at least one.
        cpu: who plays the cores.
        accelerator: who plays the accelerators.
        keep: folder for the build; a temporary one is removed afterwards.
        progress: told what goes on.
        toolchain: see `pipeline.build`.
    """
    check_kinds(cpu, accelerator)
    if cpu is CpuKind.NATIVE:
        progress("running on the host")
        execution = NativeSession(compiled, accelerator is AcceleratorKind.RTL).run(samples)
        return judge(compiled, samples, execution, cpu=cpu, accelerator=accelerator)
    with tempfile.TemporaryDirectory(prefix="atoll-") as temporary:
        begin = time.perf_counter()
        progress("building the firmware")
        tree = build(compiled, keep or Path(temporary) / "build", toolchain=toolchain)
        built = time.perf_counter() - begin
        execution = simulate(compiled, tree.firmware.elf, samples, progress=progress)
        execution = replace(execution, wall={"build": built, **execution.wall})
        return judge(
            compiled, samples, execution, cpu=cpu, accelerator=accelerator, elf=tree.firmware.elf
        )


def judge(
    compiled: Compiled,
    samples: Sequence[Sample],
    execution: Execution,
    *,
    cpu: CpuKind,
    accelerator: AcceleratorKind,
    elf: Path | None = None,
) -> Outcome:
    """Hold `execution` against reference, plan and stack bound.

    Args:
        elf: the linked image, if one ran.
    """
    begin = time.perf_counter()
    layers = check_layers(compiled.graph, samples, execution)
    violations = check_placement(compiled, execution)
    stack = _stack_use(compiled, execution, elf)
    report = RunReport(
        soc=compiled.soc.name,
        model=compiled.graph.name,
        cpu=cpu,
        accelerator=accelerator,
        samples=len(samples),
        layers_compared=layers.compared,
        layers_equal=layers.compared - len(layers.mismatches),
        mismatches=layers.mismatches,
        accesses=count_accesses(execution),
        violations=violations,
        stack=stack,
        pools=compiled.plan.use,
        total_cycles=execution.total_cycles,
        cycles_by_kind=_cycles_by_kind(compiled, execution),
        by_layer=_by_layer(compiled, execution),
        wall={**execution.wall, "checks": time.perf_counter() - begin},
        uart=execution.uart,
        notes=tuple(_notes(compiled, execution)),
    )
    return Outcome(report=report, outputs=_outputs(compiled, execution))


def _stack_use(
    compiled: Compiled, execution: Execution, elf: Path | None
) -> Mapping[str, StackUse]:
    return {
        cpu.name: StackUse(
            bound=stack_bound(elf).bytes + cpu.interrupt_reserve if elf else None,
            watermark=watermark(execution.stack[cpu.name]) if cpu.name in execution.stack else None,
            limit=cpu.max_stack_size.value,
            layer=cpu.max_stack_size.layer,
        )
        for cpu in compiled.soc.cpus
    }


def watermark(stack: bytes) -> int:
    """Return how many bytes of a stack that was painted from its low end are painted over."""
    words = np.frombuffer(stack, dtype="<u4")
    used = np.flatnonzero(words != PAINT)
    return len(stack) - 4 * int(used[0]) if used.size else 0


def _operator_cycles(compiled: Compiled, run: SampleRun) -> Iterator[LayerCycles]:
    for phase in run.phases:
        if phase.operator != BETWEEN:
            op = compiled.graph.operators[phase.operator]
            yield LayerCycles(
                operator=op.name, kind=op.kind, device=op.device, cycles=phase.end - phase.begin
            )


def _by_layer(compiled: Compiled, execution: Execution) -> tuple[LayerCycles, ...]:
    return tuple(_operator_cycles(compiled, execution.samples[0]))


def _cycles_by_kind(compiled: Compiled, execution: Execution) -> Mapping[str, int]:
    """Sum the first sample's cycles over the devices of each kind."""
    kinds = dict.fromkeys(device.kind for device in compiled.soc.devices)
    layers = _by_layer(compiled, execution)
    return {
        kind: sum(
            layer.cycles for layer in layers if compiled.soc.device(layer.device).kind == kind
        )
        for kind in kinds
    }


def _notes(compiled: Compiled, execution: Execution) -> Iterator[str]:
    for device in compiled.soc.devices:
        if isinstance(device, Dma):
            yield f"{device.name} ({device.engine}) took no part: no operator or copy uses it yet"
    for number, run in enumerate(execution.samples):
        if run.status:
            yield f"sample {number}: the run function returned {run.status}"


def _outputs(compiled: Compiled, execution: Execution) -> tuple[Sample, ...]:
    def arrays(run: SampleRun) -> Sample:
        tensors = {name: compiled.graph.tensor(name) for name in run.outputs}
        return {
            name: np.frombuffer(data, dtype=tensors[name].dtype).reshape(tensors[name].shape)
            for name, data in run.outputs.items()
        }

    return tuple(arrays(run) for run in execution.samples)
