# SPDX-License-Identifier: Apache-2.0
"""Tables of plain cells, as text with aligned columns or as data."""

from collections.abc import Mapping

from atoll.diagnostics.columns import lay_out
from atoll.diagnostics.shown import columns_of, printable
from atoll.diagnostics.units import format_size
from atoll.records import dataclass
from atoll.resolve.soc import ResolvedSoc


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value for programs, and how people read it."""

    value: object
    text: str

    def __str__(self) -> str:
        return self.text


Cell = str | int | Quantity
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table.

    Attributes:
        key: name of the table for programs.
        rows: as many cells as there are columns.
        keys: names of the columns for programs, with units; empty: those that people read.
        data: what programs get in the place of the rows, if these do not suit them.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    keys: tuple[str, ...] = ()
    data: tuple[Mapping[str, object], ...] = ()

    def as_data(self) -> list[dict[str, object]]:
        """Return the rows for programs."""
        if self.data:
            return [dict(row) for row in self.data]
        names = self.keys or self.columns
        return [dict(zip(names, map(_raw, row), strict=True)) for row in self.rows]

    def text(self, columns: int | None = None) -> str:
        """Return the table as lines of at most so many columns, if that can be."""
        cells = [self.columns, *(tuple(map(_cell_text, row)) for row in self.rows)]
        widths = [max(map(columns_of, column)) for column in zip(*cells, strict=True)]
        head, *rows = lay_out(cells, columns=columns)
        rule = "  ".join("-" * width for width in widths)
        if len(head) > 1:
            rule = "-" * columns_of(head[0])
        return "\n".join(
            [self.title, *head, rule[:columns], *(line for lines in rows for line in lines)]
        )

    def __str__(self) -> str:
        return self.text()


def _cell_text(cell: Cell) -> str:
    return f"{cell:,}" if isinstance(cell, int) else printable(str(cell))


def as_text(tables: tuple[Table, ...], columns: int | None = None) -> str:
    """Return `tables` that have rows as text, an empty line between two tables."""
    return "\n\n".join(table.text(columns) for table in tables if table.rows) + "\n"


def as_data(soc: ResolvedSoc, tables: tuple[Table, ...]) -> dict[str, object]:
    """Return `tables` as one JSON object: a list of rows by column name for each table."""
    head: dict[str, object] = {
        "soc": soc.name,
        "host": soc.host,
        "default_device": soc.default_device,
    }
    return head | {table.key: table.as_data() for table in tables}


def address(value: int) -> Quantity:
    """Return an address, which people read in hexadecimal."""
    return Quantity(value, f"{value:#010x}")


def clock(hertz: int) -> Quantity:
    """Return a frequency, which people read in MHz."""
    return Quantity(hertz, f"{hertz / 1e6:g} MHz")


def size(value: int) -> Quantity:
    """Return a number of bytes, which people read in the largest unit that fits."""
    return Quantity(value, format_size(value))


def _raw(cell: Cell) -> object:
    return cell.value if isinstance(cell, Quantity) else cell
