# SPDX-License-Identifier: Apache-2.0
"""Reads a page as a stranger would: elements, the numbers that name their place, and the JSON."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_SCALE = {
    "": 1,
    "B": 1,
    "ns": 1,
    "s": 1,
    "pJ": 1,
    "µm²": 1,
    "Hz": 1,
    "kHz": 10**3,
    "MHz": 10**6,
    "GHz": 10**9,
}
_VOID = frozenset({"meta", "link", "input", "br", "hr", "img"})
_BAND = re.compile(r"(?:± |-([0-9]+) to \+)([0-9]+) %")
_NUMBER = re.compile(r"(0x[0-9a-f]+|-?[0-9][0-9,]*(?:\.[0-9]+)?)\s*([A-Za-zµ²]*)")


@dataclass
class Element:
    """An element with its text and what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list["Element"] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its own text and that of what is in it, in the order of the page."""
        return "".join(self.parts)

    def all(self, tag: str = "") -> Iterator["Element"]:
        """Yield what is in it, of one tag if one is named."""
        for each in self.children:
            if tag in ("", each.tag):
                yield each
            yield from each.all(tag)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> ends <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for each in self._open:
            each.parts.append(data)


def read_page(text: str) -> Element:
    """Return the page; each element must be closed where it belongs."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.root is reader._open[-1]
    return reader.root


def value_at(documents: Any, pointer: str) -> Any:
    """Return what a JSON pointer leads to."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        documents = documents[int(key) if isinstance(documents, list) else key]
    return documents


def number_in(text: str) -> int | float | bool | dict[str, float]:
    """Return the number that a text shows, in bytes, hertz, nanoseconds or as it is; or a band."""
    if text in ("yes", "no"):
        return text == "yes"
    if band := _BAND.fullmatch(text):
        low, high = int(band[1] or band[2]), int(band[2])
        return {"low": low / 100, "high": high / 100}
    found = _NUMBER.fullmatch(text.strip().replace("\N{NO-BREAK SPACE}", " "))
    assert found, f"{text!r} is no number"
    digits = found[1].replace(",", "")
    number = int(digits, 16) if digits.startswith("0x") else float(digits)
    return number * _SCALE[found[2]]


def agrees(text: str, value: Any) -> bool:
    """Tell whether a text shows a value of the JSON; shares are shown as whole percents."""
    if isinstance(value, str):
        return text == value
    number = number_in(text)
    if isinstance(number, dict) and isinstance(value, dict):
        return all(abs(number[key] - value[key]) <= 0.00501 for key in ("low", "high"))
    return bool(number == value)


def shown_values(page: Element) -> dict[str, tuple[str, Any]]:
    """Return each value that a page shows: its text and its number, by its place in the JSON.

    What a sweep file wrote, such as ``64 KiB``, has no number.
    """
    return {
        (place := each.attributes["data-json"]): (
            each.text,
            None if "/axes/" in place else number_in(each.text),
        )
        for each in page.all("data")
    }


def bare_numbers(page: Element) -> list[str]:
    """Return the cells of tables that show a number without its place."""
    return [
        cell.text
        for cell in page.all("td")
        if _NUMBER.fullmatch(cell.text.strip().replace("\N{NO-BREAK SPACE}", " "))
        and not any(
            each.tag == "data" or "sum" in each.attributes.get("class", "") for each in cell.all()
        )
    ]


def wrong_values(page: Element, documents: Mapping[str, Any]) -> list[str]:
    """Return the numbers of a page that are not those of the documents."""
    return [
        f"{pointer}: shown as {text}"
        for pointer, (text, _) in shown_values(page).items()
        if not agrees(text, value_at(documents, pointer))
    ]
