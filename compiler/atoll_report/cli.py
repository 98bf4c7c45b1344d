# SPDX-License-Identifier: Apache-2.0
"""The command `atoll report`."""

from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.reports import TRY_SECONDS
from atoll.cli.options import (
    AcceleratorsOption,
    JsonOption,
    PlacementOptions,
    SetOption,
    complete_with,
    seconds_of,
)
from atoll.cli.output import log
from atoll.cli.reports import prepare_report
from atoll.cli.requests import build_options, compile_files
from atoll.cli.working import show_work
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll_report.files import is_found

BudgetOption = Annotated[
    float | None,
    typer.Option(
        parser=seconds_of,
        metavar="TIME",
        help="For so long, try changes that might help; default: 0.5s.",
    ),
]


def report_command(
    soc: Annotated[
        Path,
        typer.Argument(
            metavar="SOC|FOUND",
            help="SoC description (YAML), or a shipped chip such as lagoon; or the folder of a "
            "build, a file that a command printed with --json, or an earlier report.",
            autocompletion=complete_with("chips"),
        ),
    ],
    models: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="MODEL",
            help="Quantised networks (TFLite or ONNX) that share one firmware; or more of what "
            "was found.",
        ),
    ] = None,
    *,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The page to write (HTML)."),
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(metavar="FOUND", help="Show what this held side by side: a report, a build."),
    ] = None,
    budget: BudgetOption = None,
    placement: PlacementOptions,
    overrides: SetOption = None,
    accelerators: AcceleratorsOption = True,
    machine: JsonOption = False,
) -> None:
    """Draw a chip, its networks and their proofs as one page.

    The page needs no other file and no network. Of networks it shows the plan, the decisions and
    the estimate; what a run proved is shown where there was one: atoll run --report, or its JSON.
    With --json the documents are printed that the page has.

    Example: atoll report lagoon model.tflite -o report.html
    """
    if output is None and not machine:
        raise UsageError("E090", "no file to write", remedy="give -o FILE.html, or --json")
    prepare_report(output)
    others = models or []
    other = atoll.make_report(before) if before else None
    if is_found(soc):
        found = atoll.make_report(soc, *others, before=other)
    else:
        if results := [each for each in others if is_found(each)]:
            raise UsageError(
                "E228",
                f"nothing says that '{results[0]}' is of this chip and these networks",
                remedy=f"give '{results[0]}' alone, or run again with atoll run --report",
            )
        options = build_options(others, placement, accelerators=accelerators)
        with show_work("compiling and planning"):
            chip = atoll.load_soc(soc, overrides=overrides or ())
            made = compile_files(chip, others, options) if others else chip
            found = atoll.make_report(
                made, before=other, try_seconds=TRY_SECONDS if budget is None else budget
            )
    if output:
        found.write(output)
        log(f"wrote {output}")
    if machine:
        print(json_text(found.to_json()), end="")
