"""Where commands print: results on standard output, all else on standard error."""

import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from atoll.columns import terminal_columns
from atoll.errors import INTERRUPTED, AtollError
from atoll.shown import shown_lines


class SafeConsole(Console):
    """A console that escapes what a terminal would obey: in strings and in cells of tables."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Turn a string into text without control characters."""
        return super().render_str(shown_lines(text), **options)


out = SafeConsole(highlight=False, soft_wrap=True, markup=False, emoji=False)
log = SafeConsole(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


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


def log_room() -> int | None:
    """Return how many columns a line of the log has; None in a pipe."""
    return terminal_columns(sys.stderr)
