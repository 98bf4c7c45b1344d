# SPDX-License-Identifier: Apache-2.0
"""The `atoll` command: find the command, run it, turn what ends it into a message and a status."""

import atexit
import errno
import gc
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

from atoll.cli.group import CommandGroup
from atoll.cli.shell_words import COMPLETE, complete
from atoll.diagnostics.errors import EXCERPT_COLUMNS, INTERRUPTED, AtollError, UsageError
from atoll.diagnostics.shown import json_text
from atoll.utils.files import DISK_FAULTS, unwritable
from atoll.utils.garbage import collect_seldom
from atoll.version import __version__

app = typer.Typer(
    name="atoll", cls=CommandGroup, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"atoll {__version__}")
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run `atoll` with `argv`; a fault in the user's input is one message and status 1."""
    if argv is None:
        _collect_rarely()
    arguments = list(sys.argv[1:] if argv is None else argv)
    _accept_any_text()
    try:
        if COMPLETE in os.environ:
            return complete(lambda: _invoke(arguments))
        status = _invoke(arguments or ["--help"])
        sys.stdout.flush()
    except AtollError as error:
        _print_faults(error, machine="--json" in arguments)
        return 1
    except OSError as fault:
        if fault.errno not in {errno.EPIPE, *DISK_FAULTS}:
            raise
        _abandon_output()
        if fault.errno != errno.EPIPE:
            print(unwritable(Path(fault.filename or "the output"), fault), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        status = INTERRUPTED
    if status == INTERRUPTED:
        print("interrupted", file=sys.stderr)
    return status


def _invoke(arguments: list[str]) -> int:
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


def _collect_rarely() -> None:
    """Let a command that ends soon look for cyclic garbage seldom, and not once more at its end.

    Most of what it makes are modules and plans, which live as long as it does. A collection goes
    through all of them; together they would take a tenth of a second of each command.
    """
    collect_seldom()
    atexit.register(gc.freeze)


def _accept_any_text() -> None:
    """Let names that the terminal's encoding lacks be printed with escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _print_faults(error: AtollError, *, machine: bool) -> None:
    """Print faults: to standard error, or for programs as JSON to standard output."""
    if machine:
        print(json_text(error.to_json()), end="")
        return
    from atoll.diagnostics.columns import terminal_columns

    print(error.text(terminal_columns(sys.stderr) or EXCERPT_COLUMNS), file=sys.stderr)


def _abandon_output() -> None:
    """Let nothing be written to standard output any more, not even at exit."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
