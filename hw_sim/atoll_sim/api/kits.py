# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `atoll.check_core` and `atoll.check_accelerator`."""

from collections.abc import Mapping
from pathlib import Path

from atoll.api.kits import AcceleratorCheck, CoreCheck, CoreTrial
from atoll.description.accelerator_files import find_accelerator, load_accelerator
from atoll.description.core_files import find_core, load_core
from atoll.description.share import is_path
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import current
from atoll_sim.accelerator_test.accelerator_kit import run_accelerator_test
from atoll_sim.core_test.core_kit import run_core_test


def check_accelerator(
    name: str,
    params: Mapping[str, int],
    *,
    operators: int,
    faults: int,
    mutants: int,
    seed: int,
    toolchain: str | None,
) -> AcceleratorCheck:
    """Test an accelerator by its name or path."""
    return run_accelerator_test(
        load_accelerator(find_accelerator(name, Path.cwd(), None), None),
        params,
        operators=operators,
        faults=faults,
        mutants=mutants,
        seed=seed,
        toolchain=toolchain,
        progress=current(),
    )


def check_core(name: str, isa: str | None, *, seed: int, toolchain: str | None) -> CoreCheck:
    """Test the adapter of a core by its name or path.

    Raises:
        UsageError: E040; it cannot run `isa`.
    """
    path = find_core(name, "", Path.cwd(), None).resolve()
    described = load_core(path, None).model
    if isa is not None and isa not in described.isas:
        raise UsageError(
            "E040",
            f"core '{described.core}' cannot run '{isa}'",
            remedy=f"use --isa with one of {', '.join(described.isas)}",
        )
    found = run_core_test(
        str(path) if is_path(name) else name,
        isa or described.isas[0],
        seed=seed,
        toolchain=toolchain,
        progress=current(),
    )
    return CoreCheck(
        core=found.core,
        isa=found.isa,
        module=found.module,
        trials=tuple(
            CoreTrial(check=trial.name, waits=trial.pace, cycles=trial.cycles, faults=faults)
            for trial, faults in found.trials
        ),
    )
