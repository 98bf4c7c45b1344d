# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to `atoll.check_core` and `atoll.check_accelerator`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from atoll.api.kits import AcceleratorCalibration, AcceleratorCheck, CoreCheck, CoreTrial
from atoll.description.accelerator_files import (
    AcceleratorDescription,
    find_accelerator,
    load_accelerator,
)
from atoll.description.core_files import find_core, load_core
from atoll.description.faults import nearest
from atoll.description.share import is_path
from atoll.description.text_edits import with_section
from atoll.description.yaml_text import read_text
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.progress import current
from atoll.utils.files import write_text
from atoll_sim.accelerator_test.accelerator_kit import measure_operators, run_accelerator_test
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
    """Test an accelerator by its name or path.

    Raises:
        UsageError: E024, E045; its instances cannot have these parameters.
    """
    described = load_accelerator(find_accelerator(name, Path.cwd(), None), None)
    _check_params(described, params)
    return run_accelerator_test(
        described,
        params,
        operators=operators,
        faults=faults,
        mutants=mutants,
        seed=seed,
        toolchain=toolchain,
        progress=current(),
    )


def _check_params(described: AcceleratorDescription, params: Mapping[str, int]) -> None:
    """Refuse parameters before they are written into a chip that nobody sees."""
    known, name = described.model.parameters, described.model.accelerator
    for key in params:
        if key not in known:
            raise UsageError(
                "E024",
                f"accelerator '{name}' has no parameter '{key}'",
                remedy=nearest(key, known) if known else f"leave --param {key} out",
            )
    every = {**{key: each.default for key, each in known.items()}, **params}
    for key, value in every.items():
        if objection := known[key].objection(value, every):
            raise UsageError(
                "E045",
                f"parameter '{key}' of accelerator '{name}' must be {objection}; it is {value}",
                remedy=f"give it another value with --param {key}=VALUE",
            )


def calibrate_accelerator(
    name: str,
    params: Mapping[str, int],
    *,
    operators: int,
    seed: int,
    write: bool,
) -> AcceleratorCalibration:
    """Measure operators of an accelerator by its name or path.

    Raises:
        UsageError: E024, E045, its instances cannot have these parameters; E164, its description
            cannot be written into.
        SimulationError: E165; it cannot be measured.
    """
    path = find_accelerator(name, Path.cwd(), None)
    described = load_accelerator(path, None)
    _check_params(described, params)
    if write and not is_path(name):
        raise UsageError(
            "E164",
            f"'{name}' is installed, so that its description is not written into",
            remedy="leave --write out, or copy the description and name the path of your copy",
        )
    if write:
        _with_section(path, "timing", "timing: none\n")
    timings, left_out = measure_operators(
        described, params, operators=operators, seed=seed, progress=current()
    )
    words = [f"--param {word}={value}" for word, value in params.items()]
    words += [f"--operators {operators}", f"--seed {seed}"]
    shown = path.name if is_path(name) else name
    found = AcceleratorCalibration(
        accelerator=described.model.accelerator,
        timings=timings,
        command=" ".join(("atoll accelerator calibrate", shown, *words)),
        params=params,
        left_out=left_out,
    )
    if write and found.timing:
        write_text(path, _with_section(path, "timing", found.yaml()))
        return replace(found, wrote=name)
    return found


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


def _with_section(path: Path, key: str, section: str) -> str:
    """Return the text of a description with a section in the place of the one of that key.

    Raises:
        UsageError: E164; its YAML has no place for a section.
    """
    text = with_section(read_text(path), key, section)
    if text is None:
        raise UsageError(
            "E164",
            f"{path} is not written in lines that '{key}' could be added to",
            remedy="leave --write out, and copy what is printed",
        )
    return text
