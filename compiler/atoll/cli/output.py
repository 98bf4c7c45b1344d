# SPDX-License-Identifier: Apache-2.0
"""Where commands print: results on standard output, all else on standard error."""

import sys
from collections.abc import Callable

from atoll.diagnostics.columns import terminal_columns
from atoll.diagnostics.errors import INTERRUPTED, AtollError
from atoll.diagnostics.shown import printable_lines


def log(text: str) -> None:
    """Print lines on standard error, with what a terminal would obey escaped."""
    print(printable_lines(text), file=sys.stderr)


def log_room() -> int | None:
    """Return how many columns a line of the log has; None in a pipe."""
    return terminal_columns(sys.stderr)


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
