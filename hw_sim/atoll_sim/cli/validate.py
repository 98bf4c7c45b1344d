# SPDX-License-Identifier: Apache-2.0
"""The command `atoll validate`: whether wrong builds are noticed, and what breaks is survived."""

import os
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.console import out
from atoll.cli.options import (
    BuildFileOption,
    JsonOption,
    PlacementOptions,
    ReportOption,
    SetOption,
    SocArgument,
    ToolchainOption,
)
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.diagnostics.shown import json_text
from atoll_sim.api.compiled_networks import check_validation, validate_compiled
from atoll_sim.coverage.folder import prepare_folder

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
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the mutants of a campaign that was interrupted."),
]
CoverageOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Add what the right builds reach of the RTL and of what the description allows to"
        " DIR; runs with planted faults do not count.",
    ),
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
    resume: ResumeOption = False,
    coverage: CoverageOption = None,
    verbose: VerboseOption = False,
    page: ReportOption = None,
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
    prepare_report(page)
    chip = atoll.load_soc(soc, overrides=overrides or ())
    chip.require_toolchain(toolchain)
    check_validation(chip._resolved, planted=bool(mutants or faults or coverage or not caches))
    if coverage:
        prepare_folder(coverage)
    options = build_options(models, PlacementOptions(build_file=build_file))
    with show_work("compiling and planning"):
        alone = zip(models, options, strict=True)
        compiled = [compile_files(chip, [each], [asked])._compiled[0] for each, asked in alone]
    with show_work("compiling"):
        found = validate_compiled(
            compiled,
            mutants=mutants,
            faults=faults,
            caches=caches,
            seed=seed,
            jobs=jobs,
            toolchain=toolchain,
            resume=resume,
            coverage=coverage,
        )
    write_report(page, chip, atoll.Validation(found.passed, found))
    print(json_text(found.as_json()), end="") if machine else out.print(found.rich(verbose=verbose))
    if not found.passed:
        raise typer.Exit(1)
