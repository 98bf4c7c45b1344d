"""Where commands print: results on standard output, all else on standard error."""

import io
import os
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from atoll.columns import terminal_columns
from atoll.errors import EXCERPT_COLUMNS, AtollError
from atoll.shown import json_text, shown_lines


class SafeConsole(Console):
    """A console that escapes what a terminal would obey: in strings and in cells of tables."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text without control characters."""
        return super().render_str(shown_lines(text), **options)


out = SafeConsole(highlight=False, soft_wrap=True, markup=False, emoji=False)
log = SafeConsole(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


INTERRUPTED = 130
"""The status of a command that Ctrl-C ended."""


def as_command(act: Callable[[], int]) -> int:
    """Return the status of `act`, the body of a script; a fault or Ctrl-C is a message."""
    try:
        return act()
    except AtollError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


def accept_any_text() -> None:
    """Let names that the terminal's encoding lacks be printed with escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_faults(error: AtollError, *, machine: bool) -> None:
    """Print faults: to standard error, or for programs as JSON to standard output."""
    if machine:
        print(json_text(error.as_json()), end="")
    else:
        print(error.text(log_room() or EXCERPT_COLUMNS), file=sys.stderr)


def room() -> int | None:
    """Return how many columns a line of output has; None in a pipe."""
    return terminal_columns(sys.stdout)


def log_room() -> int | None:
    """Return how many columns a line of the log has; None in a pipe."""
    return terminal_columns(sys.stderr)


def abandon_output() -> None:
    """Let nothing be written to standard output any more, not even at exit."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
