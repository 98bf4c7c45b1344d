"""Run a network on the native host, with the accelerators' models or their RTL."""

from collections.abc import Sequence

from atoll.pipeline import Compiled
from atoll.progress import Progress, silent
from atoll.scratch import temporary_folder
from atoll_sim.build import build_model
from atoll_sim.cpu.host_memory import HostMemory
from atoll_sim.cpu.native import ModelAccelerators, NativeSession
from atoll_sim.cpu.rtl_accelerators import RtlAccelerators
from atoll_sim.samples import Sample
from atoll_sim.simulation import SimResult


def run_native(
    compiled: Compiled,
    samples: Sequence[Sample],
    *,
    rtl: bool = False,
    progress: Progress = silent,
) -> SimResult:
    """Run `samples` on the host.

    Args:
        compiled: what to run.
        samples: run one after the other.
        rtl: accelerators and memories in RTL, driven by the host; else the software models.
        progress: told what goes on.
    """
    memory = HostMemory(compiled.soc)
    executable = build_model(compiled.soc, external_host=True, progress=progress) if rtl else None
    progress(f"running {len(samples)} sample{'s' if len(samples) != 1 else ''} on the host")
    if executable is None:
        return NativeSession(compiled, memory, ModelAccelerators(compiled, memory)).run(samples)
    with (
        temporary_folder() as folder,
        RtlAccelerators(compiled.soc, memory, executable, folder) as accelerators,
    ):
        return NativeSession(compiled, memory, accelerators).run(samples)
