"""Layers of a description: files that extend others, and what the command line sets."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atoll.description.faults import Faults, in_order, nearest, note
from atoll.description.shape import Shape, is_open, keys_of, shape_at
from atoll.description.tree import Entry, Node, Scalar, Table, merge, plain
from atoll.description.yaml_text import read_yaml, scalar
from atoll.errors import DescriptionError, SourceLoc, UsageError

MAX_LAYERS = 8

_MAY_GROW = (("params",), ("threads",))
"""Mappings that an override may add a name to; a later stage knows which names make sense."""


def read_layers(path: Path) -> Node:
    """Read the file at `path` on top of the files that it extends.

    Raises:
        DescriptionError: a file cannot be read, or the chain is a circle or too long.
    """
    chain: list[Path] = []
    layers: list[Node] = []
    asked: tuple[Path, SourceLoc | None] | None = (path, None)
    while asked:
        current, at = asked
        layers.append(read_yaml(current, at))
        _check_chain(chain, current, at)
        chain.append(current)
        asked = _base(current, layers[-1])
    merged = layers.pop()
    while layers:
        merged = merge(merged, layers.pop())
    return merged


def apply_overrides(root: Node, overrides: Sequence[str], schema: Shape) -> Node:
    """Return `root` with each ``key.path=value`` of `overrides` on top; the last one wins.

    Raises:
        UsageError: an override has no value, or names a key that the chip cannot have.
    """
    faults = Faults()
    for override in overrides:
        key, equals, text = override.partition("=")
        path = tuple(key.strip().split("."))
        if not equals:
            faults.add(
                "E097",
                f"'--set {override}' sets no value",
                remedy="write --set devices.cpu.stack.size=4KiB, for example",
            )
        elif _check_path(root, path, schema, faults):
            root = merge(root, _nested(path, Scalar(scalar(text.strip()), None)))
    if faults.found:
        raise UsageError.all(in_order(faults.found))
    return root


def _base(path: Path, root: Node) -> tuple[Path, SourceLoc | None] | None:
    entry = root.entries.get("extends") if isinstance(root, Table) else None
    if entry is None or not isinstance(entry.value, Scalar):
        return None
    if not isinstance(entry.value.value, str):
        return None
    return Path(os.path.normpath(path.parent / entry.value.value)), entry.value.at


def _check_chain(chain: list[Path], path: Path, at: SourceLoc | None) -> None:
    names = " -> ".join(link.name for link in (*chain, path))
    if path.resolve() in [link.resolve() for link in chain]:
        raise DescriptionError(
            "E007",
            f"descriptions extend each other in a circle: {names}",
            at=at,
            other=note(SourceLoc(path, 1, 1), "the circle closes here"),
            remedy="remove 'extends' here, or another one of the circle",
        )
    if len(chain) == MAX_LAYERS:
        raise DescriptionError(
            "E007",
            f"more than {MAX_LAYERS} descriptions extend each other: {names}",
            at=at,
            remedy="merge some of them into one file",
        )


def _check_path(root: Node, path: tuple[str, ...], schema: Shape, faults: Faults) -> bool:
    data: Any = plain(root)
    for depth, name in enumerate(path):
        shape = shape_at(schema, path[:depth], plain(root))
        existing = data if isinstance(data, dict) else {}
        known = {*keys_of(shape), *existing} if shape else set(existing)
        is_new = is_open(shape) and path[depth - 1 : depth] in _MAY_GROW
        if name not in known and not is_new:
            faults.add(
                "E098",
                f"'--set {'.'.join(path)}': there is no '{'.'.join(path[: depth + 1])}'",
                remedy=nearest(name, known, "set it in the file"),
            )
            return False
        data = existing.get(name)
    return True


def _nested(path: tuple[str, ...], leaf: Node) -> Node:
    node = leaf
    for name in reversed(path):
        node = Table({name: Entry(None, node)}, None)
    return node
