# SPDX-License-Identifier: Apache-2.0
"""The nodes of a flattened devicetree.

Source: Devicetree Specification v0.4, chapter 5.
"""

import struct
from collections.abc import Iterator
from dataclasses import field
from functools import cached_property

from atoll.records import dataclass
from atoll_import.reader import Given

MAGIC = b"\xd0\x0d\xfe\xed"
_HEADER = struct.Struct(">10I")
_CELL = struct.Struct(">I")
_BLOCK = struct.Struct(">QQ")
_MOST_RESERVED = 64
_BEGIN, _END, _PROPERTY, _NOTHING, _LAST = 1, 2, 3, 4, 9
_COMPATIBLE_WITH = 16
_MAX_DEPTH = 64
_MAX_NODES = 100_000
_CELL_BYTES = 4
_DEFAULT_ADDRESS_CELLS, _DEFAULT_SIZE_CELLS = 2, 1
_MOST_CELLS = 4


@dataclass(eq=False)
class TreeNode:
    """A node; properties are bytes, whose meaning their reader knows."""

    name: str
    parent: "TreeNode | None"
    properties: dict[str, bytes] = field(default_factory=dict)
    children: "list[TreeNode]" = field(default_factory=list)

    @cached_property
    def path(self) -> str:
        """Where it is, from the root."""
        return f"{self.parent.path if self.parent else ''}/{self.name}".replace("//", "/")

    def walk(self) -> "Iterator[TreeNode]":
        """Yield the node and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.walk()

    def strings(self, name: str) -> tuple[str, ...]:
        """Return a property as texts; none if it is not there."""
        data = self.properties.get(name, b"").decode("utf-8", errors="replace")
        return tuple(data.rstrip("\0").split("\0")) if data else ()

    def string(self, name: str) -> str:
        """Return the first text of a property, "" if there is none."""
        return next(iter(self.strings(name)), "")

    def cells(self, name: str) -> tuple[int, ...]:
        """Return a property as cells; none if it is not a whole number of them."""
        data = self.properties.get(name, b"")
        if len(data) % _CELL_BYTES:
            return ()
        return tuple(cell for (cell,) in _CELL.iter_unpack(data))

    def groups(self, name: str, *widths: int) -> Iterator[tuple[int, ...]]:
        """Yield the numbers of a property in groups, each number of so many cells."""
        found, step = self.cells(name), sum(widths)
        for start in range(0, len(found) - step + 1, step) if step else ():
            numbers, at = [], start
            for width in widths:
                value = 0
                for cell in found[at : at + width]:
                    value = value << 32 | cell
                numbers.append(value)
                at += width
            yield tuple(numbers)

    @property
    def widths(self) -> tuple[int, int]:
        """Cells of an address and of a size of its children."""
        address = next(iter(self.cells("#address-cells")), _DEFAULT_ADDRESS_CELLS)
        size = next(iter(self.cells("#size-cells")), _DEFAULT_SIZE_CELLS)
        return min(address, _MOST_CELLS), min(size, _MOST_CELLS)

    def parts(self) -> Iterator[tuple[int, int, int | None]]:
        """Yield each part of ``reg``: address, size, and the address that the root has for it."""
        if self.parent is None:
            return
        for address, size in self.groups("reg", *self.parent.widths):
            yield address, size, self.parent.translate(address)

    def spans(self) -> Iterator[tuple[int, int]]:
        """Yield each address of ``reg``, as the root has it, with its size; not what it lacks."""
        for _, size, seen in self.parts():
            if seen is not None:
                yield seen, size

    def translate(self, address: int) -> int | None:
        """Return where the root has an address of this node's children, None if nowhere."""
        if self.parent is None:
            return address
        if "ranges" not in self.properties:
            return None
        if not self.properties["ranges"]:
            return self.parent.translate(address)
        own, size = self.widths
        for child, above, length in self.groups("ranges", own, self.parent.widths[0], size):
            if child <= address < child + length:
                return self.parent.translate(address - child + above)
        return None


def read_reserved(given: Given) -> tuple[tuple[int, int], ...]:
    """Return address and size of each block that a blob reserves; it is one that can be read."""
    blocks: list[tuple[int, int]] = []
    at = _HEADER.unpack_from(given.data)[4]
    while len(blocks) < _MOST_RESERVED and at + _BLOCK.size <= len(given.data):
        begin, size = _BLOCK.unpack_from(given.data, at)
        at += _BLOCK.size
        if not begin and not size:
            break
        blocks.append((begin, size))
    return tuple(blocks)


def read_tree(given: Given) -> TreeNode:
    """Return the root of a blob.

    Raises:
        UsageError: E138, it is damaged.
    """
    try:
        return _read(given)
    except (struct.error, ValueError, IndexError):
        given.refuse("the devicetree ends before its last node")


def _read(given: Given) -> TreeNode:
    data = given.data
    if data[: len(MAGIC)] != MAGIC:
        given.refuse("it is no devicetree blob", remedy="make one: dtc -I dts -O dtb")
    _, total, at, strings, _, _, oldest, _, _, _ = _HEADER.unpack_from(data)
    if oldest > _COMPATIBLE_WITH or total > len(data):
        given.refuse("the devicetree is of another version, or not whole")
    root: TreeNode | None = None
    node: TreeNode | None = None
    depth = nodes = 0
    while True:
        (token,) = _CELL.unpack_from(data, at)
        at += _CELL_BYTES
        if token == _BEGIN:
            name, end = _text(data, at)
            node = TreeNode(name or "/", node)
            at = _align(end + 1)
            depth, nodes = depth + 1, nodes + 1
            if depth > _MAX_DEPTH or nodes > _MAX_NODES or (root and not node.parent):
                given.refuse("the devicetree has too many nodes, or too deep")
            root = root or node
            if node.parent:
                node.parent.children.append(node)
        elif token == _PROPERTY and node:
            size, name_at = struct.unpack_from(">II", data, at)
            at += 2 * _CELL_BYTES
            if at + size > total:
                raise IndexError
            node.properties[_text(data, strings + name_at)[0]] = data[at : at + size]
            at = _align(at + size)
        elif token == _END and node:
            node, depth = node.parent, depth - 1
        elif token == _LAST and root and node is None:
            return root
        elif token != _NOTHING:
            given.refuse(f"the devicetree has a token {token} at byte {at - _CELL_BYTES}")


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(b"\0", at)
    return data[at:end].decode("utf-8", errors="replace"), end


def _align(at: int) -> int:
    return -(-at // _CELL_BYTES) * _CELL_BYTES
