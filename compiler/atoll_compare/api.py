# SPDX-License-Identifier: Apache-2.0
"""What this package gives to `atoll.diff`."""

from pathlib import Path

from atoll.api.beside import function_of
from atoll.api.chips import Overrides, SocSource
from atoll.api.differences import Diff
from atoll.diagnostics.errors import UsageError
from atoll_compare.changes import changes
from atoll_compare.results import is_of_results
from atoll_compare.sides import things_at


def compare(before: SocSource, after: SocSource, overrides: Overrides) -> Diff:
    """Return what differs between two sides: as `things_at` takes them, or two files of results.

    Raises:
        UsageError: E225; one side is of results, and the other is not, or would be changed.
    """
    sides = (before, after)
    results = [each for each in sides if isinstance(each, str | Path) and is_of_results(each)]
    if not results:
        return Diff(tuple(changes(things_at(before), things_at(after, overrides))))
    if len(results) == 1:
        (other,) = (each for each in sides if each is not results[0])
        raise UsageError(
            "E225",
            f"'{results[0]}' has results, and '{other}' is a chip or a build",
            remedy="compare two reports; atoll report makes one of a chip, networks or a build",
        )
    if overrides:
        message = f"--set changes a chip, and '{after}' has results"
        raise UsageError("E225", message, remedy="make the report again with --set")
    paths = map(Path, results)
    return Diff(function_of("atoll_report.api:changes_of", "diff")(*paths))
