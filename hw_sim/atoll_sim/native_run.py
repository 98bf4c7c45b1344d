"""Run a network on the native host, with the accelerators' models or their RTL."""

from collections.abc import Callable, Sequence

from atoll.pipeline import Compiled
from atoll_sim.cpu.host_memory import HostMemory
from atoll_sim.cpu.native import ModelAccelerators, NativeSession
from atoll_sim.samples import Sample
from atoll_sim.simulation import SimResult


def run_native(
    compiled: Compiled,
    samples: Sequence[Sample],
    *,
    progress: Callable[[str], None] = lambda what: None,
) -> SimResult:
    """Run `samples` on the host with the accelerators' software models.

    Args:
        compiled: what to run.
        samples: run one after the other.
        progress: told what goes on.
    """
    progress(f"running {len(samples)} sample{'s' if len(samples) != 1 else ''} on the host")
    memory = HostMemory(compiled.soc)
    accelerators = ModelAccelerators(compiled, memory)
    return NativeSession(compiled, memory, accelerators).run(samples)
