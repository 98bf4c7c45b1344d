# SPDX-License-Identifier: Apache-2.0
"""The entries of a Renode platform description.

Source: Renode documentation, "Platform description format"
(https://renode.readthedocs.io/en/latest/advanced/platform_description_format.html). What an entry
has is indented below it, or in braces with semicolons between; both may be mixed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from atoll.records import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|[^\S\n]+)|(?P<text>'''.*?'''|"(?:\\.|[^"\\\n])*")|(?P<open>/\*)
    |(?P<line>\n)|(?P<word>[\w.]+)|(?P<mark>->|.)""",
    re.DOTALL | re.VERBOSE,
)
_LOCAL = re.compile(r"[A-Za-z_]\w*")
_KIND = re.compile(r"[A-Za-z_][\w.]*")
_OUTER = "Antmicro.Renode.Peripherals."
"""The namespace that a type may leave out."""

_BUS = "sysbus"
_OPEN, _CLOSE = "{", "}"


@dataclass(frozen=True, slots=True)
class Registration:
    """A place of a peripheral on the bus, for all cores or for one, or a cluster; all are texts.

    Attributes:
        address: of its first byte.
        size: of what is seen there.
        end: of what is seen there, if that says it.
        core: or cluster.
        offset: of the first byte that is seen there.
    """

    address: str
    size: str = ""
    end: str = ""
    core: str = ""
    offset: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A peripheral of the platform.

    Attributes:
        name: of its variable.
        kind: its type, such as ``Memory.MappedMemory``; empty if no entry of the file has one.
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


@dataclass(frozen=True, slots=True)
class Platform:
    """What a description says.

    Attributes:
        entries: what later ones add to a name belongs to the first; one without a type adds to an
            entry of another file.
        included: other files, each with its line.
        unclosed: line of the brace or comment that nothing closes; 0 for none.
    """

    entries: tuple[Entry, ...]
    included: tuple[tuple[str, int], ...]
    unclosed: int


@dataclass(frozen=True, slots=True)
class _Token:
    """A word, a mark, or a string in its quotes."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _Item:
    """What begins at a margin, with the lines below it that are further to the right."""

    head: list[_Token] = field(default_factory=list)
    below: "list[_Item]" = field(default_factory=list)


@dataclass(slots=True)
class _Made:
    """An entry while later ones add to it."""

    name: str
    kind: str
    line: int
    where: list[list[_Token]] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)


def platform_of(text: str) -> Platform:
    """Return the entries of a description, and the files that it includes."""
    made: dict[str, _Made] = {}
    files: list[tuple[str, int]] = []
    items, unclosed = _items(text)
    for item in items:
        head = [token.text for token in item.head]
        if head[0] == "using" and len(head) > 1:
            files.append((_plain(head[1]), item.head[0].line))
            continue
        at = 1 if head[0] == "local" and head[1:2] != [":"] else 0
        if len(head) < at + 2 or head[at + 1] != ":" or not _LOCAL.fullmatch(head[at]):
            continue
        rest = item.head[at + 2 :]
        line, kind = item.head[0].line, ""
        if rest and _KIND.fullmatch(rest[0].text):
            kind = rest.pop(0).text.removeprefix(_OUTER)
        known = made.get(head[at])
        if known is None or (kind and known.kind):
            key = head[at] if known is None else f"{head[at]} {line}"
            known = made[key] = _Made(head[at], kind, line)
        known.kind = known.kind or kind
        _extend(known, rest, item.below)
    return Platform(tuple(map(_entry, made.values())), tuple(files), unclosed)


def _entry(made: _Made) -> Entry:
    above = made.where[0][0].text if made.where else ""
    on_bus = (each[1:] for each in made.where if each[0].text == _BUS)
    places = tuple(map(_registration, on_bus))
    return Entry(made.name, made.kind, made.line, places, above, made.attributes)


def _items(text: str) -> tuple[list[_Item], int]:
    """Return what is at the left margin, and the line of what nothing closes.

    In braces neither lines nor margins mean anything.
    """
    root = _Item()
    above: list[tuple[int, _Item]] = [(-1, root)]
    braces: list[int] = []
    line, margin, fresh = 1, 0, True
    for found in _TOKEN.finditer(text):
        kind, word = found.lastgroup, found[0]
        if kind == "open":
            return root.below, line
        if kind == "line" or kind == "skip":
            line += word.count("\n")
            if kind == "line":
                margin, fresh = 0, True
            elif word.isspace():
                margin += len(word)
            continue
        if fresh and not braces:
            while above[-1][0] >= margin:
                above.pop()
            above[-1][1].below.append(_Item())
            above.append((margin, above[-1][1].below[-1]))
        fresh = False
        if word == _OPEN:
            braces.append(line)
        elif word == _CLOSE and braces:
            braces.pop()
        above[-1][1].head.append(_Token(word, line))
        line += word.count("\n")
    return root.below, braces[0] if braces else 0


def _extend(made: _Made, head: Sequence[_Token], below: Sequence[_Item]) -> None:
    """Add to an entry what one speaks of it: places in the place of others, and attributes."""
    groups = [*_group(head)]
    if groups and groups[0][0].text == "@":
        groups.pop(0)
        if groups and groups[0][0].text == _OPEN:
            made.where = [each for each in _split(groups.pop(0)[1:-1]) if each]
        else:
            made.where = [_one_place(groups)]
        made.where = [each for each in made.where if each and each[0].text != "none"]
    inside = [each[1:-1] for each in groups if each[0].text == _OPEN]
    listed = [part for each in inside for part in _split(each)]
    for tokens in (*listed, *(item.head for item in below)):
        if len(tokens) > 2 and tokens[1].text == ":" and _LOCAL.fullmatch(tokens[0].text):
            value = tokens[2].text if len(tokens) == 3 else ""
            made.attributes[tokens[0].text] = _plain(value)


def _one_place(groups: list[list[_Token]]) -> list[_Token]:
    """Take from the groups the one place that they begin with."""
    place: list[_Token] = []
    while groups and groups[0][0].text not in (_OPEN, "as"):
        group = groups.pop(0)
        place += group
        if group[0].text == "new":
            place += groups.pop(0) if groups else []
            place += groups.pop(0) if groups and groups[0][0].text == _OPEN else []
    return place


def _group(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Yield each token outside of braces, and each pair of braces with all inside."""
    group: list[_Token] = []
    depth = 0
    for token in tokens:
        depth += (token.text == _OPEN) - (token.text == _CLOSE)
        group.append(token)
        if depth <= 0:
            yield group
            group, depth = [], 0
    if group:
        yield [*group, _Token(_CLOSE, group[-1].line)]


def _split(tokens: Sequence[_Token]) -> Iterator[list[_Token]]:
    """Yield what is between semicolons that are in no braces."""
    part: list[_Token] = []
    for group in _group(tokens):
        if group[0].text == ";":
            yield part
            part = []
        else:
            part += group
    yield part


def _plain(text: str) -> str:
    return text.strip("'" if text.startswith("'''") else '"')


def _registration(tokens: Sequence[_Token]) -> Registration:
    """Return a place by what follows the bus: a number, a range, or an object with properties."""
    texts = [token.text for token in tokens]
    if texts[:1] == ["<"] and "," in texts:
        cut = texts.index(",")
        last = [text for text in texts[cut + 1 :] if text != ">"]
        begin, end = "".join(texts[1:cut]), "".join(text for text in last if text != "+")
        return Registration(begin, size=end) if "+" in last else Registration(begin, end=end)
    if _OPEN in texts:
        inside = [*_split(tokens[texts.index(_OPEN) + 1 : -1])]
        said = {
            each[0].text: each[2].text for each in inside if len(each) > 2 and each[1].text == ":"
        }
        span = next((each[2:] for each in inside if len(each) > 2 and each[2].text == "<"), None)
        core = said.get("cpu") or said.get("cluster", "")
        if span:
            place = _registration(span)
            return replace(place, core=core, offset=said.get("offset", ""))
        return Registration(
            said.get("address", ""), said.get("size", ""), "", core, said.get("offset", "")
        )
    return Registration(texts[0] if texts else "")
