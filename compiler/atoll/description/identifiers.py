# SPDX-License-Identifier: Apache-2.0
"""Names of a chip as identifiers: ``always-on.cpu`` and ``always_on_cpu`` name one thing.

Each layer is mapped once, before anything reads it. C, Python, Rust, RTL, linker scripts,
devicetrees, SVD and file names then have one spelling, which all of them allow. A device keeps what
was written as its `label`.
"""

import re
from collections.abc import Collection, Iterator
from itertools import count

from atoll.description.faults import Faults, note
from atoll.description.remedies import rename_fix
from atoll.description.tree import Entry, Key, Listing, Node, Scalar, Table
from atoll.diagnostics.edit import Remedy

LABEL = "label"

_WRITTEN = re.compile(r"[a-z][a-z0-9_.-]{0,31}")
_TABLES = ("devices", "memories", "pools")
_KEYED = frozenset({"reach", "views", "threads", "targets", "masters"})
"""Mappings inside these whose keys are names of the chip."""

_NAMING = frozenset({"soc", "memory", "alias_of", "host", "default_device", "mailbox"})
_RUNS = ("stack", "runs")


def identifier(name: str) -> str:
    """Return the one spelling of a name of the chip; other texts stay as they are."""
    return re.sub(r"[-.]", "_", name) if _WRITTEN.fullmatch(name) else name


def map_identifiers(root: Node, faults: Faults) -> Node:
    """Return a layer in which each name of the chip is an identifier.

    E214 is noted of each two names in one place that become one identifier.
    """
    return _map_names(root, (), faults)


def with_identifiers(path: Key, root: Node) -> Key:
    """Return the key of a set with each name of the chip as an identifier.

    A word with dots was in quotes and is a name. Several words are one name if nothing can be below
    it, or if `root` has it and has none of fewer words.
    """
    found: Key = ()
    while path:
        words = 1
        if holds_names(found) and _is_flat(found):
            words = len(path)
        elif holds_names(found) and "." not in path[0]:
            known = _names_at(root, found)
            counts = range(1, len(path) + 1)
            words = next((n for n in counts if identifier(".".join(path[:n])) in known), 1)
        name = ".".join(path[:words])
        found = (*found, identifier(name) if holds_names(found) else name)
        path = path[words:]
    return found


def _names_at(root: Node, key: Key) -> Collection[str]:
    for name in key:
        if not isinstance(root, Table) or name not in root.entries:
            return ()
        root = root.entries[name].value
    return root.entries if isinstance(root, Table) else ()


def written_names(node: Node, key: Key = ()) -> Iterator[str]:
    """Yield each name of a layer that is described there, as it is written."""
    if not isinstance(node, Table):
        return
    for name, entry in node.entries.items():
        if holds_names(key):
            yield name
        elif (*key, name) == ("soc",) and isinstance(entry.value, Scalar):
            yield str(entry.value.value)
        yield from written_names(entry.value, (*key, name))


def holds_names(key: Key) -> bool:
    """Return whether the keys of a mapping are names of the chip."""
    if len(key) == 1:
        return key[0] in _TABLES
    return len(key) > 2 and key[0] in _TABLES and key[-1] in _KEYED


def _is_flat(key: Key) -> bool:
    """Return whether each name in a mapping has a plain value."""
    return key[-1] in ("reach", "views") or key[-2:] == ("stack", "threads")


def _map_names(node: Node, key: Key, faults: Faults) -> Node:
    match node:
        case Table() if holds_names(key):
            return _names(node, key, faults)
        case Table():
            entries = {
                name: Entry(entry.key_at, _map_names(entry.value, (*key, name), faults))
                for name, entry in node.entries.items()
            }
            return Table(entries, node.at)
        case Listing() if len(key) > 2 and "moves" in key[2:]:
            items = tuple(_map_names(item, (*key, ""), faults) for item in node.items)
            return Listing(items, node.at)
        case Scalar(str(text)) if _names_something(key):
            return Scalar(identifier(text), node.at, node.deletes)
        case _:
            return node


def _names_something(key: Key) -> bool:
    if len(key) == 1:
        return key[0] in _NAMING
    inside = len(key) > 2 and key[0] in _TABLES
    return inside and (key[-1] in _NAMING or key[-2:] == _RUNS or key[2] == "moves")


def _names(table: Table, key: Key, faults: Faults) -> Table:
    """Return a table whose keys are names, each as an identifier; a device keeps its label."""
    entries: dict[str, Entry] = {}
    written: dict[str, str] = {}
    for name, entry in table.entries.items():
        mapped = identifier(name)
        if (first := written.setdefault(mapped, name)) != name:
            fresh = _fresh(mapped, table)
            faults.add(
                "E214",
                f"'{first}' and '{name}' in '{'.'.join(key)}' are both called '{mapped}' in C,"
                " Python, RTL and files",
                at=entry.key_at,
                other=note(entries[mapped].key_at, f"'{first}' is described here"),
                remedy=Remedy(f"write '{fresh}'", (rename_fix((*key, name), fresh),))
                | "rename the other one; '-', '.' and '_' alone do not tell names apart",
            )
            continue
        value = _map_names(entry.value, (*key, mapped), faults)
        if key == ("devices",) and mapped != name:
            value = _label(value, name, entry)
        entries[mapped] = Entry(entry.key_at, value)
    return Table(entries, table.at)


def _fresh(name: str, table: Table) -> str:
    taken = set(map(identifier, table.entries))
    return next(word for n in count(2) if (word := f"{name[:28]}_{n}") not in taken)


def _label(device: Node, name: str, entry: Entry) -> Node:
    if not isinstance(device, Table) or LABEL in device.entries:
        return device
    label = Entry(entry.key_at, Scalar(name, entry.key_at))
    return Table({**device.entries, LABEL: label}, device.at)
