"""The entries of a Renode platform description.

Source: Renode documentation, "The Renode platform description format"
(https://renode.readthedocs.io/en/latest/advanced/platform_description_format.html).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_SKIPPED = re.compile(
    r"""//[^\n]*|/\*(?:.*?\*/|.*\Z)|'''(?:.*?'''|.*\Z)|"(?:\\.|[^"\\\n])*"?""", re.DOTALL
)
_ENTRY = re.compile(r"^([A-Za-z_]\w*)[ \t]*:[ \t]*([A-Za-z_][\w.]*)?", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^[ \t]+([A-Za-z_]\w*)[ \t]*:[ \t]*(\S[^\n]*)$", re.MULTILINE)
_USING = re.compile(r'^using[ \t]+"([^"\n]*)"', re.MULTILINE)
_REGISTRATION = re.compile(r"\bsysbus\b([^;{}@\n]*(?:\{[^{}]*\})?)")
_RANGE = re.compile(r"<\s*(\w+)\s*,\s*(\+?)\s*(\w+)\s*>")
_INSIDE = re.compile(r"\b(\w+)\s*:\s*(\w+)")


@dataclass(frozen=True, slots=True)
class Registration:
    """A place of a peripheral on the bus, for all cores or for one, or a cluster; all are texts."""

    address: str
    size: str = ""
    end: str = ""
    core: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A peripheral of the platform.

    Attributes:
        name: of its variable.
        kind: its type, such as ``Memory.MappedMemory``.
        line: counts from 1.
        places: on the bus; none if it is elsewhere.
        above: the first that it is connected to, such as ``sysbus``; empty for none.
        attributes: texts by name.
    """

    name: str
    kind: str
    line: int
    places: tuple[Registration, ...]
    above: str
    attributes: Mapping[str, str]


def entries_of(text: str) -> tuple[Entry, ...]:
    """Return the entries that have a type; what later ones add to a name belongs to the first."""
    plain = _SKIPPED.sub(_blank, text)
    found = list(_ENTRY.finditer(plain))
    ends = [*(entry.start() for entry in found), len(plain)][1:]
    added: dict[str, dict[str, str]] = {}
    typed: list[tuple[re.Match[str], str]] = []
    for entry, end in zip(found, ends, strict=True):
        body = plain[entry.end() : end]
        added.setdefault(entry[1], {}).update(_attributes(body))
        if entry[2]:
            typed.append((entry, body))
    lines = _Lines(plain)
    return tuple(
        Entry(
            entry[1],
            entry[2],
            lines.at(entry.start()),
            tuple(_places(body)),
            _above(body),
            added[entry[1]],
        )
        for entry, body in typed
    )


def included(text: str) -> tuple[tuple[str, int], ...]:
    """Return the files that the description includes, each with its line."""
    return tuple(
        (found[1], text.count("\n", 0, found.start()) + 1) for found in _USING.finditer(text)
    )


@dataclass(slots=True)
class _Lines:
    """Counts lines up to positions that only grow."""

    text: str
    position: int = 0
    line: int = 1

    def at(self, position: int) -> int:
        self.line += self.text.count("\n", self.position, position)
        self.position = position
        return self.line


def _blank(found: re.Match[str]) -> str:
    """Return what stands for a comment or a script: its lines; for a string: no braces."""
    text = found[0]
    if text.startswith('"'):
        return re.sub(r"[{}@;:]", " ", text)
    return re.sub(r"[^\n]", " ", text)


def _attributes(body: str) -> Iterator[tuple[str, str]]:
    for found in _ATTRIBUTE.finditer(body):
        yield found[1], found[2].rstrip().strip('"')


def _places(body: str) -> Iterator[Registration]:
    for found in _REGISTRATION.finditer(_where(body)):
        yield _registration(found[1].strip())


def _above(body: str) -> str:
    found = re.match(r"\s*(\w+)", _where(body))
    return found[1] if found else ""


def _where(body: str) -> str:
    """Return what follows the first ``@`` of the header, in braces or on its line."""
    head, at, rest = body.partition("@")
    if not at or "\n" in head.strip(" \t"):
        return ""
    rest = rest.lstrip(" \t")
    return _braced(rest) if rest.startswith("{") else rest.partition("\n")[0]


def _braced(text: str) -> str:
    """Return what is between a brace at the begin and the one that closes it."""
    depth = 0
    for found in re.finditer(r"[{}]", text):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return text[1 : found.start()]
    return text[1:]


def _registration(text: str) -> Registration:
    if span := _RANGE.search(text):
        size, end = (span[3], "") if span[2] else ("", span[3])
        return Registration(span[1], size=size, end=end)
    if "{" in text:
        said = dict(_INSIDE.findall(text.partition("{")[2]))
        core = said.get("cpu") or said.get("cluster", "")
        return Registration(said.get("address", ""), said.get("size", ""), "", core)
    return Registration(text.split()[0] if text else "")
