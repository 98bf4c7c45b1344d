"""Where commands print: results on standard output, all else on standard error."""

import io
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

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
        print(error.text(error_columns()), file=sys.stderr)


def error_columns() -> int:
    """Return how wide lines of files may be in messages: as the terminal, if there is one."""
    if not sys.stderr.isatty() and "COLUMNS" not in os.environ:
        return EXCERPT_COLUMNS
    return min(shutil.get_terminal_size().columns, EXCERPT_COLUMNS)


def abandon_output() -> None:
    """Let nothing be written to standard output any more, not even at exit."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
