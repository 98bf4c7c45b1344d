# SPDX-License-Identifier: Apache-2.0
"""Run a firmware image on an instruction-set simulator."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from atoll.bsp.core_images import image_cores
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import Progress
from atoll.driver.pipeline import Compiled
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.children import LIMIT_VARIABLE, time_limit
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import Work
from atoll_sim.build.model import build_model
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.iss.engines import Engines, measure_rtl
from atoll_sim.iss.engines import make_models as software
from atoll_sim.simulate.firmware import executable_texts, write_image
from atoll_sim.simulate.rtl_run import requests_for
from atoll_sim.simulate.serve import Bench
from atoll_sim.simulate.session import result_of, work_of
from atoll_sim.trace.pace import Pace
from atoll_sim.trace.run_files import IMAGE
from atoll_sim.trace.simulation import Phase, SimRequest, SimResult
from atoll_sim.trace.so_far import SoFar, Teller
from atoll_sim.waves.request import Waves

if TYPE_CHECKING:  # it needs Unicorn
    from atoll_sim.iss.tally import Tally


class IssSession:
    """The cores as an instruction-set simulator, which runs the linked firmware."""

    runs_firmware = True

    def check(self, waves: Waves | None) -> None:
        """See `atoll_sim.backends.session.Session.check`."""
        if waves:
            raise UsageError(
                "E089",
                "an instruction-set simulator has no waveforms: only --cpu rtl simulates the whole"
                " chip",
                remedy="leave --cpu iss out, or --waves",
            )
        if find_spec("unicorn") is None:
            raise UsageError(
                "E070",
                "the instruction-set simulator needs the package 'unicorn', which is not installed",
                remedy="install it with: pip install 'atoll[iss]'",
            )

    def run(self, work: Work) -> SimResult:
        """See `atoll_sim.backends.session.Session.run`."""
        return run(work)


def run(work: Work, tally: "Tally | None" = None) -> SimResult:
    """Run all samples as `IssSession` does; `tally` counts what operators run."""
    with temporary_folder() as folder, ExitStack() as ends:
        return _run(work, folder, ends, tally)


def _run(work: Work, folder: Path, ends: ExitStack, tally: "Tally | None") -> SimResult:
    soc, rtl = work.models[0].soc, work.engines_in_rtl
    request = requests_for(work.models, work.elves, work.samples, Path(), folder, beats=rtl)
    engines = ends.enter_context(
        start_engines(soc, work.models, work.modelled, folder, work.progress)
    )
    pace = Pace("running on the simulated cores", work.models, len(request.samples))
    pace.announce(work.progress)
    return simulate(request, engines, watch=pace.watch(work.progress), tally=tally)


@contextmanager
def start_engines(
    soc: ResolvedSoc,
    models: Sequence[Compiled],
    modelled: frozenset[str],
    folder: Path,
    progress: Progress,
) -> Iterator[Callable[[HostMemory], Engines]]:
    """Yield what makes the engines of a run: RTL, which is built, but for those of `modelled`.

    Args:
        soc: the chip.
        models: the networks that its firmware runs, as far as they are known.
        modelled: the engines that software models play.
        folder: of the run.
        progress: told what goes on.
    """
    names = frozenset(engine.name for engine in soc.engines) - modelled
    if not names:
        yield lambda memory: software(soc, memory, models)
        return
    executable = build_model(soc, external_host=True, stand_ins=modelled, progress=progress)
    with ExitStack() as ends:

        def engines(memory: HostMemory) -> Engines:
            rtl = RtlAccelerators(soc, memory, executable, folder / "accelerators", models)
            return measure_rtl(ends.enter_context(rtl), names, soc, memory, models)

        yield engines


def simulate(
    request: SimRequest,
    engines: Callable[[HostMemory], Engines],
    *,
    hardware: ResolvedSoc | None = None,
    evictions: int = 0,
    watch: Callable[[SoFar], None] = lambda _: None,
    tally: "Tally | None" = None,
) -> SimResult:
    """Run the firmware with all samples and return what happened, however it ended.

    Args:
        request: what to run; it needs no executable.
        engines: makes whoever plays the engines, given the chip's memories.
        hardware: what the cores reach, if it is not what the request's description says.
        evictions: seed of the moments at which dirty lines leave data caches; with 0 they stay.
        watch: told how far it is.
        tally: counts what operators run.

    Raises:
        SimulationError: the firmware does not fit the chip, or it takes too long.
    """
    from atoll_sim.iss.chip import IssChip  # only these two need Unicorn
    from atoll_sim.iss.native import IssModel

    soc = request.soc
    request.run_dir.mkdir(parents=True, exist_ok=True)
    image = request.run_dir / IMAGE
    cores = write_image(request.elves, soc, image)
    model = IssModel(soc, request.table.words if request.table else b"", evictions)
    model.load_records(image.read_bytes())
    bench = Bench(model, work_of(request, cores))
    elves = dict(zip((cpu.name for cpu in image_cores(soc)), request.elves, strict=False))
    code = {cpu.name: executable_texts(elves[cpu.name]) for cpu in cores if cpu.name in elves}
    begin = time.perf_counter()
    chip = IssChip(hardware or soc, model, bench, engines(model.memory), code, tally)
    pace = _pace(request, bench, begin, watch)
    stop = chip.run(request.max_cycles, request.stall_cycles, pace)
    result = result_of(request, bench.record(stop, time.perf_counter() - begin))
    return replace(result, phases=tuple(_with_counts(result.phases, chip.instructions)))


def _with_counts(phases: Iterable[Phase], counted: Sequence[int]) -> Iterator[Phase]:
    for phase, (before, after) in zip(phases, pairwise((0, *counted)), strict=True):
        yield replace(phase, instructions=after - before)


def _pace(
    request: SimRequest, bench: Bench, begin: float, watch: Callable[[SoFar], None]
) -> Callable[[], None]:
    limit, teller = time_limit(request.max_seconds), Teller(watch)

    def tell() -> None:
        if time.perf_counter() - begin > limit:
            raise SimulationError(
                "E088",
                f"the simulation took more than {limit:g} s of wall-clock time",
                remedy=f"allow more time with {LIMIT_VARIABLE}={2 * limit:g}",
            )
        teller.look(bench.so_far, bench.model.cycle)

    return tell
