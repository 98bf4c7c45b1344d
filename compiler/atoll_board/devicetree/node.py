# SPDX-License-Identifier: Apache-2.0
"""Nodes of a devicetree and their text.

Source: Devicetree Specification v0.4, chapters 2 (structure) and 6 (DTS format).
"""

from collections.abc import Iterator, Mapping
from dataclasses import field

from atoll.records import dataclass

_FIRST_HEXADECIMAL = 10
_CELL = 1 << 32


@dataclass(frozen=True, slots=True)
class Reference:
    """A cell with the phandle of the node that has a label."""

    label: str


Cell = int | Reference
Value = bool | str | tuple[str, ...] | tuple[Cell, ...] | tuple[tuple[Cell, ...], ...]
"""A flag (True), a string, strings, cells, or groups of cells. A cell has 32 bits."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node.

    Attributes:
        name: with the unit address.
        label: that references use; "" if nothing refers to it.
        properties: by name, in the order of the text.
    """

    name: str
    label: str = ""
    properties: Mapping[str, Value] = field(default_factory=dict)
    children: tuple["Node", ...] = ()

    def walk(self) -> Iterator["Node"]:
        """Yield the node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()

    def lines(self, depth: int = 0) -> Iterator[str]:
        """Yield the node's text."""
        indent = "\t" * depth
        label = f"{self.label}: " if self.label else ""
        yield f"{indent}{label}{self.name} {{"
        for name, value in self.properties.items():
            text = "" if value is True else f" = {_value(value)}"
            yield f"{indent}\t{name}{text};"
        for child in self.children:
            yield ""
            yield from child.lines(depth + 1)
        yield f"{indent}}};"


NOT_HERE = "Not in this file: what DMA engines move."


def source(root: Node, *comments: str) -> str:
    """Return the text of a devicetree's source below comments of one line."""
    said = [f"// {_plain(comment)}" for comment in comments]
    return "\n".join([*said, "/dts-v1/;", "", *root.lines(), ""])


def compatible(node: Node) -> tuple[str, ...]:
    """Return what a node is compatible with, the most specific first."""
    match node.properties.get("compatible", ()):
        case str(name):
            return (name,)
        case tuple(names):
            return tuple(map(str, names))
        case other:
            raise AssertionError(other)


def compatibles(root: Node) -> frozenset[str]:
    """Return what each node of a tree is compatible with, the most specific name alone."""
    return frozenset(names[0] for node in root.walk() if (names := compatible(node)))


def cells(number: int, count: int) -> tuple[int, ...]:
    """Return a number as `count` cells, the most significant first."""
    return tuple(number // _CELL**place % _CELL for place in reversed(range(count)))


def quantity(number: int) -> tuple[int, ...]:
    """Return a number as one cell, or as two if it has more than 32 bits."""
    return cells(number, 1 if number < _CELL else 2)


def to_dashes(name: str) -> str:
    """Write a name as devicetrees do."""
    return name.replace("_", "-").lower()


def _value(value: Value) -> str:
    if isinstance(value, str):
        return _string(value)
    assert isinstance(value, tuple), value
    return ", ".join(map(_item, value)) if _has_items(value) else _group(value)


def _has_items(value: tuple[object, ...]) -> bool:
    return bool(value) and isinstance(value[0], str | tuple)


def _item(item: object) -> str:
    return _string(item) if isinstance(item, str) else _group(item)


def _group(group: object) -> str:
    assert isinstance(group, tuple), group
    return f"<{' '.join(map(_cell, group))}>"


def _cell(cell: object) -> str:
    if isinstance(cell, Reference):
        return f"&{cell.label}"
    assert isinstance(cell, int), cell
    number = cell % _CELL
    return f"{number:#x}" if number >= _FIRST_HEXADECIMAL else str(number)


def _plain(comment: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in comment)


def _string(text: str) -> str:
    escaped = (
        character
        if character.isascii() and character.isprintable() and character not in '"\\'
        else "".join(f"\\x{byte:02x}" for byte in character.encode())
        for character in text
    )
    return f'"{"".join(escaped)}"'
