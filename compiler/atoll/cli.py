"""The `atoll` command: parse arguments, call one function, print what it returns."""

import errno
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from atoll import completion
from atoll.bsp.doctor import diagnose
from atoll.bsp.toolchain import find_toolchain
from atoll.build_tree import tree_json
from atoll.cli_explain import explain, print_tables
from atoll.cli_options import (
    AcceleratorsOption,
    BuildFileOption,
    FreeOption,
    JsonOption,
    ModelsArgument,
    OverlapOption,
    PinOption,
    PlaceOption,
    SetOption,
    SimulateOption,
    SocArgument,
    ToolchainOption,
    build_options,
)
from atoll.cli_output import (
    INTERRUPTED,
    abandon_output,
    accept_any_text,
    log,
    log_room,
    print_faults,
)
from atoll.cli_plan import plan
from atoll.cli_plugins import add_commands
from atoll.cli_progress import working
from atoll.columns import wrapped
from atoll.description.schemas import require_schema_beside, write_schema_beside
from atoll.description.template import starting_description
from atoll.errors import AtollError, UsageError
from atoll.files import DISK_FAULTS, unwritable, write_text
from atoll.object_tree import build_objects
from atoll.pipeline import STAGES, require_stage
from atoll.report.schema_files import schema_text, write_schemas
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.shown import json_text, shown_lines
from atoll.soc_checks import check_soc
from atoll.together import build_together, compile_together

app = typer.Typer(
    name="atoll",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(explain)
app.command()(plan)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"atoll {version('atoll')}")
        raise typer.Exit


@app.callback()
def common(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Describe a SoC in YAML, compile networks for it, prove where every tensor is.

    Begin with: atoll check lagoon
    """


@app.command()
def check(
    soc: SocArgument,
    simulate: SimulateOption = None,
    overrides: SetOption = None,
    machine: JsonOption = False,
) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy. What was not looked at
    is said before the verdict.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    resolved = load_soc(soc, overrides or ())
    left_out = check_soc(resolved, simulate=simulate)
    print_tables(resolved, tables.summary(resolved), machine=machine, not_checked=left_out)
    if not machine:
        print("\n  ".join(("\nnot checked:", *left_out)))
        print(f"\n{resolved.name}: no faults")


@app.command()
def schema(
    which: Annotated[
        str,
        typer.Argument(
            metavar="WHICH",
            help="soc, accelerator or build; COMMAND-output: of its --json.",
            autocompletion=completion.schemas,
        ),
    ] = "soc",
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all schemas into DIR instead.")
    ] = None,
    machine: JsonOption = False,
) -> None:
    """Print the JSON Schema of a file or an output.

    Editors check and complete descriptions with it.

    Example: atoll schema accelerator > accelerator.schema.json
    """
    if write is None:
        print(schema_text(which), end="")
    else:
        _wrote(*write_schemas(write), machine=machine)


@app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the chip: lower-case letters, digits, _.")
    ],
    path: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write; default: NAME.yaml."),
    ] = None,
    machine: JsonOption = False,
) -> None:
    """Write a commented, valid description to start from.

    Beside it goes soc.schema.json, with which editors check and complete it.

    Example: atoll new my_chip, then: atoll check my_chip.yaml
    """
    target = path or Path(f"{name}.yaml")
    text = starting_description(name)
    if target.exists():
        raise UsageError(
            "E091", f"{target} exists already", remedy="choose another name, or remove the file"
        )
    require_schema_beside(target)
    write_text(target, text)
    write_schema_beside(target)
    _wrote(target, machine=machine, hint=f"; next: atoll check {target}")


@app.command("build")
def build_command(
    soc: SocArgument,
    models: ModelsArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Build folder to make or replace.")
    ],
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    build_file: BuildFileOption = None,
    place: PlaceOption = None,
    pin: PinOption = None,
    free: FreeOption = None,
    overlap: OverlapOption = None,
    accelerators: AcceleratorsOption = True,
    dump_after: Annotated[
        str | None,
        typer.Option(
            metavar="STAGE",
            help=f"Print the program after this stage: {', '.join(STAGES)}.",
            autocompletion=completion.stages,
        ),
    ] = None,
    objects: Annotated[
        bool,
        typer.Option(
            "--objects", help="Write objects, headers and plans alone, for another firmware."
        ),
    ] = False,
    machine: JsonOption = False,
) -> None:
    """Compile networks for a chip.

    The build folder holds every stage as text, the BSP, and the firmware, ready to simulate.
    Several networks share the workspace of one firmware, and each has a folder of its name.
    With --objects there is no firmware: no start-up code, linker script, main function or link.

    Example: atoll build lagoon model.tflite -o build/model
    """
    require_stage(dump_after)
    if dump_after and machine:
        remedy = "give one of them; the build folder has the text of every stage"
        raise UsageError("E090", "--dump-after and --json both want the output", remedy=remedy)
    if objects and toolchain:
        remedy = "leave --toolchain out"
        raise UsageError("E090", "--objects needs no C compiler and no linker", remedy=remedy)
    resolved = load_soc(soc, overrides or ())
    require_toolchain(resolved, toolchain)

    def observe(stage: str, result: object) -> None:
        if stage == dump_after:
            print(result)

    options = build_options(
        models, build_file, place, pin, free, overlap, accelerators=accelerators
    )
    with working("compiling and planning") as progress:
        compiled = compile_together(resolved, models, options, observe)
        if objects:
            made = build_objects(compiled, output)
        else:
            progress("building the firmware")
            tree = build_together(compiled, output, toolchain=toolchain)
    if machine:
        data = made.as_json(compiled) if objects else tree_json(tree, compiled)
        print(json_text(data), end="")
        return
    summary = made.summary() if objects else tree.firmware.summary()
    log.print(wrapped(f"wrote {output}: {summary}", log_room()))


@app.command()
def doctor(machine: JsonOption = False) -> None:
    """Check the tools that Atoll needs.

    Each one that is missing comes with what to install.
    The status is 0 if all that is required works.
    """
    checks = diagnose()
    well = all(check_.ok for check_ in checks if check_.required)
    if machine:
        print(json_text({"ok": well, "checks": [check.as_json() for check in checks]}), end="")
    else:
        print(shown_lines("\n".join(map(str, checks))))
    if not well:
        raise typer.Exit(1)


def require_toolchain(soc: ResolvedSoc, name: str | None) -> None:
    """Refuse the name of a toolchain that is not there, before any work is done.

    Raises:
        ToolchainError: E071.
    """
    if name is not None:
        find_toolchain(soc.host_cpu, name)


def _wrote(*paths: Path, machine: bool, hint: str = "") -> None:
    if machine:
        print(json_text({"wrote": list(map(str, paths))}), end="")
        return
    for path in paths:
        log.print(f"wrote {path}{hint}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `atoll` with `argv`; a fault in the user's input is one message and status 1."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    accept_any_text()
    if completion.VARIABLE in os.environ:
        return completion.completed(lambda: _invoke(arguments))
    try:
        status = _invoke(arguments or ["--help"])
        sys.stdout.flush()
    except AtollError as error:
        print_faults(error, machine="--json" in arguments)
        return 1
    except OSError as fault:
        if fault.errno not in {errno.EPIPE, *DISK_FAULTS}:
            raise
        abandon_output()
        if fault.errno != errno.EPIPE:
            print(unwritable(Path(fault.filename or "the output"), fault), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    return status


def _invoke(arguments: list[str]) -> int:
    add_commands(app, log.print)
    try:
        status = app(arguments, prog_name="atoll", standalone_mode=False)
    except SystemExit as end:  # Typer's own options end so
        status = end.code
    except TyperException as error:
        message = error.format_message().rstrip(".").replace("Value error, ", "")
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "atoll"
        raise UsageError("E090", message, remedy=f"see {command} --help") from error
    return status if isinstance(status, int) else 0
