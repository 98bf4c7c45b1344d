# SPDX-License-Identifier: Apache-2.0
"""XML as elements that know their lines: bounded, and without entities."""

from collections.abc import Iterator
from dataclasses import field
from xml.parsers import expat

from atoll.records import dataclass
from atoll_import.reader import Given

MAX_DEPTH = 100
MAX_ELEMENTS = 300_000
"""Those that are kept; what a reader has no use for does not count."""


@dataclass(slots=True)
class Element:
    """An element; prefixes of names are gone."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What the element says, without blanks around it."""
        return "".join(self.pieces).strip()

    def walk(self) -> Iterator["Element"]:
        """Yield the element and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def each(self, *tags: str) -> Iterator["Element"]:
        """Yield the children that have one of `tags`."""
        return (child for child in self.children if child.tag in tags)

    def first(self, *path: str) -> "Element | None":
        """Return the first element at a path of tags below this one."""
        found: Element | None = self
        for tag in path:
            found = next(found.each(tag), None) if found else None
        return found

    def text_at(self, *path: str) -> str:
        """Return the text at a path of tags below this one; empty if there is none."""
        found = self.first(*path)
        return found.text if found else ""


def read_xml(given: Given, *unused: str) -> Element:
    """Return the root of a file, without elements whose tags are `unused`.

    Raises:
        UsageError: E138; it is no XML, too large or too deep, or defines entities.
    """
    builder = _Builder(given, frozenset(unused))
    parser = expat.ParserCreate()
    builder.parser = parser
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.EntityDeclHandler = builder.entity
    try:
        parser.Parse(given.data, True)
    except expat.ExpatError as fault:
        reason = expat.ErrorString(fault.code) or "it cannot be parsed"
        given.refuse(f"not valid XML: {reason}", fault.lineno)
    except (LookupError, ValueError) as fault:
        given.refuse(f"not valid XML: {fault}")
    assert builder.root is not None, "a document has a root"
    return builder.root


class _Builder:
    """Builds the elements from the parser's events."""

    def __init__(self, given: Given, unused: frozenset[str]) -> None:
        self.parser: expat.XMLParserType | None = None
        self.root: Element | None = None
        self._given = given
        self._unused = unused
        self._open: list[Element] = []
        self._skipped = 0
        self._count = 0

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber if self.parser else 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Open an element."""
        tag = name.rpartition(":")[2]
        if self._skipped or tag in self._unused:
            self._skipped += 1
            return
        if len(self._open) == MAX_DEPTH:
            self._given.refuse(f"elements are more than {MAX_DEPTH} levels deep", self._line)
        self._count += 1
        if self._count > MAX_ELEMENTS:
            self._given.refuse(f"the file has more than {MAX_ELEMENTS:,} elements", self._line)
        plain = {key.rpartition(":")[2]: value for key, value in attributes.items()}
        element = Element(tag, plain, self._line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def end(self, _name: str) -> None:
        """Close an element."""
        if self._skipped:
            self._skipped -= 1
        else:
            self._open.pop()

    def characters(self, text: str) -> None:
        """Add to what the innermost element says."""
        if not self._skipped:
            self._open[-1].pieces.append(text)

    def entity(self, name: str, *_rest: object) -> None:
        """Refuse entities: they can grow without bound, or read other files."""
        self._given.refuse(f"the file defines the entity '{name}'", self._line, "write it out")
