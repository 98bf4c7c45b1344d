# SPDX-License-Identifier: Apache-2.0
"""Pictures of pools for a terminal: letters, in color where the terminal has it."""

from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase

from rich.text import Text

from atoll.report.pool_picture import Block, PoolPicture

_COLUMNS, _LEAST_COLUMNS, _ROWS = 50, 16, 16
_MARGINS = 26
"""Columns beside a picture: addresses to the left, names of levels to the right."""
_COLORS = ("blue", "yellow", "green", "magenta", "cyan", "red")
_FREE, _SMALL = ".", "#"


def draw(pictures: Iterable[PoolPicture], columns: int | None = None) -> Iterator[Text]:
    """Yield the picture of each pool, and below it what its letters stand for.

    The largest buffers have a letter, all others the same mark.
    """
    wide = _COLUMNS if columns is None else min(_COLUMNS, max(_LEAST_COLUMNS, columns - _MARGINS))
    for picture in pictures:
        blocks = {block.buffer: block for block in reversed(picture.blocks)}
        largest = sorted(blocks.values(), key=lambda block: (block.low - block.high, block.number))
        chosen = sorted(largest[: len(ascii_lowercase)], key=lambda block: block.number)
        letters = {
            block.buffer: letter for block, letter in zip(chosen, ascii_lowercase, strict=False)
        }
        key = [_explain(block, letters) for block in chosen]
        if len(largest) > len(chosen):
            key.append(Text(f"  {_SMALL} {len(largest) - len(chosen)} smaller buffers"))
        yield Text("\n").join((Text(picture.caption), *_rows(picture, letters, wide), *key))


def _rows(picture: PoolPicture, letters: Mapping[str, str], wide: int) -> Iterator[Text]:
    """Yield the lines from the highest address to the lowest, then the steps."""
    levels = {"peak": picture.used, "bound": picture.bound}
    row_of = {name: _row(picture, address) for name, address in levels.items()}
    for row in reversed(range(_ROWS)):
        line = Text(f"{picture.used * (row + 1) // _ROWS:>11,} |")
        for column in range(wide):
            line.append_text(_cell(_block_at(picture, row, (2 * column + 1) / (2 * wide)), letters))
        yield line.append(" ".join(("|", *(name for name in levels if row_of[name] == row))))
    left, right = f"step {picture.begin:,}", f"{picture.end - 1:,}"
    yield Text(" " * 13 + left + right.rjust(wide - len(left)))


def _row(picture: PoolPicture, address: int) -> int:
    """Return the row whose bytes end at or above `address`."""
    return min(_ROWS - 1, max(0, (address * _ROWS - 1) // picture.used))


def _block_at(picture: PoolPicture, row: int, part: float) -> Block | None:
    """Return the block in the middle of a row after a part of the steps, the last to begin."""
    address = picture.used * (2 * row + 1) // (2 * _ROWS)
    step = picture.begin + int((picture.end - picture.begin) * part)
    found = None
    for block in picture.blocks:
        if block.begin <= step < block.end and block.low <= address < block.high:
            found = block
    return found


def _cell(block: Block | None, letters: Mapping[str, str]) -> Text:
    if block is None:
        return Text(_FREE, style="dim")
    color = _COLORS[block.number % len(_COLORS)]
    return Text(letters.get(block.buffer, _SMALL), style=f"black on {color}")


def _explain(block: Block, letters: Mapping[str, str]) -> Text:
    return Text.assemble("  ", _cell(block, letters), " ", str(block))
