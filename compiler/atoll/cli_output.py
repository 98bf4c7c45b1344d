"""Where commands print: results on standard output, all else on standard error."""

import io
import os
import sys
from collections.abc import Callable

from rich.console import Console

from atoll.errors import AtollError

out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
log = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


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


def abandon_output() -> None:
    """Let nothing be written to standard output any more, not even at exit."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
