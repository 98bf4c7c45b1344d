"""Where commands print: results on standard output, all else on standard error."""

import io
import os
import sys

from rich.console import Console

out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
log = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def accept_any_text() -> None:
    """Let names that the terminal's encoding lacks be printed with escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Let nothing be written to standard output any more, not even at exit."""
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
