"""The command `atoll build`."""

from pathlib import Path
from typing import Annotated

import typer

from atoll.build_tree import Emit, build, tree_json
from atoll.cli.options import (
    AcceleratorsOption,
    JsonOption,
    ModelsArgument,
    PlacementOptions,
    SetOption,
    SocArgument,
    ToolchainOption,
    offered,
)
from atoll.cli.output import log, log_room
from atoll.cli.requests import build_options, log_notes, require_toolchain
from atoll.cli.working import working
from atoll.columns import wrapped
from atoll.errors import UsageError
from atoll.files import write_text
from atoll.ir.graph import Graph
from atoll.ir.tir import IRModule
from atoll.object_tree import build_objects
from atoll.pipeline import STAGES
from atoll.resolve import load_soc
from atoll.several_models import compile_models
from atoll.shown import json_text

DumpOption = Annotated[
    str | None,
    typer.Option(
        metavar="STAGE",
        help=f"Print the program after this stage: {', '.join(STAGES)}.",
        autocompletion=offered("stages"),
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
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)

    def observe(stage: str, result: object) -> None:
        if stage == dump_after and dump_to:
            write_text(dump_to, str(result))
        elif stage == dump_after:
            print(result.brief() if isinstance(result, Graph | IRModule) else result)

    options = build_options(models, placement, accelerators=accelerators)
    with working("compiling and planning") as progress:
        compiled = compile_models(resolved, models, options, observe)
        if objects:
            made = build_objects(compiled, output, emit=emit, toolchain=toolchain)
            data, summary = made.as_json(compiled), made.summary()
        else:
            progress("building the firmware")
            tree = build(compiled, output, toolchain=toolchain, emit=emit)
            data, summary = tree_json(tree, compiled), tree.firmware.summary()
    log_notes(compiled, linked=not objects)
    if machine:
        print(json_text(data), end="")
    else:
        log(wrapped(f"wrote {output}: {summary}", log_room()))


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
