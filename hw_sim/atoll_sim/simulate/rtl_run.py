# SPDX-License-Identifier: Apache-2.0
"""Run a firmware image in RTL with samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled, expected_cycles
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import NOTHING_WRITTEN, Work, Written
from atoll_sim.build.model import build_model
from atoll_sim.chip.plan import NOBODY
from atoll_sim.coverage.folder import COUNTS, add_run
from atoll_sim.shadow.table import ShadowTable, shadow_table
from atoll_sim.simulate.firmware import code_brought, data_taken
from atoll_sim.simulate.session import simulate
from atoll_sim.simulate.stand_ins import StandIns
from atoll_sim.trace.contents import contents_of
from atoll_sim.trace.pace import Pace, keep_measured, load_measured
from atoll_sim.trace.run_files import looking
from atoll_sim.trace.simulation import (
    MAX_CYCLES,
    STALL_CYCLES,
    START_SEED,
    Buffer,
    OwnBench,
    SimRequest,
    SimResult,
)
from atoll_sim.waves.recording import record
from atoll_sim.waves.request import Waves, operator_names

SLACK = 4
"""How many times its estimate a run may take."""


class RtlSession:
    """The cores in RTL, which run the linked firmware."""

    runs_firmware = True

    def check(self, waves: Waves | None) -> None:
        """See `atoll_sim.backends.session.Session.check`."""

    def run(self, work: Work) -> SimResult:
        """See `atoll_sim.backends.session.Session.run`."""
        return run_firmware(
            work.models,
            work.elves,
            work.samples,
            progress=work.progress,
            written=work.written,
            modelled=work.modelled,
            start_seed=work.conditions.seed,
            bench=work.bench,
        )


def run_firmware(
    models: Sequence[Compiled],
    elves: Sequence[Path],
    samples: Sequence[Sequence[Sample]],
    *,
    progress: Progress = silent,
    written: Written = NOTHING_WRITTEN,
    modelled: frozenset[str] = NOBODY,
    start_seed: int = START_SEED,
    bench: OwnBench | None = None,
) -> SimResult:
    """Simulate firmware on the chip's RTL, which runs its networks in turn.

    Args:
        models: what the firmware was linked for; names the buffers to fill, read and compare.
        elves: the firmware, the host's first.
        samples: of each network; all have the same number.
        progress: told what goes on.
        written: waveforms and coverage.
        modelled: accelerators in whose place software models are.
        start_seed: decides the values with which registers and memories of RTL begin.
        bench: a user's test that runs beside it.
    """
    soc, waves, coverage = models[0].soc, written.waves, written.coverage
    executable = build_model(
        soc,
        stand_ins=modelled,
        waves=waves.format if waves else None,
        coverage=coverage is not None,
        bench=bench is not None,
        progress=progress,
    )
    with temporary_folder() as folder:
        request = requests_for(models, elves, samples, executable, folder)
        request = replace(request, start_seed=start_seed, bench=bench)
        result = _simulate_with(modelled, request, models, waves, progress)
        if coverage is None:
            return result
        in_rtl = frozenset(engine.name for engine in soc.engines) - modelled
        counts = (folder / COUNTS).read_text(encoding="utf-8")
        note = add_run(coverage, models, in_rtl, result, counts)
        return replace(result, notes=(*result.notes, note))


def _simulate_with(
    modelled: frozenset[str],
    request: SimRequest,
    models: Sequence[Compiled],
    waves: Waves | None,
    progress: Progress,
) -> SimResult:
    """Simulate with software models in the place of some accelerators."""
    if not modelled:
        return _simulate(request, models, waves, progress)
    with StandIns(request.soc, models, modelled) as stand_ins:
        request = replace(request, stand_ins=stand_ins.theirs.fileno())
        try:
            return _simulate(request, models, waves, progress)
        except SimulationError as error:
            if stand_ins.error:
                raise stand_ins.error from error
            raise


def requests_for(
    models: Sequence[Compiled],
    elves: Sequence[Path],
    samples: Sequence[Sequence[Sample]],
    executable: Path,
    folder: Path,
    *,
    beats: bool = True,
) -> SimRequest:
    """State what to simulate of a firmware that runs several networks in turn.

    `beats` is as in `shadow_table`.
    """
    first, *others = (request_for(each, elves, (), executable, folder) for each in models)
    whole = replace(
        first,
        samples=tuple(_bytes(each) for turn in zip(*samples, strict=True) for each in turn),
        more=tuple(turn for other in others for turn in other.turns),
        table=_table(models, elves, beats=beats),
    )
    return _patient(whole, models)


def _patient(request: SimRequest, models: Sequence[Compiled]) -> SimRequest:
    """Let a simulation take several times as long as is estimated, and be silent for one run.

    An accelerator tells nothing while it goes through a list, which may be the whole network.
    """
    runs = [sum(each.cycles for each in expected_cycles(model).values()) for model in models]
    turns = len(request.samples) // len(models)
    return replace(
        request,
        max_cycles=MAX_CYCLES + SLACK * turns * sum(runs),
        stall_cycles=STALL_CYCLES + SLACK * max(runs),
    )


def _simulate(
    request: SimRequest,
    models: Sequence[Compiled],
    waves: Waves | None,
    progress: Progress,
) -> SimResult:
    executable, folder = request.executable, request.run_dir
    before = load_measured(executable)
    pace = Pace("simulating in RTL", models, len(request.samples), before)
    pace.announce(progress)
    if waves is None:
        result = simulate(replace(request, watch=looking(folder, pace.watch(progress))))
    else:
        names = [operator_names(model.graph) for model in models]

        def watch(recorded: Callable[[], str]) -> Callable[[], None]:
            return looking(folder, pace.watch(progress, recorded))

        result = record(waves, request, names, simulate, watch)
    keep_measured(pace, executable, folder, result)
    return result


def request_for(
    compiled: Compiled,
    elves: Sequence[Path],
    samples: Sequence[Sample],
    executable: Path,
    folder: Path,
) -> SimRequest:
    """State what to simulate: every operator's results are read back when it ends."""
    entry = compiled.module.entry
    request = SimRequest(
        executable=executable,
        elves=tuple(elves),
        soc=compiled.soc,
        run_dir=folder,
        samples=tuple(_bytes(sample) for sample in samples),
        inputs=_buffers(compiled, entry.inputs),
        outputs=_buffers(compiled, entry.outputs),
        states=_buffers(compiled, entry.states),
        table=_table((compiled,), elves),
        snapshots={step.number: _buffers(compiled, step.writes) for step in entry.steps},
    )
    return _patient(request, (compiled,))


def _table(models: Sequence[Compiled], elves: Sequence[Path], *, beats: bool = True) -> ShadowTable:
    soc = models[0].soc
    return shadow_table(
        soc,
        [model.contract for model in models],
        [contents_of(model) for model in models],
        data_taken(elves, soc),
        code_brought(elves, soc),
        beats=beats,
    )


def _bytes(sample: Sample) -> Mapping[str, bytes]:
    return {name: values.tobytes() for name, values in sample.items()}


def _buffers(compiled: Compiled, names: Sequence[str]) -> tuple[Buffer, ...]:
    sizes = compiled.module.entry.sizes
    return tuple(Buffer(name, compiled.plan.address(name), sizes[name]) for name in names)
