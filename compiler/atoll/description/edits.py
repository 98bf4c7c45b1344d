# SPDX-License-Identifier: Apache-2.0
"""Edits of a description that a remedy proposes: on its tree, and as a sentence to follow."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from atoll.description.tree import Entry, Key, Listing, Node, Scalar, Table
from atoll.description.yaml_text import parse_yaml
from atoll.diagnostics.edit import Candidate, Edit
from atoll.diagnostics.errors import SourceLoc

__all__ = [
    "Candidate",
    "Edit",
    "apply_edits",
    "hexadecimal",
    "key_at",
    "sentence",
    "set_key",
    "to_yaml_line",
]

_PLAIN = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_./ ()+*%-]*")


def set_key(key: Key, value: object) -> Edit:
    """Return the edit that gives `key` a value of plain data."""
    return Edit(key, to_yaml_line(value))


def to_yaml_line(value: object) -> str:
    """Write plain data as YAML on one line."""
    match value:
        case dict():
            return (
                "{" + ", ".join(f"{key}: {to_yaml_line(item)}" for key, item in value.items()) + "}"
            )
        case list() | tuple():
            return "[" + ", ".join(map(to_yaml_line, value)) + "]"
        case bool():
            return str(value).lower()
        case str() if not _PLAIN.fullmatch(value):
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return str(value)


def hexadecimal(address: int) -> str:
    """Write an address as people do: ``0x4000_0000``."""
    return f"0x{address:09_X}"


def apply_edits(root: Node, edits: Sequence[Edit]) -> Node:
    """Return the tree of a description after `edits`."""
    for edit in edits:
        if edit.everywhere:
            root = _rename(root, edit.key[-1], edit.name)
        else:
            root = _change(root, edit.key, edit)
    return root


def sentence(edits: Sequence[Edit], at: Key, root: Node) -> str:
    """Say `edits` of the description `root` so that they can be followed to the letter.

    Args:
        edits: at least one.
        at: the key at whose place the message points.
        root: the description before the edits.
    """
    if len(edits) == 1:
        return _single(edits[0], at, root)
    if any(edit.text is None for edit in edits):
        return ", then ".join(_single(edit, (), root) for edit in edits)
    *first, last = [f"'{'.'.join(edit.key)}' to {edit.text}" for edit in edits]
    return f"set {', '.join(first)} and {last}"


def key_at(root: Node, at: SourceLoc | None) -> Key | None:
    """Return the innermost key whose name or value was written at a place."""
    found = [key for key, places in _places(root, ()) if at and at in places]
    return max(found, key=len, default=None)


def _single(edit: Edit, at: Key, root: Node) -> str:
    path = ".".join(edit.key)
    if edit.name:
        return f"rename '{path}' to '{edit.name}'" + " wherever it is used" * edit.everywhere
    if edit.text is None:
        return f"remove '{path}'"
    pair = f"'{edit.key[-1]}: {edit.text}'"
    if edit.key == at and _exists(root, edit.key) and not edit.key[-1].isdigit():
        return f"write {pair}"
    if edit.key[:-1] == at and not _exists(root, edit.key):
        return f"add {pair}"
    return f"set '{path}' to {edit.text}"


def _exists(root: Node, key: Key) -> bool:
    for name in key:
        below = dict(_children(root))
        if name not in below:
            return False
        root = below[name]
    return True


def _children(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, Table):
        yield from ((name, entry.value) for name, entry in node.entries.items())
    elif isinstance(node, Listing):
        yield from ((str(number), item) for number, item in enumerate(node.items))


def _places(node: Node, key: Key) -> Iterator[tuple[Key, tuple[SourceLoc | None, ...]]]:
    if isinstance(node, Table):
        for name, entry in node.entries.items():
            yield (*key, name), (entry.key_at, entry.value.at)
    elif isinstance(node, Listing):
        for number, item in enumerate(node.items):
            yield (*key, str(number)), (item.at,)
    for name, child in _children(node):
        yield from _places(child, (*key, name))


def _change(node: Node, key: Key, edit: Edit) -> Node:
    if isinstance(node, Listing):
        items = list(node.items)
        number = int(key[0])
        below = _change(items[number], key[1:], edit) if key[1:] else _value(edit)
        items[number : number + 1] = [below] if below else []
        return Listing(tuple(items), node.at)
    entries = dict(node.entries) if isinstance(node, Table) else {}
    name = key[0]
    old = entries.get(name, Entry(None, Table({}, None)))
    if key[1:]:
        entries[name] = Entry(old.key_at, _change(old.value, key[1:], edit))
    elif edit.name:
        entries = {edit.name if each == name else each: e for each, e in entries.items()}
    elif value := _value(edit):
        entries[name] = Entry(old.key_at, value)
    else:
        entries.pop(name, None)
    return Table(entries, node.at)


def _value(edit: Edit) -> Node | None:
    return None if edit.text is None else _without_places(parse_yaml(edit.text, Path("remedy")))


def _without_places(node: Node) -> Node:
    """Return `node` as if nobody had written it down."""
    match node:
        case Scalar():
            return Scalar(node.value, None)
        case Listing():
            return Listing(tuple(map(_without_places, node.items)), None)
        case Table():
            entries = {
                name: Entry(None, _without_places(e.value)) for name, e in node.entries.items()
            }
            return Table(entries, None)


def _rename(node: Node, old: str, new: str) -> Node:
    match node:
        case Scalar():
            return Scalar(new, node.at) if node.value == old else node
        case Listing():
            return Listing(tuple(_rename(item, old, new) for item in node.items), node.at)
        case Table():
            entries = {
                new if name == old else name: Entry(e.key_at, _rename(e.value, old, new))
                for name, e in node.entries.items()
            }
            return Table(entries, node.at)
