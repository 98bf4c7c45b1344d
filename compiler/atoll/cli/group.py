# SPDX-License-Identifier: Apache-2.0
"""The commands of `atoll` by name: its own, and those of other packages.

Packages add commands with entry points of the group ``atoll.commands``, as the simulator and the
packages of formats do. A command's module is imported when the command runs: the help of all needs
but their names and first sentences.
"""

import re
import sys
from collections.abc import Callable, Mapping
from functools import cache, wraps
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from atoll.cli.option_groups import with_groups
from atoll.diagnostics.errors import AtollError
from atoll.diagnostics.shown import printable_lines
from atoll.plugins.loading import foreign_code, load

GROUP = "atoll.commands"
OWN = {
    "new": "atoll.cli.new:new",
    "check": "atoll.cli.check:check",
    "explain": "atoll.cli.explain:explain",
    "operators": "atoll.cli.operators:operators",
    "plan": "atoll.cli.plan:plan",
    "estimate": "atoll.cli.estimate:estimate",
    "build": "atoll.cli.build:build_command",
    "opt": "atoll.cli.opt:opt",
    "schema": "atoll.cli.schema:schema",
    "doctor": "atoll.cli.doctor:doctor",
}
"""Where each command of the core is."""

_DISTRIBUTION = "atoll"
_ORDER = (
    *("new", "import", "diff", "check", "explain", "operators", "plan", "estimate", "sweep"),
    *(
        "build",
        "opt",
        "check-image",
        "bsp",
        "selftest",
        "run",
        "simulate",
        "run-image",
        "validate",
        "prove",
        "export-rtl",
    ),
    *("report", "serve", "core", "accelerator", "lsp", "schema", "doctor"),
)
"""The commands of this distribution, as the help lists them."""

_PASSING = (TyperException, typer.Exit, typer.Abort, BrokenPipeError)
"""How a command ends on purpose, and how it ends when nobody reads what it prints."""


class _Waiting(TyperCommand):
    """A command by name and first sentence, without its module."""

    def __init__(self, name: str, entry: str) -> None:
        super().__init__(name, help=_first_sentence(entry))
        self._entry = entry

    def load(self) -> Any:
        """Return the command itself."""
        return _command(self.name or "", load(self._entry, GROUP))


class CommandGroup(TyperGroup):
    """All commands; one is loaded when it is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands, Atoll's own first."""
        own = _own()
        return [*sorted(own, key=_ORDER.index), *(name for name in _packages() if name not in own)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; Atoll's own without its module, and another's if it can be used."""
        if cmd_name in OWN:
            return _Waiting(cmd_name, OWN[cmd_name])
        if (point := _packages().get(cmd_name)) is None:
            return None
        return _Waiting(cmd_name, point.value) if _is_ours(point) else _other(point)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that runs, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, _Waiting) else command, rest


def _first_sentence(entry: str) -> str:
    """Return the first line of the docstring of ``module:function``, read but not imported."""
    module, _, function = entry.partition(":")
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:  # its package is gone: whoever runs the command is told
        spec = None
    text = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    found = re.search(
        rf'^def {function}\(.*?^    """(.+?)(?:""")?$', text, re.DOTALL | re.MULTILINE
    )
    return found[1] if found else ""


def _packages() -> Mapping[str, EntryPoint]:
    """Return the commands of packages by name; names of Atoll's own are taken."""
    return _packages_on(tuple(sys.path))


@cache
def _packages_on(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    points = sorted(entry_points(group=GROUP), key=_is_ours)
    return {point.name: point for point in points if point.name not in OWN}


def _is_ours(point: EntryPoint) -> bool:
    return point.dist is not None and point.dist.name == _DISTRIBUTION


def _own() -> tuple[str, ...]:
    return (*OWN, *(name for name, point in _packages().items() if _is_ours(point)))


def _other(point: EntryPoint) -> Any:
    try:
        return _foreign(point)
    except AtollError as error:
        why = error.faults[0].message
        note = f"note: command '{point.name}' is not available: {why}"
        typer.echo(printable_lines(note), err=True)
    return None


def _command(name: str, function: Callable[..., Any]) -> Any:
    """Make a command of a function; its parameters are options and arguments."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name)(with_groups(_respell_faults(function)))
    return typer.main.get_command(alone)


def _respell_faults(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command whose faults write names of its chip as the chip's files do."""

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except AtollError as error:
            if not (chip := options.get("soc")):
                raise
            from atoll.description.spelling import speller, spellings  # only for faults

            raise error.reword(speller(spellings(chip))) from error

    return run


def _foreign(point: EntryPoint) -> Any:
    """Load another package's command.

    Raises:
        AtollError: E111; it cannot be loaded, or its parameters are no options and arguments.
    """
    with foreign_code(f"'{point.value}' of {GROUP} cannot be used"):
        return _command(point.name, _guard(point.load(), point))


def _guard(function: Callable[..., Any], point: EntryPoint) -> Callable[..., Any]:
    package = point.dist.name if point.dist else point.value

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        what = f"the command '{point.name}' of package '{package}' failed"
        with foreign_code(what, remedy="tell the makers of that package", passing=_PASSING):
            return function(*arguments, **options)

    return run
