# SPDX-License-Identifier: Apache-2.0
"""Text from outside, made fit to print: escaped, cut, and measured in columns of a terminal.

Names, keys, paths and tools' logs can hold control characters, escape sequences and marks that
turn the direction of text. Whatever a user reads passes through here on its way out.
"""

import json
import re
from collections.abc import Iterable
from itertools import accumulate
from unicodedata import combining, east_asian_width

ELLIPSIS = "..."
LONGEST_WORD = 120
"""Characters that a word keeps where a sentence is too long."""

_LONG_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")


def printable(text: str) -> str:
    """Return `text` with escapes for what is no printable character; letters of all scripts stay.

    Text that was shown before is returned as it is.
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def printable_lines(text: str) -> str:
    """Return `text` with everything but its ends of lines escaped."""
    return "\n".join(map(printable, text.split("\n")))


def cut(text: str, most: int) -> str:
    """Return `text` with an ellipsis in its middle if it has more than `most` characters."""
    if len(text) <= most:
        return text
    head = (most - len(ELLIPSIS) + 1) // 2
    tail = most - len(ELLIPSIS) - head
    return text[:head] + ELLIPSIS + text[len(text) - tail :]


def sentence(text: str, most: int) -> str:
    """Return `text` escaped and with at most `most` characters; its longest words are cut first."""
    printable = printable_lines(text)
    if len(printable) > most:
        printable = _LONG_WORD.sub(lambda found: cut(found[0], LONGEST_WORD), printable)
    return cut(printable, most)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal printable text takes."""
    return sum(map(_width, text))


def window(text: str, at: int, columns: int) -> tuple[str, int]:
    """Return the part of a line around the character `at`, and where that character is in it.

    What is left out at an end is an ellipsis; the part takes at most `columns` columns.
    """
    before, behind = text[:at], text[at:]
    left, right = columns_of(before), columns_of(behind)
    if left + right <= columns:
        return text, at
    right = min(right, max(columns // 2, columns - left))
    before = _cut_to(before[::-1], columns - right)[::-1]
    return before + _cut_to(behind, right), len(before)


def json_text(data: object) -> str:
    """Return `data` as JSON for a terminal or another program: its strings are shown, in ASCII."""
    return json.dumps(_printable_data(data), indent=2) + "\n"


def _printable_data(data: object) -> object:
    match data:
        case str():
            return printable_lines(data)
        case dict():
            return {printable(str(key)): _printable_data(value) for key, value in data.items()}
        case list() | tuple():
            return [_printable_data(item) for item in data]
        case _:
            return data


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def _width(character: str) -> int:
    if character.isascii():
        return 1
    return 0 if combining(character) else 1 + (east_asian_width(character) in "WF")


def _cut_to(text: str, columns: int) -> str:
    """Return as much of the start of `text` as takes `columns`, the ellipsis included."""
    if columns_of(text) <= columns:
        return text
    return text[: _count(map(_width, text), columns - len(ELLIPSIS))] + ELLIPSIS


def _count(widths: Iterable[int], columns: int) -> int:
    """Count how many characters of these widths take at most `columns`."""
    return sum(1 for end in accumulate(widths) if end <= columns)
