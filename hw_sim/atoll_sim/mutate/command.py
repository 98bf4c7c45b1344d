"""The command `atoll validate`."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli import require_toolchain
from atoll.cli_options import (
    BuildFileOption,
    JsonOption,
    SetOption,
    SocArgument,
    ToolchainOption,
    build_options,
)
from atoll.cli_output import log, out
from atoll.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.mutate.campaign import plant
from atoll_sim.mutate.report import as_json, text_of


def validate(
    soc: SocArgument,
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL", help="Quantised network (int8 TFLite); several are tried one by one."
        ),
    ],
    mutants: Annotated[
        int, typer.Option(metavar="N", min=0, help="Plant so many faults, shared by the MODELs.")
    ] = 0,
    seed: Annotated[int, typer.Option(metavar="S", help="Draw other faults.")] = 1,
    jobs: Annotated[
        int, typer.Option(metavar="J", min=1, help="Simulations at a time; default: all cores.")
    ] = os.cpu_count() or 1,
    build_file: BuildFileOption = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Plant faults in builds and see that all are noticed.

    Each MODEL is compiled and run in RTL on its own, which must give no finding. With --mutants,
    faults are planted in plan, program, commands, link and firewalls, one per run.
    The status is 0 only if the right builds have no finding and every fault is noticed that is not
    proven to be none.

    Example: atoll validate lagoon model.tflite --mutants 100
    """
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    options = build_options(models, build_file, None, None, None, None, accelerators=True)
    compiled = [compile_file(resolved, model, options) for model in models]
    campaigns = []
    with log.status("compiling") as status:
        for number, each in enumerate(compiled):
            share = mutants // len(compiled) + (number < mutants % len(compiled))
            campaigns.append(
                plant(
                    each,
                    share,
                    seed=seed,
                    jobs=jobs,
                    toolchain=toolchain,
                    progress=status.update,
                )
            )
    passed = all(campaign.passed for campaign in campaigns)
    if machine:
        networks = [as_json(campaign) for campaign in campaigns]
        print(json.dumps({"passed": passed, "networks": networks}, indent=2))
    else:
        out.print(text_of(campaigns))
    if not passed:
        raise typer.Exit(1)
