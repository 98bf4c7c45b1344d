# SPDX-License-Identifier: Apache-2.0
"""The command `atoll validate`: whether wrong builds are noticed, and what breaks is survived."""

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli.console import out
from atoll.cli.options import (
    BuildFileOption,
    JsonOption,
    PlacementOptions,
    SetOption,
    SocArgument,
    ToolchainOption,
)
from atoll.cli.requests import build_options, require_toolchain
from atoll.cli.working import working
from atoll.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.samples import random_sample
from atoll.shown import json_text
from atoll_sim.chip.checks import check_cores
from atoll_sim.faults import campaign as faults_of
from atoll_sim.faults import report as fault_report
from atoll_sim.mutate import campaign as mutants_of
from atoll_sim.mutate import report as mutant_report
from atoll_sim.mutate.caches import CacheCampaign, plant_left_out

ALL_CORES = os.cpu_count() or 1
SeveralModelsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="MODEL", help="Quantised network (int8 TFLite); several are tried one by one."
    ),
]
MutantsOption = Annotated[
    int, typer.Option(metavar="N", min=0, help="Wrong builds, shared by the MODELs.")
]
FaultsOption = Annotated[
    int, typer.Option(metavar="N", min=0, help="Hardware faults, shared by the MODELs.")
]
CachesOption = Annotated[
    bool,
    typer.Option("--caches", help="Leave out each operation on a data cache (--cpu iss)."),
]
SeedOption = Annotated[int, typer.Option(metavar="S", help="Draw other mutants and faults.")]
JobsOption = Annotated[
    int, typer.Option(metavar="J", min=1, help="Simulations at a time; default: all cores.")
]
VerboseOption = Annotated[
    bool,
    typer.Option("--verbose", help="Name buffer, address and line of every mutant and fault."),
]


def validate(
    soc: SocArgument,
    models: SeveralModelsArgument,
    mutants: MutantsOption = 0,
    faults: FaultsOption = 0,
    caches: CachesOption = False,
    seed: SeedOption = 1,
    jobs: JobsOption = ALL_CORES,
    build_file: BuildFileOption = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    verbose: VerboseOption = False,
    machine: JsonOption = False,
) -> None:
    """Plant faults in builds and in hardware, and see how they end.

    Each MODEL is compiled and run in RTL on its own, which must give no finding.
    With --mutants, faults are planted in plan, program, commands, link and firewalls, one per run.
    With --faults, hardware fails in a run: bus, memory, interrupt, engine, descriptor, reset.
    With --caches, each clean and invalidate of a data cache is left out, on the instruction-set
    simulator.
    The status is 0 only if the right builds have no finding, every mutant is noticed that is not
    proven to be no fault, and every fault ends in a right result, an error code or a restart.

    Example: atoll validate lagoon model.tflite --mutants 100 --faults 200
    """
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    if mutants or faults or not caches:
        check_cores(resolved, _instead(resolved))
    options = build_options(models, PlacementOptions(build_file=build_file))
    with working("compiling and planning"):
        compiled = list(map(partial(compile_file, resolved), models, options))
    with working("compiling") as progress:
        mutate = partial(
            mutants_of.plant, seed=seed, jobs=jobs, toolchain=toolchain, progress=progress
        )
        fail = partial(faults_of.run_campaign, seed=seed, toolchain=toolchain, progress=progress)
        alone = mutants or not (faults or caches)
        planted = [
            mutate(each, count, first=first)
            for each, first, count in shared(mutants, compiled if alone else ())
        ]
        broken = [
            fail(each, random_sample(each.graph)[0], count, first=first)
            for each, first, count in shared(faults, compiled)
            if count
        ]
        leave_out = partial(plant_left_out, seed=seed, toolchain=toolchain, progress=progress)
        cached = [leave_out(each) for each in compiled if caches]
    _finish(planted, broken, cached, verbose=verbose, machine=machine)


def _instead(soc: ResolvedSoc) -> tuple[str, str]:
    """Return what helps where a core, or its unit, has no RTL, in which faults are planted."""
    core, unit = "use another core, one with RTL", "give the unit's YAML 'rtl'"
    if soc.cached_cpus:
        alone = "use --caches alone, which runs on the instruction-set simulator"
        return f"{alone}, or {core[4:]}", f"{alone}, or {unit}"
    return core, unit


def _finish(
    planted: Sequence[mutants_of.Campaign],
    broken: Sequence[faults_of.Campaign],
    cached: Sequence[CacheCampaign],
    *,
    verbose: bool,
    machine: bool,
) -> None:
    passed = all(each.passed for each in planted) and all(each.passed for each in cached)
    passed = passed and all(map(fault_report.passed, broken))
    if machine:
        networks = [mutant_report.as_json(each) for each in planted]
        ended = [fault_report.as_json(each) for each in broken]
        left = [each.as_json() for each in cached]
        told = {"passed": passed, "networks": networks, "faults": ended, "caches": left}
        print(json_text(told), end="")
    else:
        if planted:
            out.print(mutant_report.text_of(planted, verbose=verbose))
        for line in fault_report.shown(broken, verbose=verbose):
            out.print(line)
        for each in cached:
            out.print(each.text(verbose=verbose))
    if not passed:
        raise typer.Exit(1)


def shared(total: int, networks: Sequence[Compiled]) -> Iterator[tuple[Compiled, int, int]]:
    """Share `total` among networks: yield each with how many came before it, and its own."""
    first = 0
    for number, network in enumerate(networks):
        count = total // len(networks) + (number < total % len(networks))
        yield network, first, count
        first += count
