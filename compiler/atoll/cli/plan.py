# SPDX-License-Identifier: Apache-2.0
"""The command `atoll plan`: memory plans of networks and of bare instances."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.api.plans import plan_problem
from atoll.api.requests import effort_of
from atoll.cli.options import (
    AcceleratorsOption,
    AnyModelsArgument,
    JsonOption,
    PlacementOptions,
    ReportOption,
    SetOption,
    complete_with,
    seconds_of,
)
from atoll.cli.output import log
from atoll.cli.plan_output import show_plans
from atoll.cli.reports import prepare_report, write_report
from atoll.cli.requests import build_options, compile_files, log_each, log_notes
from atoll.cli.working import show_work
from atoll.cli.written_output import names_as_written
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.diagnostics.units import parse_size
from atoll.interchange.executorch import SUFFIX, hold_program
from atoll.interchange.instance import UNLIMITED, load_instance
from atoll.interchange.tflm_file import tflm_file
from atoll.memory.algorithms import DEFAULT, PLANNERS
from atoll.memory.effort import Effort
from atoll.records import dataclass
from atoll.utils.files import require_writable, write_bytes, write_text

Planned = atoll.Compilation | atoll.InstancePlan


class Export(StrEnum):
    """Formats of a plan."""

    CSV = "csv"
    JSON = "json"
    TFLM = "tflm"


AnySocArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SOC]",
        help="SoC description (YAML), or a shipped chip such as lagoon.",
        autocompletion=complete_with("chips"),
    ),
]


def _bytes(text: str) -> int:
    """Read a number of bytes, with or without a unit."""
    try:
        size = parse_size(text)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from fault
    if not 1 <= size <= UNLIMITED:
        raise typer.BadParameter(f"{text} is outside of 1 to 2^62 bytes")
    return size


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceOptions:
    """A table of buffers in the place of networks."""

    instance: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Plan this table instead: id,lower,upper,size (CSV)."),
    ] = None
    capacity: Annotated[
        int | None,
        typer.Option(
            parser=_bytes, metavar="BYTES", help="Size of the instance's pool, such as '1 MiB'."
        ),
    ] = None
    alignment: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="Alignment of the instance's buffers.")
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """A planner and what it may spend."""

    algorithm: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"Planner: {', '.join(PLANNERS.own)}, or a package's.",
            autocompletion=complete_with("algorithms"),
        ),
    ] = DEFAULT
    budget: Annotated[
        float | None,
        typer.Option(
            parser=seconds_of, metavar="TIME", help="Stop searching after this time, such as '10s'."
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Of what the planner draws at random.")
    ] = 0

    @property
    def effort(self) -> Effort:
        """The usual one; a budget in time is all that counts if there is one."""
        return effort_of(self.budget, self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """Where a plan is written and drawn."""

    export: Annotated[
        Export | None,
        typer.Option(help="Write the plan in this format; tflm: into a copy of the network."),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to export to; default: stdout."),
    ] = None
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the pools into this file (SVG).")
    ] = None
    picture: Annotated[bool, typer.Option("--picture", help="Draw the pools here.")] = False


def plan(
    soc: AnySocArgument = None,
    models: AnyModelsArgument = None,
    *,
    bare: InstanceOptions,
    search: SearchOptions,
    show: ShowOptions,
    overrides: SetOption = None,
    placement: PlacementOptions,
    accelerators: AcceleratorsOption = True,
    page: ReportOption = None,
    machine: JsonOption = False,
) -> None:
    """Plan memory: of networks on a chip, or of a bare instance.

    For each pool it says what is used, what no plan can go below, and so whether that is optimal.
    Several networks share one firmware: what they need together comes last. A program of
    ExecuTorch (.pte) has a plan, which is held against the chip's pools.

    Example: atoll plan lagoon model.tflite --picture, or: atoll plan --instance A.csv --json
    """
    PLANNERS.get(search.algorithm)
    _check_usage(soc, models or (), bare, show, page)
    if show.output:
        inputs = [*(models or ()), *filter(None, (soc, bare.instance))]
        require_writable(show.output, lambda target: target not in map(Path.resolve, inputs))
    if show.figure:
        require_writable(show.figure)
    prepare_report(page)
    if programs := [each for each in models or () if each.suffix == SUFFIX]:
        assert soc is not None
        _show_programs(programs, atoll.load_soc(soc, overrides=overrides or ()), machine=machine)
        return
    if bare.instance is not None:
        found: Planned = _plan_instance(bare.instance, bare, search)
    else:
        assert soc is not None
        assert models is not None
        asked = build_options(models, placement, accelerators=accelerators)
        options = [
            replace(each, algorithm=search.algorithm, effort=search.effort) for each in asked
        ]
        with show_work("compiling and planning"):
            chip = atoll.load_soc(soc, overrides=overrides or ())
            found = compile_files(chip, models, options)
        log_notes(found, linked=False)
        log_each(note for each in found for note in each.plan_notes)
        write_report(page, found)
    if show.figure:
        write_text(show.figure, found.svg())
        log(f"wrote {show.figure}")
    if show.export:
        _export(found, show.export, show.output, models or ())
    elif machine:
        print(json_text(found.to_json()), end="")
    else:
        compiled = found if isinstance(found, atoll.Compilation) else ()
        with names_as_written(soc, (each._compiled.graph for each in compiled)):
            show_plans(found._plans, picture=show.picture)


def _show_programs(programs: Sequence[Path], chip: atoll.Soc, *, machine: bool) -> None:
    """Hold programs of ExecuTorch, which carry their plans, against a chip."""
    held = [hold_program(each, chip._resolved) for each in programs]
    if machine:
        told = [each.as_json() for each in held]
        print(json_text(told if len(told) > 1 else told[0]), end="")
    else:
        print("\n\n".join(each.text() for each in held))


def _plan_instance(file: Path, bare: InstanceOptions, search: SearchOptions) -> atoll.InstancePlan:
    """Plan an instance; a remedy names the option that sets the pool's size."""
    problem = load_instance(file, bare.capacity, bare.alignment)

    def ask(size: str) -> str:
        return f"give --capacity '{size}' or more"

    with show_work("planning"):
        return plan_problem(file.name, problem, search.algorithm, search.effort, ask)


def _export(found: Planned, export: Export, output: Path | None, models: Sequence[Path]) -> None:
    if export is Export.TFLM:
        assert output is not None
        file = tflm_file(models[0])
        write_bytes(output, file.data)
        log(f"wrote {output}: {file.summary}")
        return
    text = json_text(found.to_json()) if export is Export.JSON else found.csv()
    if output is None:
        print(text, end="")
    else:
        write_text(output, text)
        log(f"wrote {output}")


def _check_usage(
    soc: Path | None,
    models: Sequence[Path],
    bare: InstanceOptions,
    show: ShowOptions,
    page: Path | None,
) -> None:
    instance, alignment, export = bare.instance, bare.alignment, show.export
    if instance is not None and soc is not None:
        raise _misuse("--instance takes no SOC and no MODEL", "plan one or the other")
    if instance is not None and page is not None:
        raise _misuse("--report is of networks on a chip", "draw the pools with --figure FILE")
    if instance is None and (soc is None or not models):
        raise _misuse("nothing to plan", "give SOC and MODEL, or --instance FILE")
    if instance is None and (bare.capacity is not None or alignment != 1):
        remedy = "change the pool with --set pools.NAME.size=SIZE"
        raise _misuse("--capacity and --alignment are for an --instance", remedy)
    if alignment & (alignment - 1):
        raise _misuse(f"--alignment {alignment} is not a power of two", "give 1, 2, 4, 8, 16, ...")
    if export is Export.TFLM and (not models or show.output is None):
        remedy = "write atoll plan SOC MODEL --export tflm -o FILE.tflite"
        raise _misuse("--export tflm needs a MODEL and a file to write", remedy)
    programs = [each for each in models if each.suffix == SUFFIX]
    if programs and (len(programs) < len(models) or export or page or show.figure or show.picture):
        remedy = "give programs of ExecuTorch alone, and no --export, --report, --figure, --picture"
        raise _misuse(f"'{programs[0]}' carries its plan, which is only checked", remedy)
    if len(models) > 1 and export in (Export.CSV, Export.TFLM):
        remedy = "give one MODEL, or --export json"
        raise _misuse(f"--export {export} is of one network, and there are {len(models)}", remedy)
    if show.output is not None and export is None:
        raise _misuse("--output needs --export", "give --export csv, json or tflm")


def _misuse(message: str, remedy: str) -> UsageError:
    return UsageError("E090", message, remedy=remedy)
