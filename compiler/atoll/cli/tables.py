# SPDX-License-Identifier: Apache-2.0
"""How wide tables may be."""

import sys

from atoll.diagnostics.columns import terminal_columns


def room() -> int | None:
    """Return how many columns a line of output has; None in a pipe."""
    return terminal_columns(sys.stdout)
