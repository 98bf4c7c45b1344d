# SPDX-License-Identifier: Apache-2.0
"""Tables and sentences for the console: aligned, no lines around them, no cell or word cut."""

from collections.abc import Collection, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from atoll.diagnostics.columns import lay_out, terminal_columns, wrap
from atoll.diagnostics.shown import printable, printable_lines
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A table.

    Attributes:
        title: a line above it, "" for none.
        left: the headings of the columns that are aligned to the left, all others to the right.
        rows: as many cells as there are headings.
        strong: numbers of the rows that stand out.
    """

    title: str = ""
    headings: Sequence[str]
    left: Collection[str]
    rows: Sequence[Sequence[str]]
    strong: Collection[int] = ()

    def lines(self, columns: int | None) -> list[tuple[str, ...]]:
        """Return the lines of the headings and of each row, in so many columns."""
        right = {at for at, heading in enumerate(self.headings) if heading not in self.left}
        rows = [tuple(map(printable, row)) for row in (self.headings, *self.rows)]
        return lay_out(rows, right=right, columns=columns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a line at a time."""
        if self.title:
            yield Text(printable(self.title), style="italic")
        for number, lines in enumerate(self.lines(terminal_columns(console.file)), -1):
            strong = number < 0 or number in self.strong
            for line in lines:
                yield Text(line, style="bold" if strong else "", no_wrap=True, overflow="ignore")


@dataclass(frozen=True, slots=True)
class Sentence:
    """Text whose words stay whole in a terminal, perhaps with a style."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield a line at a time."""
        columns = terminal_columns(console.file)
        for line in printable_lines(self.text).split("\n"):
            yield Text(wrap(line, columns), style=self.style, no_wrap=True, overflow="ignore")
