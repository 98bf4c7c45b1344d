# SPDX-License-Identifier: Apache-2.0
"""What tests do with devicetrees, with parsers that are not ours."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import libfdt
from devicetree.dtlib import DT

from atoll.resolve import load_soc
from atoll.resolve.soc import ResolvedSoc
from atoll_board.package import Board, package_files

ROOT = Path(__file__).parents[3]
CHIPS = [
    *sorted(path.stem for path in (ROOT / "socs").glob("*.yaml")),
    *(str(ROOT / "tests" / "data" / name) for name in ("shore.yaml", "bay.yaml")),
]


def written(soc: str | ResolvedSoc, emitter: str, folder: Path, *overrides: str) -> Path:
    """Write the files of an emitter; return the folder with them."""
    chip = load_soc(soc, overrides) if isinstance(soc, str) else soc
    for path, entry in package_files(Board(soc=chip), [emitter])[emitter].items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(entry.data)
    return folder


def nodes(tree: Any) -> dict[str, Any]:
    """Return the nodes of a `DT` by label."""
    return {label: node for node in tree.node_iter() for label in node.labels}


def number(node: Any, name: str) -> int:
    """Return a property of one cell."""
    return int(node.props[name].to_num())


def strings(node: Any, name: str) -> list[str]:
    return list(node.props[name].to_strings())


def cells(node: Any, name: str) -> list[int]:
    data = node.props[name].value
    return [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]


def groups(values: list[int], *widths: int) -> Iterator[tuple[int, ...]]:
    """Yield tuples of numbers, each of so many cells."""
    while values:
        group = []
        for width in widths:
            group.append(
                sum(
                    cell << 32 * place
                    for place, cell in zip(reversed(range(width)), values[:width], strict=True)
                )
            )
            values = values[width:]
        yield tuple(group)


def width(node: Any) -> int:
    """Return the cells of an address below `node`; trees of ours have as many of a size."""
    assert cells(node, "#address-cells") == cells(node, "#size-cells")
    return number(node, "#address-cells")


def span(node: Any) -> tuple[int, int]:
    """Return address and size of a node, translated to the root's addresses."""
    bits = width(node.parent)
    ((address, size),) = groups(cells(node, "reg"), bits, bits)
    above = node.parent
    while above.parent is not None:
        for child, parent, length in groups(cells(above, "ranges"), bits, bits, bits):
            assert child <= address
            assert address + size <= child + length
            address += parent - child
        above = above.parent
    return address, size


def blob(tree: Any) -> bytes:
    """Return a `DT` as a flattened devicetree."""
    # It grows for nodes and properties, but not for its end.
    writer = libfdt.FdtSw(size_hint=1 << 16)
    writer.finish_reservemap()

    def write(node: Any) -> None:
        with writer.add_node("" if node.parent is None else node.name):
            for prop in node.props.values():
                writer.property(prop.name, bytes(prop.value))
            for child in node.nodes.values():
                write(child)

    write(tree.root)
    return bytes(writer.as_fdt().as_bytearray())


def parsed(path: Path) -> Any:
    return DT(str(path))
