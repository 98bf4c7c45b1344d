"""Run networks on the native host, with the accelerators' models or their RTL."""

from collections.abc import Sequence

from atoll.pipeline import Compiled
from atoll.progress import Progress, silent
from atoll.scratch import temporary_folder
from atoll_sim.build.model import build_model
from atoll_sim.host.memory import HostMemory
from atoll_sim.host.native import ModelAccelerators, NativeSession
from atoll_sim.host.rtl_accelerators import RtlAccelerators
from atoll_sim.inputs.samples import Sample
from atoll_sim.trace.simulation import SimResult


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
        return NativeSession(models, memory, ModelAccelerators(soc, memory)).run(runs)
    with (
        temporary_folder() as folder,
        RtlAccelerators(soc, memory, executable, folder) as accelerators,
    ):
        return NativeSession(models, memory, accelerators).run(runs)
