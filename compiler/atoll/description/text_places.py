# SPDX-License-Identifier: Apache-2.0
"""Where every key and value of a YAML text begins and ends, for editors."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

import yaml

from atoll.description.identifiers import identifier
from atoll.description.tree import Key
from atoll.description.yaml_text import FAST_LOADER
from atoll.records import dataclass

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a mapping, an item of a list, or the whole, by the index of characters.

    Attributes:
        name: begin and end of the key; None of items and of the whole.
        begin: of the value.
        end: behind the value's last character, comments left out.
        text: of a scalar, None of a collection.
        flow: the value is in brackets.
        listing: the value is a list.
    """

    name: tuple[int, int] | None
    begin: int
    end: int
    text: str | None
    flow: bool = False
    listing: bool = False


@dataclass(slots=True)
class _Open:
    key: Key
    name: tuple[int, int] | None
    begin: int
    flow: bool
    listing: bool
    end: int = 0
    count: int = 0
    child: tuple[str, tuple[int, int]] | None = None


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """The places in one text.

    Attributes:
        text: the YAML.
        entries: by key as it is written, outer ones first; of a key that is given twice the first.
        repeated: the others, in the order of the text.
    """

    text: str
    entries: Mapping[Key, Place]
    repeated: tuple[tuple[Key, Place], ...]
    _written: Mapping[Key, Key] = field(repr=False)

    def key_as_written(self, key: Key) -> Key | None:
        """Return a key as the text has it, whose names need not be spelt as identifiers."""
        return key if key in self.entries else self._written.get(canonical_key(key))

    def find(self, key: Key) -> Place | None:
        """Return the place of a key, whose names need not be spelt as in the text."""
        found = self.key_as_written(key)
        return None if found is None else self.entries[found]

    def children(self, key: Key) -> list[tuple[Key, Place]]:
        """Return what lies directly in the collection at `key`, which is as the text has it."""
        depth = len(key) + 1
        found = (
            (each, place)
            for each, place in (*self.entries.items(), *self.repeated)
            if len(each) == depth and each[:-1] == key
        )
        return sorted(found, key=lambda pair: pair[1].begin)

    def at(self, index: int) -> tuple[Key, Place, bool] | None:
        """Return the innermost entry whose key or value is there, and whether it is the key."""
        best: tuple[Key, Place, bool] | None = None
        for key, place in self.entries.items():
            if place.name and place.name[0] <= index <= place.name[1]:
                return key, place, True
            if place.begin <= index <= place.end and (best is None or len(key) >= len(best[0])):
                best = key, place, False
        return best


def canonical_key(key: Key) -> Key:
    """Return a key with identifiers for names, and today's word for a core."""
    names = tuple(map(identifier, key))
    is_core = len(names) == 3 and names[0] == "devices" and names[2] == "rtl"
    return (*names[:2], "core") if is_core else names


def text_places(text: str) -> TextPlaces | None:
    """Return the places in `text`; None if it is no YAML of one document."""
    entries: dict[Key, Place] = {}
    repeated: list[tuple[Key, Place]] = []
    try:
        for key, place in _places(text):
            if entries.setdefault(key, place) is not place:
                repeated.append((key, place))
    except (yaml.YAMLError, _NotPlainError, ValueError):
        return None
    ordered = dict(sorted(entries.items(), key=lambda each: (len(each[0]), each[1].begin)))
    written: dict[Key, Key] = {}
    for key in ordered:
        written.setdefault(canonical_key(key), key)
    return TextPlaces(text, ordered, tuple(repeated), written)


class _NotPlainError(Exception):
    """An alias, or a second document."""


def _places(text: str) -> Iterator[tuple[Key, Place]]:
    stack: list[_Open] = []
    documents = 0
    loader = FAST_LOADER if text[:1] != BYTE_ORDER_MARK else yaml.SafeLoader  # which counts it
    for event in yaml.parse(text, Loader=loader):
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    raise _NotPlainError
            case yaml.AliasEvent():
                raise _NotPlainError
            case yaml.ScalarEvent():
                span = _index(event.start_mark), _index(event.end_mark)
                if event.style in ("|", ">"):
                    span = span[0], span[0] + len(text[slice(*span)].rstrip())
                if _is_key(stack):
                    stack[-1].child = event.value, span
                    stack[-1].end = span[1]
                    continue
                key, name = _next(stack)
                yield key, Place(name, *span, event.value)
                _extend(stack, span[1])
            case yaml.CollectionStartEvent():
                if _is_key(stack):
                    raise _NotPlainError
                key, name = _next(stack)
                listing = isinstance(event, yaml.SequenceStartEvent)
                begin = _index(event.start_mark)
                stack.append(_Open(key, name, begin, bool(event.flow_style), listing, begin))
            case yaml.CollectionEndEvent():
                done = stack.pop()
                end = _index(event.end_mark) if done.flow else done.end
                yield done.key, Place(done.name, done.begin, end, None, done.flow, done.listing)
                _extend(stack, end)


def _index(mark: Any) -> int:
    index: int = mark.index
    return index


def _is_key(stack: list[_Open]) -> bool:
    return bool(stack) and not stack[-1].listing and stack[-1].child is None


def _next(stack: list[_Open]) -> tuple[Key, tuple[int, int] | None]:
    """Return key and key's place of the value that comes next."""
    if not stack:
        return (), None
    around = stack[-1]
    if around.listing:
        around.count += 1
        return (*around.key, str(around.count - 1)), None
    assert around.child is not None
    word, span = around.child
    around.child = None
    return (*around.key, word), span


def _extend(stack: list[_Open], end: int) -> None:
    if stack:
        stack[-1].end = max(stack[-1].end, end)
