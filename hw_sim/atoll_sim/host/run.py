"""Run networks on the native host, with the accelerators' models or their RTL."""

from collections.abc import Sequence

from atoll.errors import UsageError
from atoll.pipeline import Compiled
from atoll.progress import Progress, silent
from atoll.resolve.soc import ResolvedSoc
from atoll.samples import Sample
from atoll.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import HostCores, ModelAccelerators
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.session import AcceleratorKind, Work
from atoll_sim.trace.simulation import SimResult
from atoll_sim.waves.request import Waves


class NativeSession:
    """The machine that runs Atoll in the place of the cores; it needs no firmware."""

    runs_firmware = False

    def check(self, accelerator: AcceleratorKind, waves: Waves | None) -> None:
        """See `atoll_sim.session.Session.check`."""
        if waves:
            raise UsageError(
                "E089",
                "a native core has no waveforms: only --cpu rtl simulates the whole chip",
                remedy="leave --cpu native out, or --waves",
            )

    def check_chip(self, soc: ResolvedSoc) -> None:
        """See `atoll_sim.session.Session.check_chip`; building the model tells."""

    def run(self, work: Work) -> SimResult:
        """See `atoll_sim.session.Session.run`."""
        rtl = work.engines_in_rtl
        return run_native(work.models, work.samples, rtl=rtl, progress=work.progress)


def run_native(
    models: Sequence[Compiled],
    samples: Sequence[Sequence[Sample]],
    *,
    rtl: bool = False,
    progress: Progress = silent,
) -> SimResult:
    """Run networks in turn on the host, as the firmware that they share would.

    Args:
        models: what to run.
        samples: of each network; all have the same number.
        rtl: accelerators and memories in RTL, driven by the host; else the software models.
        progress: told what goes on.
    """
    soc = models[0].soc
    memory = HostMemory(soc)
    executable = build_model(soc, external_host=True, progress=progress) if rtl else None
    runs = [each for turn in zip(*samples, strict=True) for each in turn]
    progress(f"running {len(runs)} sample{'s' if len(runs) != 1 else ''} on the host")
    if executable is None:
        return HostCores(models, memory, ModelAccelerators(soc, memory, models)).run(runs)
    with (
        temporary_folder() as folder,
        RtlAccelerators(soc, memory, executable, folder) as accelerators,
    ):
        return HostCores(models, memory, accelerators).run(runs)
