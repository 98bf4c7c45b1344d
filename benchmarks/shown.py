# SPDX-License-Identifier: Apache-2.0
"""Where benchmarks print their tables."""

from rich.console import Console

_WIDTH = 200


def console() -> Console:
    """Return a console that shows each row of a table in one line, in a pipe too."""
    return Console(width=_WIDTH, highlight=False)
