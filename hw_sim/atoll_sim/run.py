"""Run a compiled network, check it, and report: the body of `atoll run` and `atoll simulate`."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from atoll.bsp.elf_stack import StackBound
from atoll.bsp.stack_check import check_stack
from atoll.build_tree import build
from atoll.errors import UsageError
from atoll.pipeline import Compiled
from atoll.report.result import LayerCycles, RunReport, StackUse
from atoll_sim.build_folder import Image
from atoll_sim.findings import count_accesses, violations
from atoll_sim.layers import check_layers
from atoll_sim.native_run import run_native
from atoll_sim.rtl_run import run_firmware
from atoll_sim.samples import Sample
from atoll_sim.simulation import SimResult, Stop

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
class Setup:
    """How a run was made.

    Attributes:
        stack: bound of the linked image that ran on the host core, None if none did.
        wall: seconds of the parts before the simulation.
    """

    cpu: CpuKind
    accelerator: AcceleratorKind
    stack: StackBound | None = None
    wall: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A report, and the outputs of each finished sample."""

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
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="atoll-") as temporary:
        folder = keep or Path(temporary) / "build"
        if cpu is CpuKind.NATIVE and keep is None:
            tree = None
        else:
            progress("building the firmware")
            tree = build(compiled, folder, toolchain=toolchain)
        wall = {"build": time.perf_counter() - begin}
        if cpu is CpuKind.NATIVE:
            rtl = accelerator is AcceleratorKind.RTL
            result = run_native(compiled, samples, rtl=rtl, progress=progress)
        else:
            assert tree is not None
            result = run_firmware(compiled, tree.firmware.elf, samples, progress=progress)
    stack = tree.firmware.stack if tree and cpu is CpuKind.RTL else None
    setup = Setup(cpu=cpu, accelerator=accelerator, stack=stack, wall=wall)
    return judge(compiled, samples, result, setup)


def run_image(
    image: Image, samples: Sequence[Sample], *, progress: Progress = lambda what: None
) -> Outcome:
    """Simulate the firmware of a build folder and hold it against its plan."""
    result = run_firmware(image.compiled, image.elf, samples, progress=progress)
    used = AcceleratorKind.RTL if image.compiled.options.accelerators else AcceleratorKind.NONE
    stack = check_stack(image.compiled.soc, image.elf, image.compiled.graph.name)
    setup = Setup(cpu=CpuKind.RTL, accelerator=used, stack=stack, wall={})
    return judge(image.compiled, samples, result, setup)


def judge(
    compiled: Compiled, samples: Sequence[Sample], result: SimResult, setup: Setup
) -> Outcome:
    """Hold what a run did against reference, plan and stack bound."""
    begin = time.perf_counter()
    layers = check_layers(compiled.graph, samples, result)
    report = RunReport(
        soc=compiled.soc.name,
        model=compiled.graph.name,
        cpu=setup.cpu,
        accelerator=setup.accelerator,
        samples=len(samples),
        layers_compared=layers.compared,
        layers_equal=layers.compared - len(layers.mismatches),
        mismatches=layers.mismatches,
        accesses=count_accesses(result),
        violations=violations(result),
        stack=_stack_use(compiled, result, setup.stack),
        pools=compiled.plan.use,
        total_cycles=result.cycles,
        cycles_by_kind=_cycles_by_kind(compiled, result),
        by_layer=tuple(_by_layer(compiled, result)),
        wall={
            **setup.wall,
            "simulation": result.wall_seconds,
            "checks": time.perf_counter() - begin,
        },
        uart=result.text,
        notes=tuple(_notes(compiled, result)),
    )
    return Outcome(report=report, outputs=tuple(_outputs(compiled, result)))


def _stack_use(
    compiled: Compiled, result: SimResult, bound: StackBound | None
) -> Mapping[str, StackUse]:
    return {
        cpu.name: StackUse(
            bound=bound.bytes + cpu.interrupt_reserve if bound else None,
            watermark=watermark(result.stacks[cpu.name]) if cpu.name in result.stacks else None,
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


def _by_layer(compiled: Compiled, result: SimResult) -> Iterator[LayerCycles]:
    """Yield when each operator of the first sample ran, in the order in which they began."""
    spans: dict[int, tuple[int, int]] = {}
    for phase in result.phases:
        for number in phase.operators if phase.sample == 0 else ():
            begin, _ = spans.get(number, (phase.begin, phase.end))
            spans[number] = begin, phase.end
    for number, (begin, end) in spans.items():
        op = compiled.graph.operators[number]
        yield LayerCycles(
            operator=op.name, kind=op.kind, device=op.device, begin=begin, cycles=end - begin
        )


def _cycles_by_kind(compiled: Compiled, result: SimResult) -> Mapping[str, int]:
    """Sum the first sample's cycles over the devices of each kind."""
    sums = {device.kind: 0 for device in compiled.soc.devices}
    for layer in _by_layer(compiled, result):
        sums[compiled.soc.device(layer.device).kind] += layer.cycles
    return sums


def _notes(compiled: Compiled, result: SimResult) -> Iterator[str]:
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
    if result.text.strip():
        yield f"the firmware printed: {result.text.strip()}"


def _outputs(compiled: Compiled, result: SimResult) -> Iterator[Sample]:
    tensors = {name: compiled.graph.tensor(name) for name in compiled.graph.outputs}
    for buffers in result.outputs:
        yield {
            name: np.frombuffer(data, dtype=tensors[name].dtype).reshape(tensors[name].shape)
            for name, data in buffers.items()
        }
