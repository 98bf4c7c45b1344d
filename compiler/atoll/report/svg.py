# SPDX-License-Identifier: Apache-2.0
"""What pictures as SVG share: a document of one file, words, numbers; nothing to load."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from atoll.diagnostics.shown import printable

_STYLE = "text { font: 11px sans-serif; fill: #222 } .title { font-size: 14px; font-weight: bold } "


def document(title: str, width: int, height: int, style: str) -> Element:
    """Return an empty picture with a title and a white ground.

    Args:
        title: a line.
        width: pixels.
        height: pixels.
        style: CSS of the picture's own classes.
    """
    root = figure(title, width, height)
    SubElement(root, "style").text = _STYLE + style
    SubElement(root, "rect", width="100%", height="100%", fill="#fff")
    write(root, 10, 24, title, style="title")
    return root


def figure(title: str, width: int, height: int) -> Element:
    """Return an empty picture without a style or a ground, for a page that has them."""
    root = Element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        width=str(width),
        height=str(height),
    )
    SubElement(root, "title").text = printable(title)
    return root


def text_of(root: Element) -> str:
    """Return the text of the file."""
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def write(
    parent: Element, x: float, y: float, words: str, *, style: str = "", anchor: str = "start"
) -> None:
    """Write words at a place."""
    place = {"x": number(x), "y": number(y), "text-anchor": anchor}
    SubElement(parent, "text", place | ({"class": style} if style else {})).text = printable(words)


def number(value: float) -> str:
    """Return a length in pixels, as short as it is exact to a hundredth."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
