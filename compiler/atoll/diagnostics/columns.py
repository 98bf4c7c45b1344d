# SPDX-License-Identifier: Apache-2.0
"""Rows of cells as lines of text that fit a terminal without cutting a cell.

Where rows are too wide, their last columns go to lines of their own below them, indented, and words
of a cell that is too wide itself to further lines. A word, such as a path, always stays whole.
"""

import os
import shutil
import textwrap
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import IO

from atoll.diagnostics.shown import columns_of
from atoll.records import dataclass

GAP = "  "
INDENT = "    "
LEAST = 40
LEAST_OF_LAST = 4
"""Columns that must be left for the last column, or it goes below the others."""

Row = Sequence[str]
Lines = tuple[str, ...]


def terminal_columns(stream: IO[str]) -> int | None:
    """Return how many columns a stream has: COLUMNS, else its terminal's; None in a pipe."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked):
        return max(LEAST, int(asked))
    return max(LEAST, shutil.get_terminal_size().columns) if stream.isatty() else None


def lay_out(
    rows: Sequence[Row], *, right: Collection[int] = (), columns: int | None = None
) -> list[Lines]:
    """Return the lines of each row, its cells aligned with those of the other rows.

    Args:
        rows: headings among them; all of one length.
        right: numbers of the columns that are aligned to the right.
        columns: room for a line; None if it has no end.
    """
    widths = [max(map(columns_of, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1
    if last not in right:
        widths[last] = min(widths[last], LEAST_OF_LAST)
    layout = _Layout(widths, right, columns or sum(map(columns_of, chain(*rows))) + len(widths) * 8)
    return [tuple(layout.lines(row)) for row in rows]


def table_lines(
    rows: Sequence[Row], *, right: Collection[int] = (), columns: int | None = None
) -> list[str]:
    """Return all lines of what `lay_out` lays out."""
    return [*chain.from_iterable(lay_out(rows, right=right, columns=columns))]


def wrap(text: str, columns: int | None) -> str:
    """Return a sentence in lines that fit, the words whole and further lines indented."""
    if columns is None or columns_of(text) <= columns:
        return text
    begin = text[: len(text) - len(text.lstrip())]
    return "\n".join(_words(text, columns, begin + GAP))


@dataclass(frozen=True)
class _Layout:
    """Where the cells of all rows begin.

    Attributes:
        widths: of the columns; of the last one, if it is aligned to the left, what it has at least.
        room: columns of a line.
    """

    widths: Sequence[int]
    right: Collection[int]
    room: int

    def lines(self, row: Row) -> Iterator[str]:
        """Yield the lines of a row; a group of columns without any text has none."""
        *before, last = self._groups()
        for place, group in enumerate(before):
            line = self._line(row, group, place)
            if line.strip() or not place:
                yield line
        yield from self._last(row, last, len(before))

    def _groups(self) -> list[list[int]]:
        """Return the columns that are beside each other, one group for each line of a row."""
        groups: list[list[int]] = [[]]
        used = 0
        for number, width in enumerate(self.widths):
            if groups[-1] and used + len(GAP) + width > self.room:
                groups.append([])
                used = len(INDENT)
            used += width + (len(GAP) if groups[-1] else 0)
            groups[-1].append(number)
        return groups

    def _last(self, row: Row, group: Sequence[int], place: int) -> Iterator[str]:
        """Yield the lines with the last cell, which may go below the others of its group."""
        line = self._line(row, group, place)
        if columns_of(line) <= self.room:
            if line.strip() or not place:
                yield line
            return
        if len(group) > 1:
            yield self._line(row, group[:-1], place)
        yield from _words(INDENT + row[group[-1]], self.room, INDENT * 2)

    def _line(self, row: Row, group: Sequence[int], place: int) -> str:
        cells = (_pad(row[at], self.widths[at], at in self.right) for at in group)
        return (INDENT if place else "") + GAP.join(cells).rstrip()


def _pad(cell: str, width: int, right: bool) -> str:
    padding = " " * (width - columns_of(cell))
    return padding + cell if right else cell + padding


def _words(text: str, columns: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        columns,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    ) or [""]
