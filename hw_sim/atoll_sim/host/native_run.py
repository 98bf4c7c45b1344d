# SPDX-License-Identifier: Apache-2.0
"""Run networks on the native host, with the accelerators' models or their RTL."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from atoll.artifacts.samples import Sample
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import Work
from atoll_sim.build.model import build_model
from atoll_sim.chip.plan import NOBODY
from atoll_sim.coverage.folder import COUNTS, add_run
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import HostCores, ModelAccelerators, add_models
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.trace.pace import Pace
from atoll_sim.trace.simulation import USUAL, Conditions, SimResult
from atoll_sim.waves.request import Waves


class NativeSession:
    """The machine that runs Atoll in the place of the cores; it needs no firmware."""

    runs_firmware = False

    def check(self, waves: Waves | None) -> None:
        """See `atoll_sim.backends.session.Session.check`."""
        if waves:
            raise UsageError(
                "E089",
                "a native core has no waveforms: only --cpu rtl simulates the whole chip",
                remedy="leave --cpu native out, or --waves",
            )

    def run(self, work: Work) -> SimResult:
        """See `atoll_sim.backends.session.Session.run`."""
        soc = work.models[0].soc
        rtl = frozenset(engine.name for engine in soc.engines) - work.modelled
        return run_native(
            work.models,
            work.samples,
            rtl=rtl,
            progress=work.progress,
            conditions=work.conditions,
            coverage=work.written.coverage,
        )


def run_native(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    *,
    rtl: frozenset[str] | bool = False,
    progress: Progress = silent,
    conditions: Conditions = USUAL,
    coverage: Path | None = None,
) -> SimResult:
    """Run networks in turn on the host, as the firmware that they share would.

    Args:
        models: what to run.
        samples: of each network; all have the same number.
        rtl: the accelerators in RTL, driven by the host; software models play the others.
        progress: told what goes on.
        conditions: under which their RTL runs.
        coverage: folder to which what that reaches is added, with all of them in RTL.
    """
    soc = models[0].soc
    memory = HostMemory(soc)
    names = frozenset(engine.name for engine in soc.engines)
    built = names if rtl is True else rtl or NOBODY
    executable = (
        build_model(
            soc,
            external_host=True,
            stand_ins=names - built,
            coverage=coverage is not None,
            progress=progress,
        )
        if built
        else None
    )
    runs = [each for turn in zip(*samples, strict=True) for each in turn]
    pace = Pace("running on the host", models, len(runs), counts=False)
    pace.announce(progress)
    watch = pace.watch(progress)
    if executable is None:
        return HostCores(models, memory, ModelAccelerators(soc, memory, models)).run(runs, watch)
    with temporary_folder() as folder:
        in_rtl = RtlAccelerators(
            *(soc, memory, executable, folder, models), watched=True, conditions=conditions
        )
        with in_rtl:
            mixed = add_models(in_rtl, built, soc, memory, models)
            result = HostCores(models, memory, mixed).run(runs, watch)
        found = in_rtl.findings
        result = replace(result, occasions=in_rtl.occasions)
        if coverage:
            add_run(coverage, models, built, result, (folder / COUNTS).read_text("utf-8"))
        return replace(
            result,
            notes=in_rtl.notes,
            findings=(*result.findings, *found),
            findings_total=result.findings_total + sum(each.violation.count for each in found),
        )
