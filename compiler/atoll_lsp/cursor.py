# SPDX-License-Identifier: Apache-2.0
"""Where in a description a cursor is, told by indentation and brackets of the text before it.

The text need be no YAML: it is being written.
"""

import re
from dataclasses import field
from typing import Any

from atoll.description.tree import Key
from atoll.records import dataclass

_LINE_BREAK = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_KEY = re.compile(
    r"""("[^"\n]*"|'[^'\n]*'|[^\s,\[\]{}#:'"&*!|>%@`](?:[^,\[\]{}:\n]*[^\s,\[\]{}:])?)\s*:(?=\s|$)"""
)
_SCALAR = re.compile(r"""("[^"\n]*"?|'[^'\n]*'?|[^\s,\[\]{}#'"](?:[^\n]*?\S)??)(?=\s+#|\s*$)""")
_FLOW_SCALAR = re.compile(
    r"""("[^"\n]*"?|'[^'\n]*'?|[^\s,\[\]{}#'"](?:[^,\[\]{}\n]*?[^\s,\[\]{}])??)"""
    r"""(?=\s*[,\]}]|\s+#|\s*$)"""
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in a description.

    Attributes:
        path: of the mapping or list around, for a key or an item; of the key for its value.
        writes_key: a key can stand here.
        writes_value: a value can stand here.
        word: what of it is written before the cursor.
        before: all scalars before the cursor, as nested mappings.
    """

    path: Key
    writes_key: bool
    writes_value: bool
    word: str
    before: dict[str, Any]


@dataclass(slots=True)
class _Level:
    """A collection that is not closed."""

    column: int
    flow: str = ""
    key: str | None = None
    items: int = -1
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str | None:
        return str(self.items) if self.items >= 0 else self.key


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text with their ends, as editors count them; the last one has none."""
    return tuple(_LINE_BREAK.split(text))


def cursor_at(text: str, index: int) -> Cursor:
    """Return where the cursor is that stands before the character at an index."""
    *lines, last = (each.rstrip("\r\n") for each in lines_of(text[:index]))
    reader = _Reader()
    for each in lines:
        reader.read(each)
    tail = re.search(r"(?<=: )[^,\[\]{}:#]*$", last) or re.search(r"[^\s,\[\]{}:]*$", last)
    word = tail[0].lstrip() if tail else ""
    reader.read(last[: len(last) - len(word)], indent=len(last) - len(last.lstrip(" ")))
    return reader.cursor(word)


class _Reader:
    def __init__(self) -> None:
        self._levels = [_Level(0)]
        self._data = self._levels[0].data
        self._pending = False

    def read(self, line: str, indent: int | None = None) -> None:
        """Take a line; `indent` is given for the last one, of which the word is cut off."""
        stripped = line.lstrip(" ")
        column = len(line) - len(stripped)
        if indent is None and (not stripped or stripped.startswith("#")):
            return
        if not self._levels[-1].flow:
            self._close_blocks(column if stripped else indent or 0, stripped.startswith("-"))
        self._tokens(line, column)

    def _close_blocks(self, column: int, dash: bool) -> None:
        while len(self._levels) > 1 and self._levels[-1].column > column:
            self._levels.pop()
        top = self._levels[-1]
        while len(self._levels) > 1 and top.items >= 0 and not dash and top.column >= column:
            self._levels.pop()
            top = self._levels[-1]
        if top.column < column and top.name is not None:
            self._open(column)
        elif top.items < 0 and not (dash and top.column == column and top.key is not None):
            top.key = None
        elif dash and top.items < 0:
            self._open(column)

    def _open(self, column: int, flow: str = "") -> None:
        top = self._levels[-1]
        level = _Level(column, flow)
        if flow == "[":
            level.items = 0
        if top.name is not None:
            level.data = top.data.setdefault(top.name, {})
            if not isinstance(level.data, dict):
                level.data = top.data[top.name] = {}
        self._levels.append(level)

    def _tokens(self, line: str, at: int) -> None:
        while at < len(line):
            top, mark = self._levels[-1], line[at]
            if mark in " \t":
                at += 1
            elif mark == "#" and (at == 0 or line[at - 1] in " \t"):
                return
            elif mark in "{[":
                self._open(at, mark)
                at += 1
            elif mark in "}]":
                if top.flow:
                    self._levels.pop()
                at += 1
            elif mark == "," and top.flow:
                top.key = None
                top.items += top.flow == "["
                at += 1
            elif mark == "-" and not top.flow and line[at + 1 : at + 2] in ("", " "):
                at = self._dash(at)
            else:
                at = self._word(line, at)

    def _dash(self, at: int) -> int:
        top = self._levels[-1]
        if top.column < at or top.key is not None:
            self._open(at)
            top = self._levels[-1]
        top.items += 1
        return at + 1

    def _word(self, line: str, at: int) -> int:
        top = self._levels[-1]
        key = _KEY.match(line, at) if top.key is None or top.items >= 0 or not top.flow else None
        if key and (top.key is None or top.items >= 0):
            if top.items >= 0 and not top.flow:
                self._open(at)
            self._levels[-1].key = key[1].strip("\"'")
            return key.end()
        scalar = (_FLOW_SCALAR if top.flow else _SCALAR).match(line, at)
        if scalar is None:
            return at + 1
        if top.name is not None:
            top.data[top.name] = scalar[1].strip("\"'")
        return max(scalar.end(), at + 1)

    def cursor(self, word: str) -> Cursor:
        """Return the place behind what was read."""
        top = self._levels[-1]
        return Cursor(
            path=tuple(level.name for level in self._levels if level.name is not None),
            writes_key=top.key is None,
            writes_value=top.name is not None,
            word=word,
            before=self._data,
        )
