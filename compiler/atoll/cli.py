"""The `atoll` command: parse arguments, call one function, print what it returns."""

import json
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer.exceptions import TyperException

from atoll.bsp.doctor import diagnose
from atoll.description.schemas import schema_text, write_schemas
from atoll.description.template import starting_description
from atoll.errors import AtollError, UsageError
from atoll.files import write_text
from atoll.pipeline import BuildOptions, build, compile_file, require_stage
from atoll.resolve import explain as tables
from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table, as_data, as_text

app = typer.Typer(
    name="atoll",
    help="Describe a SoC in YAML; compile networks for it; prove in simulation where every tensor is.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False, soft_wrap=True)
log = Console(stderr=True, highlight=False, soft_wrap=True)

SocArgument = Annotated[
    Path, typer.Argument(help="SoC description (YAML), or the name of a shipped chip: lagoon.")
]
ModelArgument = Annotated[Path, typer.Argument(help="Quantised network (int8 TFLite).")]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Override a value: devices.cpu.stack.size=4KiB."
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
ToolchainOption = Annotated[
    str | None, typer.Option(help="C compiler and linker: zig or gcc; default: the description's.")
]


@app.command()
def check(soc: SocArgument, overrides: SetOption = None, machine: JsonOption = False) -> None:
    """Check a SoC description and print its summary."""
    resolved = load_soc(soc, overrides or ())
    _print_tables(resolved, tables.summary(resolved), machine=machine)


@app.command()
def explain(soc: SocArgument, overrides: SetOption = None, machine: JsonOption = False) -> None:
    """Show all that a description implies, and which layer set each value."""
    resolved = load_soc(soc, overrides or ())
    _print_tables(resolved, tables.explain(resolved), machine=machine)


@app.command()
def schema(
    which: Annotated[str, typer.Argument(help="soc or accelerator.")] = "soc",
    write: Annotated[
        Path | None, typer.Option(help="Write all schemas into this folder instead.")
    ] = None,
) -> None:
    """Print the JSON Schema of a description, for editors and other tools."""
    if write is None:
        print(schema_text(which), end="")
    else:
        for path in write_schemas(write):
            log.print(f"wrote {path}")


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name of the chip: lower-case letters, digits, _.")],
    path: Annotated[Path | None, typer.Option("-o", help="File; default: NAME.yaml.")] = None,
) -> None:
    """Write a commented, valid description to start from."""
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
    model: ModelArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Build folder.")],
    overrides: SetOption = None,
    toolchain: ToolchainOption = None,
    accelerators: Annotated[
        bool, typer.Option(help="Use accelerators; otherwise the host runs every operator.")
    ] = True,
    dump_after: Annotated[
        str | None, typer.Option(metavar="STAGE", help="Print the program after this stage.")
    ] = None,
) -> None:
    """Compile a network for a chip: plan, code, BSP and firmware."""
    resolved = load_soc(soc, overrides or ())
    require_stage(dump_after)

    def observe(stage: str, result: object) -> None:
        if stage == dump_after:
            print(result)

    compiled = compile_file(resolved, model, BuildOptions(accelerators=accelerators), observe)
    with log.status("building the firmware"):
        tree = build(compiled, output, toolchain=toolchain)
    log.print(f"wrote {tree.folder}: {tree.firmware.summary()}")


@app.command()
def doctor(machine: JsonOption = False) -> None:
    """Check the tools that Atoll needs, and say what to install."""
    checks = diagnose()
    if machine:
        out.print(json.dumps([check.as_json() for check in checks], indent=2))
    else:
        for check_ in checks:
            out.print(str(check_))
    if not all(check_.ok for check_ in checks if check_.required):
        raise typer.Exit(1)


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
    try:
        _add_plugins()
        status = app(list(sys.argv[1:] if argv is None else argv), standalone_mode=False)
    except AtollError as error:
        print(error, file=sys.stderr)
        return 1
    except TyperException as error:
        fault = UsageError("E090", error.format_message().rstrip("."), remedy="see atoll --help")
        print(fault, file=sys.stderr)
        return 1
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return 130
    return status if isinstance(status, int) else 0
