"""Commands that other packages add to `atoll`: entry points of the group ``atoll.commands``."""

from collections.abc import Callable
from functools import wraps
from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer
from typer.exceptions import TyperException

from atoll.errors import AtollError
from atoll.plugins import foreign_code

GROUP = "atoll.commands"
OWN_PACKAGE = "atoll"
_PASSING = (TyperException, typer.Exit, typer.Abort, BrokenPipeError)
"""How a command ends on purpose, and how it ends when nobody reads what it prints."""


def add_commands(app: typer.Typer, note: Callable[[str], object]) -> None:
    """Add the commands of all packages to `app`; `note` is told of those that are broken."""
    known = {command.name for command in app.registered_commands}
    for point in entry_points(group=GROUP):
        if point.name in known:
            continue
        try:
            app.command(point.name)(_command(point))
            known.add(point.name)
        except AtollError as error:
            note(f"note: command '{point.name}' is not available: {error.faults[0].message}")


def _command(point: EntryPoint) -> Callable[..., Any]:
    """Load a command and make sure that its parameters can be options and arguments.

    Raises:
        AtollError: E111; neither can be done.
    """
    with foreign_code(f"'{point.value}' of {GROUP} cannot be used"):
        function = point.load()
        probe = typer.Typer(add_completion=False)
        probe.command(point.name)(function)
        typer.main.get_command(probe)
    own = point.dist is not None and point.dist.name == OWN_PACKAGE
    return function if own else _guarded(function, point)


def _guarded(function: Callable[..., Any], point: EntryPoint) -> Callable[..., Any]:
    package = point.dist.name if point.dist else point.value

    @wraps(function)
    def run(*arguments: Any, **options: Any) -> Any:
        what = f"the command '{point.name}' of package '{package}' failed"
        with foreign_code(what, remedy="tell the makers of that package", passing=_PASSING):
            return function(*arguments, **options)

    return run
