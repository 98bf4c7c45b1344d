"""The command `atoll validate`: whether a chip stands what may befall it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from atoll.cli import require_toolchain
from atoll.cli_options import (
    BuildFileOption,
    FreeOption,
    JsonOption,
    OverlapOption,
    PinOption,
    PlaceOption,
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
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Quantised network (int8 TFLite).")
    ],
    faults: Annotated[
        int, typer.Option(metavar="N", min=1, help="Hardware faults to try, all kinds in turn.")
    ] = 50,
    seed: Annotated[int, typer.Option(help="Decides which faults.")] = SEED,
    build_file: BuildFileOption = None,
    place: PlaceOption = None,
    pin: PinOption = None,
    free: FreeOption = None,
    overlap: OverlapOption = None,
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    machine: JsonOption = False,
) -> None:
    """Try hardware faults on a chip in RTL, while it runs a network.

    The status is 0 only if every fault ends in a right result, an error code or a restart,
    and the chip runs right after it; what no hardware here can know of is shown and not counted.

    Example: atoll validate lagoon model.tflite --faults 200 --seed 7
    """
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)
    options = build_options([model], build_file, place, pin, free, overlap, accelerators=True)
    compiled = compile_file(resolved, model, options)
    (sample,) = random_sample(compiled.graph)
    with log.status("compiling") as status:
        campaign = run_campaign(
            compiled, sample, faults, seed, progress=status.update, toolchain=toolchain
        )
    if machine:
        print(json.dumps(as_json(campaign), indent=2))
    else:
        out.print(table(campaign))
        out.print(verdict(campaign))
    if not passed(campaign):
        raise typer.Exit(1)
