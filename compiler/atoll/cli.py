"""The `atoll` command: parse arguments, call one function, print what it returns."""

import errno
import json
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from atoll.bsp.doctor import diagnose
from atoll.bsp.toolchain import find_toolchain
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
    SocArgument,
    ToolchainOption,
    build_options,
)
from atoll.cli_output import INTERRUPTED, abandon_output, accept_any_text, log
from atoll.cli_plan import plan
from atoll.cli_progress import working
from atoll.description.schemas import schema_text, write_schemas
from atoll.description.template import starting_description
from atoll.errors import AtollError, UsageError
from atoll.files import DISK_FAULTS, unwritable, write_text
from atoll.pipeline import STAGES, compile_file, explanation, require_stage
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table, as_data, as_text
from atoll.together import build_models, compile_together

app = typer.Typer(
    name="atoll",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
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
def check(soc: SocArgument, overrides: SetOption = None, machine: JsonOption = False) -> None:
    """Check a SoC description and print its summary.

    All faults are reported together, each with line, column and remedy.

    Example: atoll check lagoon --set devices.cpu.stack.size=4KiB
    """
    resolved = load_soc(soc, overrides or ())
    _print_tables(resolved, tables.summary(resolved), machine=machine)
    if not machine:
        print(f"\n{resolved.name}: no faults")


@app.command()
def explain(
    soc: SocArgument,
    model: Annotated[
        Path | None, typer.Argument(metavar="[MODEL]", help="Explain this network on the chip.")
    ] = None,
    buffer: Annotated[
        str | None, typer.Option(metavar="NAME", help="Say all about one buffer of MODEL.")
    ] = None,
    build_file: BuildFileOption = None,
    place: PlaceOption = None,
    pin: PinOption = None,
    free: FreeOption = None,
    overlap: OverlapOption = None,
    overrides: SetOption = None,
    accelerators: AcceleratorsOption = True,
    machine: JsonOption = False,
) -> None:
    """Explain a chip, or where a network's buffers are.

    Without MODEL: addresses, windows, limits and defaults, each with the layer that set it.
    With MODEL: for every buffer where it is, and for every operator why it runs where it runs.
    With --buffer: the rule that put it there, who touches it, and what each other place lacks.

    Example: atoll explain lagoon model.tflite --buffer input
    """
    resolved = load_soc(soc, overrides or ())
    if model is None:
        asked = {"buffer": buffer, "build": build_file, "place": place, "pin": pin, "free": free}
        asked["overlap"] = overlap
        if given := next((name for name, value in asked.items() if value), None):
            raise UsageError("E090", f"--{given} needs a MODEL", remedy="see atoll explain --help")
        _print_tables(resolved, tables.explain(resolved), machine=machine)
        return
    options = build_options(
        [model], build_file, place, pin, free, overlap, accelerators=accelerators
    )
    told = explanation(compile_file(resolved, model, options))
    print(told.json(buffer) if machine else told.text(buffer), end="")


@app.command()
def schema(
    which: Annotated[
        str, typer.Argument(metavar="WHICH", help="soc, accelerator or build.")
    ] = "soc",
    write: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write all schemas into DIR instead.")
    ] = None,
) -> None:
    """Print the JSON Schema of a description.

    Editors check and complete descriptions with it.

    Example: atoll schema accelerator > accelerator.schema.json
    """
    if write is None:
        print(schema_text(which), end="")
    else:
        for path in write_schemas(write):
            log.print(f"wrote {path}")


@app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the chip: lower-case letters, digits, _.")
    ],
    path: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="File to write; default: NAME.yaml."),
    ] = None,
) -> None:
    """Write a commented, valid description to start from.

    Example: atoll new my_chip, then: atoll check my_chip.yaml
    """
    target = path or Path(f"{name}.yaml")
    text = starting_description(name)
    if target.exists():
        raise UsageError(
            "E091", f"{target} exists already", remedy="choose another name, or remove the file"
        )
    write_text(target, text)
    log.print(f"wrote {target}; next: atoll check {target}")


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
            metavar="STAGE", help=f"Print the program after this stage: {', '.join(STAGES)}."
        ),
    ] = None,
) -> None:
    """Compile networks for a chip.

    The build folder holds every stage as text, the BSP, and the firmware, ready to simulate.
    Several networks share the workspace of one firmware, and each has a folder of its name.

    Example: atoll build lagoon model.tflite -o build/model
    """
    require_stage(dump_after)
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
        progress("building the firmware")
        tree = build_models(compiled, output, toolchain=toolchain)
    log.print(f"wrote {tree.folder}: {tree.firmware.summary()}")


@app.command()
def doctor(machine: JsonOption = False) -> None:
    """Check the tools that Atoll needs.

    Each one that is missing comes with what to install.
    The status is 0 if all that is required works.
    """
    checks = diagnose()
    well = all(check_.ok for check_ in checks if check_.required)
    if machine:
        print(json.dumps({"ok": well, "checks": [check.as_json() for check in checks]}, indent=2))
    else:
        print("\n".join(map(str, checks)))
    if not well:
        raise typer.Exit(1)


def require_toolchain(soc: ResolvedSoc, name: str | None) -> None:
    """Refuse the name of a toolchain that is not there, before any work is done.

    Raises:
        ToolchainError: E071.
    """
    if name is not None:
        find_toolchain(soc.host_cpu, name)


def _print_tables(soc: ResolvedSoc, shown: tuple[Table, ...], *, machine: bool) -> None:
    print(json.dumps(as_data(soc, shown), indent=2) if machine else as_text(shown), end="")


def _add_plugins() -> None:
    known = {command.name for command in app.registered_commands}
    for point in entry_points(group="atoll.commands"):
        if point.name in known:
            continue
        try:
            app.command(point.name)(point.load())
        except (ImportError, AttributeError) as fault:
            log.print(f"note: command '{point.name}' is not available: {fault}")


def main(argv: Sequence[str] | None = None) -> int:
    """Run `atoll` with `argv`; a fault in the user's input is one message and status 1."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    accept_any_text()
    try:
        status = _invoke(arguments or ["--help"])
        sys.stdout.flush()
    except AtollError as error:
        print(error, file=sys.stderr)
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
    _add_plugins()
    try:
        status = app(arguments, prog_name="atoll", standalone_mode=False)
    except TyperException as error:
        message = error.format_message().rstrip(".").replace("Value error, ", "")
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "atoll"
        raise UsageError("E090", message, remedy=f"see {command} --help") from error
    return status if isinstance(status, int) else 0
