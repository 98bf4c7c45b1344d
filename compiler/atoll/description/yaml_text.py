# SPDX-License-Identifier: Apache-2.0
"""Read files, and YAML text, as bounded plain data: no tags, no aliases, no duplicate keys.

Plain scalars follow YAML 1.2 (`no` is text, `010` is text), with `_` allowed between digits.
"""

import re
from dataclasses import field
from functools import partial
from itertools import islice
from pathlib import Path
from stat import S_ISREG
from typing import Any

import yaml

from atoll.description.faults import Faults, note
from atoll.description.tree import Entry, Key, Listing, Node, Scalar, Table
from atoll.diagnostics.edit import Edit, Fix, Patch, Remedy
from atoll.diagnostics.errors import DescriptionError, SourceLoc
from atoll.diagnostics.open_texts import open_text
from atoll.records import dataclass

MAX_BYTES = 2**20

FAST_LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Its events have the places of `yaml.SafeLoader`, and take a hundredth of its time.

It takes tabs and question marks where that does not, and puts values that are left out, and what
follows a byte order mark, one character further on. It takes comments that touch what they follow.
"""
_ODD = re.compile("[\t?\ufeff]|[|>][^\n ]*#|^%", re.MULTILINE)


def read_text(path: Path, named_at: SourceLoc | None = None) -> str:
    """Return the text of the file at `path`, which another file names at `named_at`.

    Raises:
        DescriptionError: it cannot be read, is larger than `MAX_BYTES`, or is no UTF-8.
    """
    text = open_text(path)
    if text is None:
        return _decode(path, _read_bytes(path, named_at))
    if is_too_large(text):
        raise _too_large(path, named_at)
    return text


def is_too_large(text: str) -> bool:
    """Tell whether the file of `text` is larger than `MAX_BYTES`."""
    if len(text) > MAX_BYTES or text.isascii():
        return len(text) > MAX_BYTES
    return len(text.encode(errors="surrogatepass")) > MAX_BYTES


def place_in(path: Path, text: str, position: int) -> SourceLoc:
    """Return the place of the character at index `position` of `text`."""
    lines = (text[:position] + "|").splitlines()
    return SourceLoc(path, len(lines), len(lines[-1]))


def _read_bytes(path: Path, at: SourceLoc | None) -> bytes:
    try:
        if not S_ISREG(path.stat().st_mode):
            raise DescriptionError("E001", f"'{path}' is no file", at=at, remedy="name a YAML file")
        with path.open("rb", buffering=0) as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else str(fault)
        raise DescriptionError(
            "E001",
            f"cannot read '{path}': {reason}",
            at=at,
            remedy="check the name and its permissions",
        ) from fault
    if len(data) > MAX_BYTES:
        raise _too_large(path, at)
    return data


def _too_large(path: Path, at: SourceLoc | None) -> DescriptionError:
    message = f"'{path}' is larger than 1 MiB"
    return DescriptionError("E006", message, at=at, remedy="name a SoC description in YAML")


def _decode(path: Path, data: bytes) -> str:
    if data[4:8] == b"TFL3":
        raise DescriptionError(
            "E190",
            f"'{path}' is a TFLite model, and no description",
            at=SourceLoc(path, 1, 1),
            remedy="give the chip first, then the model: atoll COMMAND SOC MODEL",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = fault.object[: fault.start].decode()
        raise DescriptionError(
            "E002",
            f"byte 0x{fault.object[fault.start]:02X} is not UTF-8",
            at=place_in(path, before, len(before)),
            remedy="save the file as UTF-8",
        ) from fault


MAX_DEPTH = 32
MAX_NODES = 20_000
MAX_NUMBER_LENGTH = 64

_HALF = re.compile("[\ud800-\udfff]")
"""A surrogate, as quotes can have one: no text in UTF-8 has it."""

_WRITTEN_HALF = re.compile(r"\\(?:u|U0000)[dD][89a-fA-F][0-9a-fA-F]{2}")

_DECIMAL = re.compile(r"[-+]?(?:0|[1-9](?:_?[0-9])*)")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F](?:_?[0-9a-fA-F])*")
_REAL = re.compile(r"[-+]?(?:[0-9]*\.[0-9]+|[0-9]+(?:\.|(?=[eE])))(?:[eE][-+]?[0-9]+)?")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_WORDS |= {word.title(): value for word, value in _WORDS.items()}
_WORDS |= {word.upper(): value for word, value in _WORDS.items()}

_TABS = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
_PROPERTY = r"[^\s,\[\]{}]+[ \t]*"
_DIVIDER = r"---[^\S\n]*\n?"
_NO_TABS = "indent with spaces, not with tabs"
_COMPARE = "compare the line with the examples in docs/description.md"
_REMEDIES = {
    r"'\t'": _NO_TABS,
    "mapping values are not allowed": "start the keys of one mapping in the same column, "
    "or put the value in quotes",
    "expected <block end>": "start the keys of one mapping in the same column",
    "could not find expected ':'": "write 'key: value', with a space after the colon",
    "expected ',' or '}'": "separate entries by ',' and close the mapping with '}'",
    "expected ',' or ']'": "separate entries by ',' and close the list with ']'",
    "while scanning a quoted scalar": "close the quotes",
}


def read_yaml(path: Path, named_at: SourceLoc | None = None, faults: Faults | None = None) -> Node:
    """Read the one document of the file at `path`, which another file names at `named_at`.

    Keys that are given twice are noted in `faults`, if there is such.

    Raises:
        DescriptionError: the file cannot be read, is no YAML, or is more than plain data.
    """
    return parse_yaml(read_text(path, named_at), path, faults)


def parse_yaml(text: str, path: Path, faults: Faults | None = None) -> Node:
    """Parse `text`, whose places are in `path`.

    Raises:
        DescriptionError: it is no YAML, or is more than plain data.
    """
    reader = _Reader(path, text) if faults is None else _Reader(path, text, faults)
    try:
        for event in yaml.parse(text, Loader=_loader_for(text)):
            reader.accept(event)
    except yaml.MarkedYAMLError as fault:
        raise _syntax_error(path, text, fault) from fault
    except yaml.reader.ReaderError as fault:
        raise DescriptionError(
            "E002",
            f"character U+{int(fault.character):04X} is not allowed in YAML",
            at=place_in(path, text, fault.position),
            remedy=Remedy(
                "delete it; outside of quotes only printable text is needed",
                ((Patch(fault.position, text[fault.position]),),),
            ),
        ) from fault
    if faults is None:
        reader.faults.raise_any()
    if reader.root is None:
        raise DescriptionError(
            "E003",
            "the file holds no data",
            at=SourceLoc(path, 1, 1),
            remedy="start from the output of 'atoll new NAME'",
        )
    return reader.root


def _loader_for(text: str) -> type:
    """Return the fast parser where both find the same, else the one whose faults we explain."""
    if _ODD.search(text):
        return yaml.SafeLoader
    try:
        for event in islice(yaml.parse(text, Loader=FAST_LOADER), 4 * MAX_NODES):
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and not event.value:
                return yaml.SafeLoader
    except (yaml.YAMLError, UnicodeError):
        return yaml.SafeLoader
    return FAST_LOADER


def scalar(text: str) -> str | int | float | bool | None:
    """Give an unquoted scalar its type."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > MAX_NUMBER_LENGTH:
        return text
    if _HEXADECIMAL.fullmatch(text):
        return int(text, 16)
    if _DECIMAL.fullmatch(text):
        return int(text)
    return float(text) if _REAL.fullmatch(text) else text


@dataclass(slots=True)
class _Open:
    """A collection whose end is not read yet."""

    at: SourceLoc
    entries: dict[str, Entry] | None
    items: list[Node] = field(default_factory=list)
    key: str | None = None
    key_at: SourceLoc | None = None


@dataclass(slots=True)
class _Reader:
    """Builds the tree from parser events without recursion, so depth is only a number."""

    path: Path
    text: str
    faults: Faults = field(default_factory=Faults)
    stack: list[_Open] = field(default_factory=list)
    root: Node | None = None
    nodes: int = 0

    def accept(self, event: yaml.Event) -> None:
        """Take the next event of the parser."""
        match event:
            case yaml.DocumentStartEvent() if self.root is not None:
                self._refuse(
                    event, "a second document starts here", "delete the '---' line", _DIVIDER
                )
            case yaml.AliasEvent():
                self._refuse(event, f"'*{event.anchor}' is an alias", "write the value out")
            case yaml.ScalarEvent():
                self._count(event)
                if half := _HALF.search(event.value):
                    self._half(event, half[0])
                value = scalar(event.value) if event.implicit[0] else event.value
                self._value(value, event.value, event)
            case yaml.CollectionStartEvent():
                self._count(event)
                self._open(event)
            case yaml.CollectionEndEvent():
                done = self.stack.pop()
                table = Table(done.entries, done.at) if done.entries is not None else None
                self._add(table or Listing(tuple(done.items), done.at))

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        if self.stack and self.stack[-1].entries is not None and self.stack[-1].key is None:
            self._refuse(event, "a key is a mapping or a list", "use a plain word as key")
        if len(self.stack) == MAX_DEPTH:
            self._too_big(event, f"more than {MAX_DEPTH} levels deep")
        is_table = isinstance(event, yaml.MappingStartEvent)
        self.stack.append(_Open(self._at(event), {} if is_table else None))

    def _value(
        self, value: str | int | float | bool | None, text: str, event: yaml.ScalarEvent
    ) -> None:
        at, begin = self._at(event), _index(event)
        parent = self.stack[-1] if self.stack else None
        if parent is None or parent.entries is None or parent.key is not None:
            self._add(Scalar(value, at, deletes=value is None and text != ""))
            return
        parent.key, parent.key_at = text, at
        if first := parent.entries.get(parent.key):
            self.faults.add(
                "E004",
                f"key '{text}' is given twice in one mapping",
                at=at,
                other=note(first.key_at, "the first one is here"),
                remedy=Remedy(
                    "remove the second one, or rename it", ((Edit(self._key(), begin=begin),),)
                ),
            )

    def _key(self) -> Key:
        """Return where the next value comes."""
        names = ((each.key, len(each.items)) for each in self.stack)
        return tuple(str(number) if key is None else key for key, number in names)

    def _add(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        if parent.entries is None:
            parent.items.append(node)
            return
        assert parent.key is not None
        parent.entries.setdefault(parent.key, Entry(parent.key_at, node))
        parent.key = None

    def _count(self, event: yaml.NodeEvent) -> None:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            self._too_big(event, f"more than {MAX_NODES} keys and values")
        tag: str | None = getattr(event, "tag", None)
        if event.anchor:
            self._refuse(event, f"'&{event.anchor}' is an anchor", "delete it", _PROPERTY)
        if tag:
            self._refuse(event, f"'{tag}' is a tag", "delete it", _PROPERTY)

    def _refuse(self, event: yaml.Event, what: str, words: str, old: str = "") -> None:
        """Refuse what is no plain data; it can go if it looks as `old`, a pattern, says."""
        message = f"{what}; a description is one document of plain data"
        begin = _index(event)
        found = re.compile(old).match(self.text, begin) if old else None
        remedy = Remedy(words, ((Patch(begin, found[0]),),) if found else ())
        raise DescriptionError("E005", message, at=self._at(event), remedy=remedy)

    def _half(self, event: yaml.Event, half: str) -> None:
        written = _WRITTEN_HALF.search(self.text, _index(event))
        raise DescriptionError(
            "E002",
            f"U+{ord(half):04X} is half of a character",
            at=self._at(event),
            remedy=Remedy(
                "write the whole character, or leave it out",
                ((Patch(written.start(), written[0]),),) if written else (),
            ),
        )

    def _too_big(self, event: yaml.Event, what: str) -> None:
        raise DescriptionError(
            "E006",
            f"the description is {what}",
            at=self._at(event),
            remedy="split it with 'extends', or describe a smaller chip",
        )

    def _at(self, event: yaml.Event) -> SourceLoc:
        at = _of_mark(self.path, event.start_mark)
        assert at is not None, event
        return at


def _syntax_error(path: Path, written: str, fault: yaml.MarkedYAMLError) -> DescriptionError:
    at = _of_mark(path, fault.problem_mark)
    opened = _of_mark(path, fault.context_mark)
    text = f"{fault.problem} {fault.context}"
    remedy = next((advice for sign, advice in _REMEDIES.items() if sign in text), _COMPARE)
    spaces = _spaces_for_tabs(written) if remedy == _NO_TABS else ()
    return DescriptionError(
        "E003",
        f"not valid YAML: {fault.problem}",
        at=at,
        other=note(opened, str(fault.context)) if opened != at else None,
        remedy=Remedy(remedy, spaces),
    )


def _spaces_for_tabs(text: str) -> tuple[Fix, ...]:
    """Return the patches that indent by spaces, as many for a tab as make the text YAML."""
    tabs = [*_TABS.finditer(text)][::-1]
    for width in (4, 2, 8):
        expanded = partial(_expand_tabs, width)
        if _is_yaml(_TABS.sub(expanded, text)):
            return (tuple(Patch(each.start(), each[0], expanded(each)) for each in tabs),)
    return ()


def _expand_tabs(width: int, tabs: re.Match[str]) -> str:
    return tabs[0].expandtabs(width)


def _is_yaml(text: str) -> bool:
    try:
        return bool([*yaml.parse(text, Loader=FAST_LOADER)])
    except yaml.YAMLError:
        return False


def _index(event: yaml.Event) -> int:
    assert event.start_mark, event
    return event.start_mark.index


def _of_mark(path: Path, mark: Any) -> SourceLoc | None:
    return SourceLoc(path, mark.line + 1, mark.column + 1) if mark else None
