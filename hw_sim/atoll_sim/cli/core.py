# SPDX-License-Identifier: Apache-2.0
"""The command `atoll core`: begin the file of a core, test its adapter, measure what it takes."""

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import atoll
from atoll.cli.console import out
from atoll.cli.options import JsonOption, SetOption, ToolchainOption
from atoll.cli.tables import room
from atoll.cli.working import show_work
from atoll.cli.written import log_files
from atoll.diagnostics.shown import json_text
from atoll.diagnostics.units import parse_size

ALL_CORES = os.cpu_count() or 1


class Action(StrEnum):
    """What to do with a core."""

    TEST = "test"
    CALIBRATE = "calibrate"
    NEW = "new"


ActionArgument = Annotated[
    Action,
    typer.Argument(
        help="What to do: test its adapter, calibrate its estimates, or begin its file."
    ),
]
CoreArgument = Annotated[
    str,
    typer.Argument(
        metavar="CORE",
        help="Name of an installed core, or the path of its YAML; new: the name of another.",
    ),
]
IsaOption = Annotated[
    str | None,
    typer.Option(metavar="ISA", help="Its instruction set; default: its first."),
]
CpuOption = Annotated[
    str | None,
    typer.Option(
        metavar="PROCESSOR",
        help="new: LLVM's name of one with RISC-V or of a Cortex-M, such as cortex-m23.",
    ),
]
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="new: file to write; default: by the name."
    ),
]
SeedOption = Annotated[
    int, typer.Option(metavar="S", help="Draw other waits of the bus, or other networks.")
]
ChipOption = Annotated[
    str | None,
    typer.Option(
        metavar="SOC", help="calibrate: a chip whose host is the core; one is made if not said."
    ),
]
NetworksOption = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="calibrate: networks to fit to, 24 if not said."),
]
CacheOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="calibrate: of its instruction cache; default: as its description says.",
    ),
]
LineOption = Annotated[
    int | None,
    typer.Option(metavar="BYTES", min=4, help="calibrate: of a line of that cache."),
]
JobsOption = Annotated[
    int | None,
    typer.Option(metavar="J", min=1, help="calibrate: runs at a time; default: all cores."),
]
ResumeOption = Annotated[
    bool,
    typer.Option("--resume", help="calibrate: go on with one that was interrupted."),
]
WriteOption = Annotated[
    bool, typer.Option("--write", help="calibrate: put the timing into the description.")
]


def core(
    action: ActionArgument,
    name: CoreArgument,
    isa: IsaOption = None,
    seed: SeedOption = 1,
    chip: ChipOption = None,
    overrides: SetOption = None,
    networks: NetworksOption = None,
    cache: CacheOption = None,
    line: LineOption = None,
    jobs: JobsOption = None,
    resume: ResumeOption = False,
    write: WriteOption = False,
    toolchain: ToolchainOption = None,
    cpu: CpuOption = None,
    output: OutputOption = None,
    machine: JsonOption = False,
) -> None:
    """Test or calibrate a core, or begin its file.

    'test' runs a program with the core's start-up code on the adapter alone. Loads, stores, byte
    lanes, interrupts, timeouts, failed accesses, illegal instructions and resets must be what the
    core's description promises, on a bus without waits, with some, and with many.
    The status is 0 if nothing is wrong.

    'calibrate' runs random networks on the core in RTL, with memories that answer at once, with
    late code, with late data and with constants beside code, and prints the 'timing' of the
    description that follows, with how far estimates of other networks are off; --write puts it
    there. An instruction-set simulator counts the instructions.

    'new' writes the description of a core with the instruction set --isa, or like --cpu, and a
    schema for editors beside it. Each value says where it is from; guesses are called so.

    Example: atoll core test ibex
    """
    given = {"chip": chip, "set": overrides, "networks": networks, "cache": cache, "line": line}
    given |= {"jobs": jobs, "resume": resume or None, "write": write or None}
    of_new = {"cpu": cpu, "output": output}
    if action is Action.NEW:
        _refuse_idle_options(action, {**given, "toolchain": toolchain})
        made = atoll.new_core(name, output, isa=isa, cpu=cpu)
        hint = f"; next: atoll new my_chip --core {_as_path(made.files[0])}"
        log_files(made, machine=machine, hint=hint)
        return
    if action is Action.CALIBRATE:
        _refuse_idle_options(action, {"toolchain": toolchain, **of_new})
        soc = atoll.load_soc(chip, overrides=overrides or ()) if chip else None
        if not chip:
            _refuse_idle_options("calibrate without --chip", {"set": overrides})
        with show_work("measuring"):
            measured = atoll.calibrate_core(
                name,
                isa=isa,
                chip=soc,
                cache=_cache(cache, line),
                networks=networks or 24,
                seed=seed,
                jobs=jobs or ALL_CORES,
                resume=resume,
                write=write,
            )
        if machine:
            print(json_text(measured.to_json()), end="")
        else:
            out.print(measured.text(room()), end="")
        return
    _refuse_idle_options(action, {**given, **of_new})
    with show_work("testing"):
        found = atoll.check_core(name, isa=isa, seed=seed, toolchain=toolchain)
    if machine:
        print(json_text(found.to_json()), end="")
    else:
        out.print(found.text(room()), end="")
    if not found.passed:
        raise typer.Exit(1)


def _as_path(file: Path) -> str:
    """Return what names a file and no installed part."""
    return str(file) if "/" in str(file) else f"./{file}"


def _refuse_idle_options(action: str, given: Mapping[str, object]) -> None:
    idle = [name for name, value in given.items() if value is not None]
    if idle:
        raise atoll.UsageError(
            "E191",
            f"{action} takes no {', '.join(f'--{name}' for name in idle)}",
            remedy=f"leave {'it' if len(idle) == 1 else 'them'} out",
        )


def _cache(size: str | None, line: int | None) -> tuple[int, int] | None:
    """Return the bytes of a cache and of its line.

    Raises:
        UsageError: E163, E191; one is no size, or missing.
    """
    if size is None and line is None:
        return None
    if size is None or line is None:
        raise atoll.UsageError(
            "E191",
            f"{'--cache' if line is None else '--line'} says nothing by itself",
            remedy=f"write {'--line' if line is None else '--cache'} too",
        )
    try:
        return parse_size(size), line
    except ValueError as fault:
        raise atoll.UsageError("E163", f"--cache: {fault}", remedy='write "2 KiB"') from fault
