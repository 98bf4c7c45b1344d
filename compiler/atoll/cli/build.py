# SPDX-License-Identifier: Apache-2.0
"""The command `atoll build`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

import atoll
from atoll.api.driver import STAGES
from atoll.artifacts.build_tree import Emit
from atoll.cli.options import (
    AcceleratorsOption,
    JsonOption,
    ModelsArgument,
    PlacementOptions,
    SetOption,
    SocArgument,
    ToolchainOption,
    complete_with,
)
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, compile_files, log_notes
from atoll.cli.working import show_work
from atoll.diagnostics.columns import wrap
from atoll.diagnostics.errors import UsageError
from atoll.diagnostics.shown import json_text
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.utils.files import require_writable, write_text

DumpOption = Annotated[
    str | None,
    typer.Option(
        metavar="STAGE",
        help=f"Print the program after this stage: {', '.join(STAGES)}.",
        autocompletion=complete_with("stages"),
    ),
]
DumpToOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write what --dump-after prints to a file instead, with all bytes of constants, so"
        " that atoll opt can read it.",
    ),
]
ObjectsOption = Annotated[
    bool,
    typer.Option("--objects", help="Write objects, headers and plans alone, for another firmware."),
]
EmitOption = Annotated[
    Emit,
    typer.Option(
        "--emit",
        help="How the networks' code is made: by LLVM, or as readable C99 (model.c in the build"
        " folder) by the compiler of each core.",
    ),
]


def build_command(
    soc: SocArgument,
    models: ModelsArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Build folder to make or replace.")
    ],
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    *,
    placement: PlacementOptions,
    accelerators: AcceleratorsOption = True,
    dump_after: DumpOption = None,
    dump_to: DumpToOption = None,
    objects: ObjectsOption = False,
    emit: EmitOption = Emit.OBJECT,
    machine: JsonOption = False,
) -> None:
    """Compile networks for a chip.

    The build folder holds every stage as text, the BSP, and the firmware, ready to simulate.
    Several networks share the workspace of one firmware, and each has a folder of its name.
    With --objects there is no firmware: no start-up code, linker script, main function or link.

    Example: atoll build lagoon model.tflite -o build/model
    """
    compiler = toolchain if emit is Emit.OBJECT else None
    _check_usage(dump_after, compiler, objects=objects, machine=machine and dump_to is None)
    if dump_to and not dump_after:
        remedy = "name the stage with --dump-after"
        raise UsageError("E090", "--dump-to without --dump-after writes nothing", remedy=remedy)
    if dump_to:
        require_writable(dump_to)
    chip = atoll.load_soc(soc, overrides=overrides or ())
    chip.require_toolchain(toolchain)

    def observe(stage: str, result: object) -> None:
        if stage == dump_after and dump_to:
            write_text(dump_to, str(result))
        elif stage == dump_after:
            print(result.brief() if isinstance(result, Graph | IRModule) else result)

    options = build_options(models, placement, accelerators=accelerators)
    with show_work("compiling and planning"):
        compiled = compile_files(chip, models, options, observe)
        how: Literal["object", "c"] = "object" if emit is Emit.OBJECT else "c"
        made = atoll.build(compiled, output, objects=objects, emit=how, toolchain=toolchain)
    log_notes(compiled, linked=not objects)
    if machine:
        print(json_text(made.to_json()), end="")
    else:
        log(wrap(f"wrote {output}: {made.summary}", log_room()))


def _check_usage(
    dump_after: str | None, toolchain: str | None, *, objects: bool, machine: bool
) -> None:
    _require_stage(dump_after)
    if dump_after and machine:
        remedy = "give one of them; the build folder has the text of every stage"
        raise UsageError("E090", "--dump-after and --json both want the output", remedy=remedy)
    if objects and toolchain:
        remedy = "leave --toolchain out"
        raise UsageError("E090", "--objects needs no C compiler and no linker", remedy=remedy)


def _require_stage(name: str | None) -> None:
    """Refuse the name of a stage that is not there.

    Raises:
        UsageError: E094.
    """
    if name is not None and name not in STAGES:
        raise UsageError("E094", f"no stage '{name}'", remedy=f"use one of {', '.join(STAGES)}")
