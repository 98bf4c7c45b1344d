# SPDX-License-Identifier: Apache-2.0
"""What differs between two chips, builds or reports."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from atoll.api.beside import function_of
from atoll.api.chips import Overrides, SocSource
from atoll.api.notebook import Row, html_table
from atoll.diagnostics.columns import wrap
from atoll.records import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    Attributes:
        kind: of the thing that it is about, such as ``memory``.
        name: of the thing.
        key: of the description; empty where the thing itself came or went.
        before: its value in the first, in bytes, hertz or cycles; None where it was not.
        after: likewise in the second.
        text: a sentence.
    """

    kind: str
    name: str
    key: str
    before: str | int | None
    after: str | int | None
    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """All that differs."""

    changes: tuple[Change, ...]

    def rows(self) -> list[Row]:
        """Return the changes."""
        return [asdict(each) for each in self.changes]

    def text(self, columns: int | None = None) -> str:
        """Return what ``atoll diff`` prints."""
        lines = [wrap(each.text, columns) for each in self.changes]
        return "\n".join(lines or ["no difference"]) + "\n"

    def to_json(self) -> dict[str, Any]:
        """Return what ``atoll diff --json`` prints."""
        return {"changes": self.rows()}

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def _repr_html_(self) -> str:
        return html_table(f"{len(self.changes)} differences", self.rows())


def diff(before: SocSource | Path, after: SocSource | Path, *, overrides: Overrides = ()) -> Diff:
    """Compare two chips, or two builds, as resolution derives their values; or two reports.

    Args:
        before: a chip, what `load_soc` takes, the folder of a build, a report, or a file with what
            a command printed with ``--json``.
        after: what it became, likewise.
        overrides: values of `after`, as `Soc.with_` takes them; `after` is a chip then.

    Raises:
        AtollError: as `load_soc`; E009, E096, the folder of a build is damaged.
        UsageError: E090; a build would be changed, or the package `atoll_compare` is missing.
            E225; a report has nothing in common with the other side. E223, E224, E226, E227; as
            `make_report`.
    """
    found: Diff = function_of("atoll_compare.api:compare", "diff")(before, after, overrides)
    return found
