# SPDX-License-Identifier: Apache-2.0
"""Pictures as a page holds them: SVG elements whose colours the style sheet decides."""

from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup

from atoll.diagnostics.shown import printable
from atoll.report.svg import write

_WIDTHS = (("MW@%mw", 1.0), ("il.,:;'|!jtfrI() ", 0.42))
_OTHERS = {True: 0.62, False: 1.05}
"""Widths of characters by size of the font, rather too wide: of ASCII and of other scripts."""
_SIZES = {"head": (13, 1.06), "note": (11, 1.0), "": (11, 1.0)}
"""Size of the font, and how much wider it is, by style."""


def inline(root: Element, kind: str = "") -> Markup:
    """Return an SVG element for a page; `kind` is a class of its figure."""
    title = root.findtext("title") or ""
    root.attrib.pop("xmlns", None)
    root.set("role", "group")
    root.set("aria-label", title)
    svg = Markup(tostring(root, encoding="unicode"))
    return Markup(
        '<figure class="chart {}"><div class="scroll" tabindex="0" role="region" '
        'aria-label="{}">{}</div></figure>'
    ).format(kind, title, svg)


def write_within(
    parent: Element,
    x: float,
    y: float,
    words: str,
    room: float,
    *,
    style: str = "",
    anchor: str = "start",
) -> None:
    """Write words at a place; what has no room is cut, and its title tells all of it."""
    full = printable(words)
    fits = shorten(full, room, style)
    write(parent, x, y, fits, style=style, anchor=anchor)
    if fits != full:
        SubElement(parent[-1], "title").text = full


def shorten(words: str, room: float, style: str = "") -> str:
    """Return words with an ellipsis at their end if they are wider than `room` pixels."""
    size, wider = _SIZES[style]
    widths = [_width(each) * size * wider for each in words]
    if sum(widths) <= room:
        return words
    left = room - size * wider
    count = 0
    while count < len(words) and widths[count] <= left:
        left -= widths[count]
        count += 1
    return f"{words[:count]}…"


def text_width(words: str, style: str = "") -> float:
    """Return the pixels that words take at most."""
    size, wider = _SIZES[style]
    return sum(map(_width, words)) * size * wider


def _width(character: str) -> float:
    named = (width for characters, width in _WIDTHS if character in characters)
    return next(named, 0.75 if character.isupper() else _OTHERS[character.isascii()])
