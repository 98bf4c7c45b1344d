# SPDX-License-Identifier: Apache-2.0
"""Pictures of pools as one SVG file: time to the right, addresses upward, nothing to load."""

from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement

from atoll.diagnostics.shown import printable
from atoll.report.pool_picture import Block, PoolPicture
from atoll.report.svg import document, figure, number, text_of, write

_COLORS = (
    *("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#edc948"),
    *("#76b7b2", "#e15759", "#9c755f", "#86bcb6", "#d37295"),
)
_WIDTH, _HEIGHT = 960, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 90, 150, 40, 40
_CHARACTER, _LINE = 6.6, 12
_TICKS = 8
_STYLE = (
    ".block { stroke: #222; stroke-width: 0.5; fill-opacity: 0.8 } "
    ".axis { stroke: #888; stroke-width: 0.5 } .peak { stroke: #c00; stroke-width: 1.5 } "
    ".bound { stroke: #060; stroke-width: 1.5; stroke-dasharray: 6 4 }"
)


def svg_of(title: str, pictures: Iterable[PoolPicture]) -> str:
    """Return the text of an SVG file with one panel for each pool."""
    panels = tuple(pictures)
    root = document(title, _WIDTH, _TOP + len(panels) * _HEIGHT, _STYLE)
    for row, picture in enumerate(panels):
        _Panel(root, picture, _TOP + row * _HEIGHT).draw()
    return text_of(root)


def linked_svg(picture: PoolPicture, links: Mapping[str, str]) -> Element:
    """Return the panel of one pool for a page; a block leads to the link of its buffer."""
    root = figure(picture.caption, _WIDTH, _HEIGHT)
    _Panel(root, picture, 0, links).draw()
    return root


class _Panel:
    """One pool; `top` is where its panel begins, `links` says where buffers lead."""

    def __init__(
        self,
        root: Element,
        picture: PoolPicture,
        top: int,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self._links = links
        owner = f"{picture.network}-" if picture.network else ""
        self._group = SubElement(root, "g", id=f"pool-{owner}{picture.pool}")
        self._picture = picture
        self._top = top + _TOP
        self._wide = (_WIDTH - _LEFT - _RIGHT) / (picture.end - picture.begin)
        self._tall = (_HEIGHT - _TOP - _BOTTOM) / picture.used

    def draw(self) -> None:
        picture = self._picture
        write(self._group, _LEFT, self._top - 10, picture.caption)
        self._axes()
        for block in picture.blocks:
            self._block(block)
        if picture.used == picture.bound:
            self._level(picture.used, "peak", f"peak = bound {picture.used:,} B")
        else:
            self._level(picture.used, "peak", f"peak {picture.used:,} B")
            near = (picture.used - picture.bound) * self._tall < _LINE
            below = _LINE if near else 0
            self._level(picture.bound, "bound", f"bound {picture.bound:,} B", below)

    def _x(self, step: int) -> float:
        return _LEFT + (step - self._picture.begin) * self._wide

    def _y(self, address: int) -> float:
        return self._top + (self._picture.used - address) * self._tall

    def _axes(self) -> None:
        picture = self._picture
        for address in _ticks(0, picture.used):
            self._line(picture.begin, address, picture.end, address, "axis")
            write(self._group, _LEFT - 6, self._y(address) + 4, f"{address:,}", anchor="end")
        for step in _ticks(picture.begin, picture.end):
            self._line(step, 0, step, picture.used, "axis")
            write(self._group, self._x(step), self._y(0) + 16, f"{step:,}", anchor="middle")
        middle = (self._x(picture.begin) + self._x(picture.end)) / 2
        write(self._group, middle, self._y(0) + 32, "step", anchor="middle")

    def _block(self, block: Block) -> None:
        width = (block.end - block.begin) * self._wide
        height = (block.high - block.low) * self._tall
        group = self._block_group(block)
        SubElement(group, "title").text = printable(str(block))
        SubElement(
            group,
            "rect",
            {"class": "block", "fill": _COLORS[block.number % len(_COLORS)]},
            x=number(self._x(block.begin)),
            y=number(self._y(block.high)),
            width=number(width),
            height=number(height),
        )
        room = int((width - 6) / _CHARACTER)
        if height >= _LINE and room >= min(3, len(block.buffer)):
            name = block.buffer if len(block.buffer) <= room else block.buffer[: room - 1] + "…"
            write(group, self._x(block.begin) + 3, self._y(block.high) + _LINE - 1, name)

    def _block_group(self, block: Block) -> Element:
        if self._links is None:
            return SubElement(self._group, "g")
        return SubElement(self._group, "a", href=self._links[block.buffer])

    def _level(self, address: int, style: str, words: str, below: int = 0) -> None:
        """Mark an address, with words that many pixels below the line."""
        self._line(self._picture.begin, address, self._picture.end, address, style)
        write(self._group, self._x(self._picture.end) + 6, self._y(address) + 4 + below, words)

    def _line(self, step: int, address: int, to_step: int, to_address: int, style: str) -> None:
        SubElement(
            self._group,
            "line",
            {"class": style},
            x1=number(self._x(step)),
            y1=number(self._y(address)),
            x2=number(self._x(to_step)),
            y2=number(self._y(to_address)),
        )


def _ticks(begin: int, end: int) -> list[int]:
    """Return round numbers from `begin` to `end`, few of them."""
    step = 1
    while (end - begin) // step > _TICKS:
        step *= 2
    return list(range(-(-begin // step) * step, end + 1, step))
