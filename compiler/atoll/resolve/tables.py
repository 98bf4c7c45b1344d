"""Tables of plain cells, as text with aligned columns or as data."""

from dataclasses import dataclass

from atoll.resolve.soc import ResolvedSoc
from atoll.shown import shown

Cell = str | int
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table.

    Attributes:
        key: name of the table for programs.
        rows: as many cells as there are columns.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    def __str__(self) -> str:
        cells = [self.columns, *(tuple(shown(str(cell)) for cell in row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.title, lines[0], rule, *lines[1:]])


def as_text(tables: tuple[Table, ...]) -> str:
    """Return `tables` as text with aligned columns, an empty line between two tables."""
    return "\n\n".join(map(str, tables)) + "\n"


def as_data(soc: ResolvedSoc, tables: tuple[Table, ...]) -> dict[str, object]:
    """Return `tables` as one JSON object: a list of rows by column name for each table."""
    head: dict[str, object] = {
        "soc": soc.name,
        "host": soc.host,
        "default_device": soc.default_device,
    }
    return head | {
        table.key: [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        for table in tables
    }
