# SPDX-License-Identifier: Apache-2.0
"""Layers of a description: files that extend others, and what the command line sets.

In a layer, ``null`` deletes what the one below says.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from atoll.description.faults import Faults, in_order, nearest, note
from atoll.description.groups import expand_groups, groups_of
from atoll.description.identifiers import holds_names, map_identifiers, with_identifiers
from atoll.description.remedies import like, remove, rename_fix
from atoll.description.shape import Shape, is_open, keys_of, shape_at
from atoll.description.share import find_soc
from atoll.description.tree import Entry, Key, Listing, Node, Scalar, Table, merge, plain
from atoll.description.yaml_text import parse_yaml, read_text, read_yaml, scalar
from atoll.diagnostics.errors import DescriptionError, Fault, SourceLoc, UsageError
from atoll.utils.remember import remember

MAX_LAYERS = 8

TEXTS_AT_HAND = 128
"""Texts that a process reads once."""

_MAY_GROW = (("params",), ("threads",), ("reach",), ("views",), ("masters",))
"""Mappings that an override may add a name to; a later stage knows which names make sense."""

_DOT = r"""\.(?=(?:[^"']|"[^"]*"|'[^']*')*$)"""
"""A dot that no quotes hold."""

_FLOW = tuple("[{'\"")
"""What the text of a set begins with that is more than a plain word or number."""


def read_layers(path: Path, faults: Faults | None = None, text: str | None = None) -> Node:
    """Read the file at `path`, or `text` in its place, on top of the files that it extends.

    What does not keep the files from being read is noted in `faults`, if there is such.

    Raises:
        DescriptionError: a file cannot be read, or the chain is a circle or too long.
    """
    noted = Faults() if faults is None else faults
    chain: list[Path] = []
    layers: list[Node] = []
    asked: tuple[Path, SourceLoc | None] | None = (path, None)
    while asked:
        current, at = asked
        given = text if text is not None and not layers else read_text(current, at)
        layer, found = _layer(given, current, noted)
        noted.found |= dict.fromkeys(found)
        layers.append(layer)
        _check_chain(chain, current, at)
        chain.append(current)
        asked = _base(current, layers[-1])
    merged = layers.pop()
    while layers:
        merged = put_on_top(merged, layers.pop(), noted)
    if faults is None:
        noted.raise_any()
    return merged


def _text_key(text: str, path: Path, _noted: Faults) -> tuple[str, Path]:
    return text, path


@remember(_text_key, most=TEXTS_AT_HAND)
def _layer(text: str, path: Path, noted: Faults) -> tuple[Node, tuple[Fault, ...]]:
    """Return what a text says under today's names, and what is wrong with it, which is noted."""
    faults = Faults()
    try:
        layer = parse_yaml(text, path, faults)
        return map_identifiers(_rename_old_keys(layer), faults), tuple(faults.found)
    finally:
        noted.found |= faults.found


def layer_files(source: Path | str, noted: Faults) -> Iterator[tuple[Path, Node]]:
    """Yield the files of a chip with what they say as it is written, the chip's own first.

    Raises:
        DescriptionError: a file cannot be read.
    """
    asked: tuple[Path, SourceLoc | None] | None = (find_soc(source), None)
    for _ in range(MAX_LAYERS):
        if asked:
            layer = read_yaml(*asked, noted)
            yield asked[0], layer
            asked = _base(asked[0], layer)


def apply_overrides(root: Node, overrides: Sequence[str], schema: Callable[[], Shape]) -> Node:
    """Return `root` with each ``key.path=value`` of `overrides` on top; the last one wins.

    `schema` is asked where one of them names a key that `root` does not have.

    Raises:
        UsageError: an override has no value, or names a key that the chip cannot have.
    """
    faults = Faults()
    for override in overrides:
        key, equals, text = override.partition("=")
        path = with_identifiers(_current(key_words(key.strip())), root)
        value = _value(override, text.strip(), faults) if equals else None
        if not text.strip():
            faults.add(
                "E097",
                f"'--set {override}' sets no value",
                remedy="write --set devices.cpu.stack.size=4KiB, for example; null deletes a key",
            )
        elif value and _check_path(_with(path, root), path, value, schema, faults):
            over = map_identifiers(_rename_old_keys(_nest(path, value)), faults)
            root = put_on_top(root, over, Faults())
    if faults.found:
        raise UsageError.all(in_order(faults.found))
    return root


def _with(path: Key, root: Node) -> Node:
    """Return what a path begins in: the description, or with cores in place of its groups."""
    return root if path[1:2] and path[1] in groups_of(root) else expand_groups(root)


def key_words(key: str) -> Key:
    """Split a key at the dots that are outside of quotes."""
    return tuple(word.strip("\"'") for word in re.split(_DOT, key))


def _current(key: tuple[str, ...]) -> tuple[str, ...]:
    """Return a key under its name of today: `core` of a device was called `rtl`."""
    if key[:1] == ("devices",) and key[2:] == ("rtl",):
        return (*key[:2], "core")
    return key


def _rename_old_keys(node: Node, key: tuple[str, ...] = ()) -> Node:
    """Return a layer with all keys under their names of today, unless it has both."""
    if not isinstance(node, Table) or len(key) > 2 or key[:1] not in ((), ("devices",)):
        return node
    entries: dict[str, Entry] = {}
    for name, entry in node.entries.items():
        *_, today = _current((*key, name))
        entries[name if today in node.entries else today] = Entry(
            entry.key_at, _rename_old_keys(entry.value, (*key, name))
        )
    return Table(entries, node.at)


def _base(path: Path, root: Node) -> tuple[Path, SourceLoc | None] | None:
    entry = root.entries.get("extends") if isinstance(root, Table) else None
    if entry is None or not isinstance(entry.value, Scalar):
        return None
    base, at = entry.value.value, entry.value.at
    if not isinstance(base, str):
        return None
    return Path(os.path.normpath(find_soc(base, path.parent, at))), at


def _value(override: str, text: str, faults: Faults) -> Node | None:
    """Return what an override sets, None if its text is no YAML."""
    if not text.startswith(_FLOW):
        value = scalar(text)
        return Scalar(value, None, deletes=value is None)
    try:
        return _without_places(parse_yaml(text, Path("--set")))
    except DescriptionError as error:
        faults.add(
            "E097",
            f"'--set {override}': {error.faults[0].message}",
            remedy="write --set 'devices.npu.runs=[CONV_2D]', for example",
        )
        return None


def _without_places(node: Node) -> Node:
    """Return `node` as one that no file holds."""
    match node:
        case Scalar():
            return Scalar(node.value, None, node.deletes)
        case Listing():
            return Listing(tuple(map(_without_places, node.items)), None)
        case Table():
            entries = {
                key: Entry(None, _without_places(e.value)) for key, e in node.entries.items()
            }
            return Table(entries, None)


def _check_chain(chain: list[Path], path: Path, at: SourceLoc | None) -> None:
    names = " -> ".join(link.name for link in (*chain, path))
    if path.resolve() in [link.resolve() for link in chain]:
        raise DescriptionError(
            "E007",
            f"descriptions extend each other in a circle: {names}",
            at=at,
            other=note(SourceLoc(path, 1, 1), "the circle closes here"),
            remedy=remove("extends") + " here" | "another one of the circle",
        )
    if len(chain) == MAX_LAYERS:
        raise DescriptionError(
            "E007",
            f"more than {MAX_LAYERS} descriptions extend each other: {names}",
            at=at,
            remedy="merge some of them into one file",
        )


def _check_path(
    root: Node,
    path: tuple[str, ...],
    value: Node,
    schema: Callable[[], Shape],
    faults: Faults,
) -> bool:
    node: Node | None = root
    first = len(path)
    for depth, name in enumerate(path):
        existing = node.entries if isinstance(node, Table) else {}
        node = existing[name].value if name in existing else None
        if node is not None:
            continue
        shape = shape_at(schema(), path[:depth], plain(root))
        known = {*keys_of(shape), *existing} if shape else set(existing)
        is_whole = isinstance(value, Table) and depth == len(path) - 1
        is_new = is_open(shape) and (is_whole or path[depth - 1 : depth] in _MAY_GROW)
        if holds_names(path[:depth]) and (is_new or isinstance(value, Table)):
            first = depth  # of what may be a new name with dots
        if name not in known and not is_new:
            faults.add(
                "E098",
                f"'--set {'.'.join(path)}': there is no '{'.'.join(path[: depth + 1])}'",
                remedy=nearest(name, known, "set it in the file" + _in_quotes(path, first)),
            )
            return False
    return True


def _in_quotes(path: Key, first: int) -> str:
    if first >= len(path) - 1:
        return ""
    name = f'"{path[first]}.{path[first + 1]}"'
    quoted = ".".join((*path[:first], name, *path[first + 2 :]))
    return f"; a name with dots goes in quotes: --set '{quoted}=...'"


def _nest(path: tuple[str, ...], leaf: Node) -> Node:
    node = leaf
    for name in reversed(path):
        node = Table({name: Entry(None, node)}, None)
    return node


_DEVICES, _POOLS, _REACH = "devices", "pools", "reach"


def put_on_top(base: Node, over: Node, faults: Faults) -> Node:
    """Return `base` with `over` on top; note each key that is deleted and not there.

    With a device go its entries in the `reach` of the pools of `base`.
    """
    _check(base, over, (), faults)
    return merge(_without_reach(base, _deleted_devices(over)), over)


def _check(base: Node, over: Node, key: Key, faults: Faults) -> None:
    if not (isinstance(base, Table) and isinstance(over, Table)):
        return
    for name, entry in over.entries.items():
        if name in base.entries:
            _check(base.entries[name].value, entry.value, (*key, name), faults)
        elif _deletes(entry):
            at = (*key, name)
            faults.add(
                "E130",
                f"null deletes '{'.'.join(at)}', which does not exist",
                at=entry.key_at,
                remedy=like(name, base.entries, partial(rename_fix, at), at),
            )


def _deletes(entry: Entry) -> bool:
    return isinstance(entry.value, Scalar) and entry.value.deletes


def _deleted_devices(over: Node) -> frozenset[str]:
    devices = _below(over, _DEVICES)
    return frozenset(name for name, entry in devices.items() if _deletes(entry))


def _without_reach(base: Node, devices: frozenset[str]) -> Node:
    """Return `base` without what its pools say of `devices`."""
    if not devices or not isinstance(base, Table) or not _below(base, _POOLS):
        return base
    pools = base.entries[_POOLS]
    kept = {
        name: Entry(entry.key_at, _without(entry.value, devices))
        for name, entry in _below(base, _POOLS).items()
    }
    table = Table(kept, pools.value.at)
    return Table({**base.entries, _POOLS: Entry(pools.key_at, table)}, base.at)


def _without(pool: Node, devices: frozenset[str]) -> Node:
    if not isinstance(pool, Table) or not _below(pool, _REACH):
        return pool
    reach = pool.entries[_REACH]
    kept = {name: entry for name, entry in _below(pool, _REACH).items() if name not in devices}
    return Table(
        {**pool.entries, _REACH: Entry(reach.key_at, Table(kept, reach.value.at))}, pool.at
    )


def _below(node: Node, name: str) -> dict[str, Entry]:
    """Return the entries of the mapping called `name` in `node`, none if there is no such one."""
    entry = node.entries.get(name) if isinstance(node, Table) else None
    return entry.value.entries if entry and isinstance(entry.value, Table) else {}
