# SPDX-License-Identifier: Apache-2.0
"""What the simulator gives to the tests and calibrations of cores and accelerators."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from atoll.api.core_calibration import CoreCalibration
from atoll.api.kits import AcceleratorCalibration, AcceleratorCheck, CoreCheck, CoreTrial
from atoll.cost.counted import knows_kernels, knows_kernels_of
from atoll.description.accelerator_files import (
    AcceleratorDescription,
    find_accelerator,
    load_accelerator,
)
from atoll.description.core import Core
from atoll.description.core_files import find_core, load_core
from atoll.description.faults import nearest
from atoll.description.share import is_path
from atoll.description.text_edits import with_section
from atoll.description.yaml_text import read_text
from atoll.diagnostics.errors import SimulationError, UsageError
from atoll.diagnostics.progress import current
from atoll.diagnostics.units import format_size
from atoll.resolve.soc import ResolvedSoc
from atoll.utils.files import write_text
from atoll.utils.scratch import temporary_folder
from atoll_sim.accelerator_test.accelerator_kit import measure_operators, run_accelerator_test
from atoll_sim.accelerator_test.unit_kit import OPERANDS, is_unit, run_unit_test
from atoll_sim.core_calibration.calibrate import Calibration
from atoll_sim.core_calibration.chips import made_chip
from atoll_sim.core_calibration.fit import Cache
from atoll_sim.core_test.core_kit import run_core_test
from atoll_sim.coverage.folder import prepare_folder


def check_accelerator(
    name: str,
    params: Mapping[str, int],
    *,
    operators: int,
    faults: int,
    mutants: int,
    seed: int,
    toolchain: str | None,
    coverage: Path | None = None,
) -> AcceleratorCheck:
    """Test an accelerator by its name or path, or a function unit by its path.

    Raises:
        UsageError: E024, E045, its instances cannot have these parameters; E092, E258, nothing can
            be added to the folder of `coverage`; E191, a function unit has none.
    """
    if is_path(name) and is_unit(Path(name)):
        if coverage:
            raise UsageError(
                "E191",
                f"{name} describes a function unit, whose test takes no --coverage",
                remedy="leave it out; atoll run --coverage counts units in their cores",
            )
        unit = Path(name).resolve()
        return run_unit_test(unit, operands=OPERANDS * operators, seed=seed, progress=current())
    described = load_accelerator(find_accelerator(name, Path.cwd(), None), None)
    _check_params(described, params)
    if coverage:
        prepare_folder(coverage)
    return run_accelerator_test(
        described,
        params,
        operators=operators,
        faults=faults,
        mutants=mutants,
        seed=seed,
        toolchain=toolchain,
        progress=current(),
        coverage=coverage,
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
    if write:
        _require_place(name, path)
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
    _check_isa(described, isa)
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
        notes=found.notes,
    )


def calibrate_core(
    name: str,
    isa: str | None,
    *,
    chip: ResolvedSoc | None,
    cache: tuple[int, int] | None,
    networks: int,
    seed: int,
    jobs: int,
    resume: bool,
    write: bool,
) -> CoreCalibration:
    """Measure a core by its name or path, on a chip or on one that is made for it.

    Raises:
        UsageError: E040, E239, E240, E241, it cannot be measured like this; E164, its description
            cannot be written into.
        SimulationError: E238; there is no RTL, or it computes something wrong.
    """
    path = find_core(name, "", Path.cwd(), None).resolve()
    described = load_core(path, None).model
    _check_isa(described, isa)
    if not described.rtl:
        raise SimulationError(
            "E238",
            f"cycles of core '{described.core}' cannot be measured: there is no RTL",
            remedy="give its YAML 'rtl'",
        )
    if write:
        _require_place(name, path)
    with temporary_folder() as folder:
        core = str(path) if is_path(name) else name
        soc = chip or made_chip(core, isa or described.isas[0], folder)
        _check_host(soc, described, isa)
        used = Cache(*cache) if cache else _cache_of(described)
        words = ["atoll core calibrate", path.name if is_path(name) else name]
        words += [f"--isa {soc.host_cpu.isa}" if chip is None else f"--chip {chip.name}"]
        words += [f'--cache "{format_size(used.size)}" --line {used.line}'] if used else []
        words += [f"--networks {networks}", f"--seed {seed}"]
        startup = path.parent / (described.startup or "")
        found = Calibration(
            soc=soc,
            cache=used,
            networks=networks,
            seed=seed,
            jobs=jobs,
            resume=resume,
            source=" ".join(words),
            beside=(path, *([startup] if startup.is_file() else [])),
            progress=current(),
        ).run()
    if write:
        write_text(path, _with_section(path, "timing", found.yaml()))
        return replace(found, wrote=name)
    return found


def _check_isa(described: Core, isa: str | None) -> None:
    if isa is not None and isa not in described.isas:
        raise UsageError(
            "E040",
            f"core '{described.core}' cannot run '{isa}'",
            remedy=f"use --isa with one of {', '.join(described.isas)}",
        )


def _check_host(soc: ResolvedSoc, described: Core, isa: str | None) -> None:
    host = soc.host_cpu
    if host.spec.name != described.core or isa not in (None, host.isa):
        wanted = " ".join(filter(None, (f"core '{described.core}'", isa and f"with '{isa}'")))
        raise UsageError(
            "E240",
            f"chip '{soc.name}' does not run {wanted}: its host '{host.name}' is core"
            f" '{host.spec.name}' with '{host.isa}'",
            remedy="name a chip whose host it is, or leave --chip out",
        )
    if not knows_kernels(host):
        counted = [each for each in described.isas if knows_kernels_of(each)]
        raise UsageError(
            "E239",
            f"estimates know no kernels of '{host.isa}': nobody counted their instructions",
            remedy=f"use --isa with one of {', '.join(counted)}"
            if counted
            else "count them with 'python -m benchmarks.calibrate counts' in Atoll's repository",
        )


def _cache_of(described: Core) -> Cache | None:
    cache = described.timing and described.timing.instruction_cache
    return Cache(cache.size, cache.line) if cache else None


def _require_place(name: str, path: Path) -> None:
    """Refuse a description into which no timing can be written.

    Raises:
        UsageError: E164.
    """
    if not is_path(name):
        raise UsageError(
            "E164",
            f"'{name}' is installed, so that its description is not written into",
            remedy="leave --write out, or copy the description and name the path of your copy",
        )
    _with_section(path, "timing", "timing: none\n")


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
