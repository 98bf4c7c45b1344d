"""The command `atoll validate`: whether a chip stands what may befall it."""

import json
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
from atoll_sim.faults.campaign import run_campaign
from atoll_sim.faults.report import as_json, passed, table, verdict
from atoll_sim.samples import random_sample

SEED = 1


def validate(
    soc: SocArgument,
    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL", help="Quantised network (int8 TFLite); several are tried one by one."
        ),
    ],
    faults: Annotated[
        int, typer.Option(metavar="N", min=1, help="Hardware faults for each MODEL.")
    ] = 50,
    seed: Annotated[int, typer.Option(metavar="S", help="Draw other faults.")] = SEED,
    build_file: BuildFileOption = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Try hardware faults on a chip in RTL, while it runs networks.

    The status is 0 only if every fault ends in a right result, an error code or a restart,
    and the chip runs right after it; what no hardware here can know of is shown and not counted.

    Example: atoll validate lagoon model.tflite --faults 200 --seed 7
    """
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    options = build_options(models, build_file, None, None, None, None, accelerators=True)
    compiled = [compile_file(resolved, model, options) for model in models]
    campaigns = []
    with log.status("compiling") as status:
        for each in compiled:
            (sample,) = random_sample(each.graph)
            campaigns.append(
                run_campaign(
                    each, sample, faults, seed, progress=status.update, toolchain=toolchain
                )
            )
    good = all(map(passed, campaigns))
    if machine:
        networks = [as_json(campaign) for campaign in campaigns]
        print(json.dumps({"passed": good, "networks": networks}, indent=2))
    else:
        for campaign in campaigns:
            out.print(table(campaign))
            out.print(verdict(campaign))
    if not good:
        raise typer.Exit(1)
