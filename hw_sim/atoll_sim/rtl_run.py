"""Run a firmware image in RTL with samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.pipeline import Compiled
from atoll_sim.build import build_model
from atoll_sim.model_process import run_folder
from atoll_sim.samples import Sample
from atoll_sim.session import simulate
from atoll_sim.shadow_table import shadow_table
from atoll_sim.simulation import Buffer, SimRequest, SimResult


def run_firmware(
    compiled: Compiled,
    elf: Path,
    samples: Sequence[Sample],
    *,
    progress: Callable[[str], None] = lambda what: None,
) -> SimResult:
    """Simulate `elf`, which was linked for `compiled`, on the chip's RTL.

    Args:
        compiled: names the buffers to fill, to read and to compare.
        elf: the firmware.
        samples: run one after the other.
        progress: told what goes on.
    """
    executable = build_model(compiled.soc, progress=progress)
    progress(f"simulating {len(samples)} sample{'s' if len(samples) != 1 else ''} in RTL")
    with run_folder() as folder:
        return simulate(request_for(compiled, elf, samples, executable, folder))


def run_firmware_in_turn(
    models: Sequence[Compiled],
    elf: Path,
    samples: Sequence[Sequence[Sample]],
    *,
    progress: Callable[[str], None] = lambda what: None,
) -> SimResult:
    """Simulate an image of several models, `samples` of each; all have the same number."""
    executable = build_model(models[0].soc, progress=progress)
    with run_folder() as folder:
        first = request_for(models[0], elf, (), executable, folder)
        others = [request_for(each, elf, (), executable, folder) for each in models[1:]]
        request = replace(
            first,
            samples=tuple(_bytes(each) for turn in zip(*samples, strict=True) for each in turn),
            more=tuple(turn for other in others for turn in other.turns),
            table=shadow_table(models[0].soc, [model.contract for model in models]),
        )
        progress(f"simulating {len(request.samples)} runs in RTL")
        return simulate(request)


def request_for(
    compiled: Compiled,
    elf: Path,
    samples: Sequence[Sample],
    executable: Path,
    folder: Path,
) -> SimRequest:
    """State what to simulate: every operator's results are read back when it ends."""
    entry = compiled.module.entry
    return SimRequest(
        executable=executable,
        elf=elf,
        soc=compiled.soc,
        run_dir=folder,
        samples=tuple(_bytes(sample) for sample in samples),
        inputs=_buffers(compiled, entry.inputs),
        outputs=_buffers(compiled, entry.outputs),
        table=shadow_table(compiled.soc, [compiled.contract]),
        snapshots={step.number: _buffers(compiled, step.writes) for step in entry.steps},
    )


def _bytes(sample: Sample) -> Mapping[str, bytes]:
    return {name: values.tobytes() for name, values in sample.items()}


def _buffers(compiled: Compiled, names: Sequence[str]) -> tuple[Buffer, ...]:
    sizes = compiled.module.entry.sizes
    return tuple(Buffer(name, compiled.plan.address(name), sizes[name]) for name in names)
