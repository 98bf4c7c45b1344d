# SPDX-License-Identifier: Apache-2.0
"""A YAML document as plain data in which every key and value knows its place."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from atoll.diagnostics.errors import SourceLoc
from atoll.records import dataclass

Plain = str | int | float | bool | None | list["Plain"] | dict[str, "Plain"]
Key = tuple[str, ...]

COMMAND_LINE = "--set"
"""The layer of values that the command line sets."""

BUILT_IN = "built-in"
"""The layer of values that nothing sets."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A leaf. `at` is None where the command line set it; `deletes` is a written ``null``."""

    value: str | int | float | bool | None
    at: SourceLoc | None
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """A sequence."""

    items: tuple["Node", ...]
    at: SourceLoc | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A value with the place of its key."""

    key_at: SourceLoc | None
    value: "Node"


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with unique text keys."""

    entries: dict[str, Entry]
    at: SourceLoc | None


Node = Scalar | Listing | Table


def plain(node: Node) -> Plain:
    """Return the bare Python data of `node`."""
    match node:
        case Scalar():
            return node.value
        case Listing():
            return [plain(item) for item in node.items]
        case Table():
            return {key: plain(entry.value) for key, entry in node.entries.items()}


def inside(data: Any, name: str) -> Any:
    """Return the value under a name of a mapping, or the item of a list; None if there is none."""
    if isinstance(data, dict):
        return data.get(name)
    if isinstance(data, list) and name.isdigit() and int(name) < len(data):
        return data[int(name)]
    return None


def merge(base: Node, over: Node) -> Node:
    """Return `base` with what `over` says on top.

    Tables merge key by key, a written ``null`` deletes its key, the rest is replaced.
    """
    if not (isinstance(base, Table) and isinstance(over, Table)):
        return over
    merged = dict(base.entries)
    for key, entry in over.entries.items():
        below = merged.get(key)
        if isinstance(entry.value, Scalar) and entry.value.deletes:
            merged.pop(key, None)
            continue
        value = merge(below.value, entry.value) if below else entry.value
        merged[key] = Entry(entry.key_at or (below.key_at if below else None), value)
    return Table(merged, over.at or base.at)


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Where each key and value of a merged description was written.

    Attributes:
        root: the description.
        entries: all that is in it by the whole key, in the order in which it is written; items of
            lists by their number. The tree is walked for it once.
    """

    root: Node
    entries: Mapping[Key, Entry] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", dict(_flatten(self.root, ())))

    def at(self, *key: str) -> SourceLoc | None:
        """Return the place of the value at `key`, or of the nearest key around it."""
        entry = self._nearest(key)
        if entry is None:
            return self.root.at
        return entry.value.at if self.is_set(*key) else entry.key_at

    def key_at(self, *key: str) -> SourceLoc | None:
        """Return the place of the last key of `key`, or of the nearest key around it."""
        entry = self._nearest(key)
        return self.root.at if entry is None else entry.key_at

    def is_set(self, *key: str) -> bool:
        """Tell whether some layer sets `key`."""
        return not key or key in self.entries

    def layer(self, *key: str) -> str:
        """Name the layer that set `key`: a place, `COMMAND_LINE` or `BUILT_IN`."""
        if not self.is_set(*key):
            return BUILT_IN
        at = self.at(*key)
        return str(at) if at else COMMAND_LINE

    def _nearest(self, key: Key) -> Entry | None:
        """Return the entry at `key`, or at the longest key around it that there is."""
        around = (key[:count] for count in range(len(key), 0, -1))
        return next((self.entries[each] for each in around if each in self.entries), None)


def _flatten(node: Node, key: Key) -> Iterator[tuple[Key, Entry]]:
    match node:
        case Table():
            inner = [*node.entries.items()]
        case Listing():
            inner = [(str(number), Entry(item.at, item)) for number, item in enumerate(node.items)]
        case Scalar():
            return
    for name, entry in inner:
        yield (*key, name), entry
        yield from _flatten(entry.value, (*key, name))
