"""Run a firmware image of several models in RTL, and judge each model by its own plan."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.bsp.cores import stacks_of
from atoll.bsp.elf_stack import StackBound
from atoll.pipeline import Compiled
from atoll.progress import Progress, silent
from atoll.scratch import temporary_folder
from atoll.together import build_together
from atoll_sim.build_folder import Image
from atoll_sim.rtl_run import run_firmware_in_turn
from atoll_sim.run import AcceleratorKind, CpuKind, Outcome, Setup, judge
from atoll_sim.samples import Sample
from atoll_sim.simulation import Phase, SimResult
from atoll_sim.waves.request import Waves


def run_together(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    *,
    keep: Path | None = None,
    progress: Progress = silent,
    toolchain: str | None = None,
    waves: Waves | None = None,
) -> tuple[Outcome, ...]:
    """Run models of one image in turn and hold each against its reference and plan.

    Args:
        models: what `atoll.together.compile_together` returned.
        samples: for each model as many samples.
        keep: folder for the build; a temporary one is removed afterwards.
        progress: told what goes on.
        toolchain: see `atoll.build_tree.build`.
        waves: waveforms to record; an operator is one of the first model's.
    """
    begin = time.perf_counter()
    with temporary_folder() as temporary:
        progress("building the firmware")
        tree = build_together(models, keep or temporary / "build", toolchain=toolchain)
        wall = {"build": time.perf_counter() - begin}
        result = run_firmware_in_turn(
            models, tree.firmware.elves, samples, progress=progress, waves=waves
        )
    return _judged(models, samples, result, tree.firmware.stacks, wall)


def run_image_in_turn(
    image: Image,
    samples: Sequence[Sequence[Sample]],
    *,
    progress: Progress = silent,
    waves: Waves | None = None,
) -> tuple[Outcome, ...]:
    """Simulate the firmware of a build folder of several models, as `run_together`."""
    models = image.models
    folder = image.elves[0].parent
    bounds = [stacks_of(each.soc, folder, each.graph.name) for each in models]
    result = run_firmware_in_turn(models, image.elves, samples, progress=progress, waves=waves)
    return _judged(models, samples, result, bounds[-1], {})


def _judged(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    result: SimResult,
    stacks: Mapping[str, StackBound],
    wall: Mapping[str, float],
) -> tuple[Outcome, ...]:
    used = AcceleratorKind.RTL if models[0].options.accelerators else AcceleratorKind.NONE
    setup = Setup(cpu=CpuKind.RTL, accelerator=used, stacks=stacks, wall=wall)
    return tuple(
        judge(model, samples[number], turn_of(result, number, len(models)), setup)
        for number, model in enumerate(models)
    )


def turn_of(result: SimResult, number: int, count: int) -> SimResult:
    """Return what one of `count` models did, as if it had been alone.

    Phases and findings of other models are left out, the ones outside of any run stay.
    """
    findings = tuple(each for each in result.findings if each.model in (None, number))
    return replace(
        result,
        findings=findings,
        findings_total=sum(each.violation.count for each in findings),
        results=result.results[number::count],
        outputs=result.outputs[number::count],
        layers=result.layers[number::count],
        phases=tuple(
            _renumbered(phase, count)
            for phase in result.phases
            if phase.sample is None or phase.sample % count == number
        ),
    )


def _renumbered(phase: Phase, count: int) -> Phase:
    return phase if phase.sample is None else replace(phase, sample=phase.sample // count)
