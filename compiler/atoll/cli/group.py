# SPDX-License-Identifier: Apache-2.0
"""The commands of `atoll` by name: its own, and those of other packages.

Other packages add commands with entry points of the group ``atoll.commands``. A command's module
is imported when the command runs, since the help of all needs but their names and first sentences.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from atoll.cli.option_groups import with_groups
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.shown import shown_lines
from atoll.plugins.parts import foreign_code, load

GROUP = "atoll.commands"
OWN = {
    "new": ("atoll.cli.new:new", "Write a commented, valid description to start from."),
    "import": (
        "atoll.cli.import_files:import_command",
        "Begin a description with what files of a chip's vendor say.",
    ),
    "diff": ("atoll.cli.diff:diff", "Say what differs between two chips, or between two builds."),
    "check": ("atoll.cli.check:check", "Check a SoC description and print its summary."),
    "explain": ("atoll.cli.explain:explain", "Explain a chip, or where a network's buffers are."),
    "operators": (
        "atoll.cli.operators:operators",
        "List the operators that a model may have.",
    ),
    "plan": ("atoll.cli.plan:plan", "Plan memory: of networks on a chip, or of a bare instance."),
    "estimate": (
        "atoll.cli.estimate:estimate",
        "Estimate cycles and bytes of a network, without building it.",
    ),
    "build": ("atoll.cli.build:build_command", "Compile networks for a chip."),
    "opt": ("atoll.cli.opt:opt", "Run single passes of the compiler on text."),
    "check-image": (
        "atoll.cli.check_image:check_image",
        "Hold a linked image against a chip, or bound its stack.",
    ),
    "bsp": (
        "atoll.cli.bsp:bsp_command",
        "Write a board support package for a firmware team.",
    ),
    "selftest": (
        "atoll.cli.selftest:selftest",
        "Judge what the self-test of a chip printed.",
    ),
    "run": ("atoll_sim.cli:run", "Compile, simulate and check networks on a chip."),
    "simulate": (
        "atoll_sim.cli:simulate",
        "Simulate the firmware of a build folder and check it.",
    ),
    "run-image": (
        "atoll_sim.cli_run_image:run_image",
        "Run linked images on a simulated chip, whoever linked them.",
    ),
    "validate": (
        "atoll_sim.cli_validate:validate",
        "Plant faults in builds and in hardware, and see how they end.",
    ),
    "core": ("atoll_sim.cli_core:core", "Test the RTL adapter of a core."),
    "accelerator": (
        "atoll_sim.cli_accelerator:accelerator",
        "Test an accelerator against its description.",
    ),
    "schema": ("atoll.cli.schema:schema", "Print the JSON Schema of a file or an output."),
    "doctor": ("atoll.cli.doctor:doctor", "Check the tools that Atoll needs."),
}
"""Where each command is, and the first sentence of its help."""

_PASSING = (TyperException, typer.Exit, typer.Abort, BrokenPipeError)
"""How a command ends on purpose, and how it ends when nobody reads what it prints."""


class _Waiting(TyperCommand):
    """A command by name and first sentence, without its module."""

    def load(self) -> Any:
        """Return the command itself."""
        return _command(self.name or "", load(OWN[self.name or ""][0], GROUP))


class CommandGroup(TyperGroup):
    """All commands; one is loaded when it is asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: _Waiting(name, help=first) for name, (_, first) in OWN.items()}

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, Atoll's own first."""
        return [*OWN, *(point.name for point in _others())]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; Atoll's own without its module, and another's if it can be used."""
        if cmd_name in OWN:
            return self.commands[cmd_name]
        for point in _others():
            if point.name == cmd_name:
                return self._other(point)
        return None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that runs, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, _Waiting) else command, rest

    def _other(self, point: EntryPoint) -> Any:
        try:
            return _foreign(point)
        except AtollError as error:
            why = error.faults[0].message
            note = f"note: command '{point.name}' is not available: {why}"
            typer.echo(shown_lines(note), err=True)
        return None


def _others() -> Iterator[EntryPoint]:
    """Yield the commands of other packages, each name once."""
    points = {point.name: point for point in entry_points(group=GROUP) if point.name not in OWN}
    yield from points.values()


def _command(name: str, function: Callable[..., Any]) -> Any:
    """Make a command of a function; its parameters are options and arguments."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name)(with_groups(_spelling(function)))
    return typer.main.get_command(alone)


def _spelling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command whose faults write names of its chip as the chip's files do."""

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except AtollError as error:
            if not (chip := options.get("soc")):
                raise
            from atoll.description.spelling import speller, spellings  # only for faults

            raise error.reworded(speller(spellings(chip))) from error

    return run


def _foreign(point: EntryPoint) -> Any:
    """Load another package's command.

    Raises:
        AtollError: E111; it cannot be loaded, or its parameters are no options and arguments.
    """
    with foreign_code(f"'{point.value}' of {GROUP} cannot be used"):
        return _command(point.name, _guarded(point.load(), point))


def _guarded(function: Callable[..., Any], point: EntryPoint) -> Callable[..., Any]:
    package = point.dist.name if point.dist else point.value

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        what = f"the command '{point.name}' of package '{package}' failed"
        with foreign_code(what, remedy="tell the makers of that package", passing=_PASSING):
            return function(*arguments, **options)

    return run
