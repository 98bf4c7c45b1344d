# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to estimates: the instructions that kernels run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from atoll.cost.kernel_runs import Which
from atoll.diagnostics.errors import SimulationError
from atoll.diagnostics.progress import current
from atoll.driver.pipeline import Compiled
from atoll.resolve.specs import KernelRun
from atoll_sim.backends.session import CpuKind
from atoll_sim.runs.kernel_runs import run_kernels


def run_compiled_kernels(
    models: Sequence[Compiled], toolchain: str | None
) -> Mapping[Which, tuple[KernelRun, ...]]:
    """Run networks once, as `run_kernels` does; a chip that cannot be run is estimated without."""
    try:
        CpuKind.ISS.check_chip(models[0].soc)
    except SimulationError as error:
        raise SimulationError.all(
            [replace(each, remedy="leave --iss out, or use another core") for each in error.faults]
        ) from error
    return run_kernels(models, toolchain=toolchain, progress=current())
