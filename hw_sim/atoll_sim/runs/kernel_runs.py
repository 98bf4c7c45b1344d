# SPDX-License-Identifier: Apache-2.0
"""Run networks once on the instruction-set simulator, and tell what kernels ran."""

from collections.abc import Mapping, Sequence

from atoll.artifacts.build_tree import build
from atoll.artifacts.samples import random_sample
from atoll.cost.kernel_runs import Which
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import Progress, silent
from atoll.driver.pipeline import Compiled
from atoll.resolve.specs import KernelRun
from atoll.utils.scratch import temporary_folder
from atoll_sim.backends.session import AcceleratorKind, Backends, CpuKind, Work
from atoll_sim.trace.simulation import Stop


def run_kernels(
    models: Sequence[Compiled],
    *,
    toolchain: str | None = None,
    progress: Progress = silent,
) -> Mapping[Which, tuple[KernelRun, ...]]:
    """Run networks in turn, once each, with engines that software models play.

    Args:
        models: networks of one firmware.
        toolchain: see `atoll.artifacts.build_tree.build`.
        progress: told what goes on.

    Raises:
        UsageError: E070; Unicorn is not installed.
        SimulationError: E102, no simulator runs a core of the chip; E243, a run broke off.
    """
    CpuKind.ISS.session().check(None)
    CpuKind.ISS.check_chip(models[0].soc)
    from atoll_sim.iss.iss_run import run  # these two need Unicorn
    from atoll_sim.iss.tally import Tally

    tally = Tally(models)
    with temporary_folder() as folder:
        progress("building the firmware")
        work = Work(
            models=models,
            samples=[random_sample(each.graph) for each in models],
            elves=build(models, folder / "build", toolchain=toolchain).firmware.elves,
            backends=Backends(AcceleratorKind.MODEL),
            progress=progress,
        )
        result = run(work, tally)
    if result.stop is not Stop.EXIT or result.exit_status:
        soc = models[0].soc
        raise SimulationError(
            "E243",
            f"what kernels run on '{soc.name}' is not known: the firmware did not run to its end",
            remedy="see why with 'atoll run --cpu iss'",
        )
    return tally.runs
