# SPDX-License-Identifier: Apache-2.0
"""Results as a notebook shows them, tables in HTML and pictures in SVG, and as plain text."""

import io
from collections.abc import Mapping, Sequence
from html import escape

from rich.console import Console, RenderableType

from atoll.diagnostics.shown import printable, printable_lines

Row = dict[str, object]
"""A row of a table; a list of them makes a pandas DataFrame."""


def html_table(title: str, rows: Sequence[Mapping[str, object]], words: Sequence[str] = ()) -> str:
    """Return a table with a caption, and sentences below it."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{_cell(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(row.get(name))}</td>' for name in columns)}</tr>"
        for row in rows
    )
    table = f"<table><caption>{_cell(title)}</caption><tr>{head}</tr>{body}</table>"
    return table + "".join(f"<p>{_cell(each)}</p>" for each in words)


def svg_element(document: str) -> str:
    """Return an SVG file as the element that a page may hold."""
    return document[document.index("<svg") :]


def plain_text(content: RenderableType, columns: int | None = None) -> str:
    """Return what a console would show, without styles."""
    file = io.StringIO()
    console = Console(
        file=file, width=columns or 100_000, highlight=False, markup=False, emoji=False
    )
    console.print(content, soft_wrap=True)
    return printable_lines(file.getvalue())


def _cell(value: object) -> str:
    return escape(printable("unknown" if value is None else str(value)))
