# SPDX-License-Identifier: Apache-2.0
"""Print tables about a chip."""

import sys

from atoll.columns import terminal_columns
from atoll.resolve.soc import ResolvedSoc
from atoll.resolve.tables import Table, as_data, as_text
from atoll.shown import json_text


def room() -> int | None:
    """Return how many columns a line of output has; None in a pipe."""
    return terminal_columns(sys.stdout)


def print_tables(
    soc: ResolvedSoc, shown: tuple[Table, ...], *, machine: bool, **more: object
) -> None:
    """Print tables about a chip, as text or as one JSON object that has `more` keys."""
    print(json_text({**as_data(soc, shown), **more}) if machine else as_text(shown, room()), end="")
