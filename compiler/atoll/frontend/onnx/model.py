# SPDX-License-Identifier: Apache-2.0
"""What an ONNX file holds, as plain records; nothing of the content is judged here."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atoll.records import dataclass

Array = NDArray[np.generic]

_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the graph.

    Attributes:
        index: its number in the file; nodes that one node of the file stands for share it.
        op: what the file calls the operator, with its domain unless that is ONNX's own.
        written: the same of the node of the file, where this one is a part of it.
        inputs: names of values, "" for an absent one.
        attributes: by name, tensors as arrays.
    """

    index: int
    op: str
    written: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def place(self) -> str:
        """Name the node as messages do: by its number, and by its name if it has one."""
        name = short(self.name)
        return f"node {self.index} ({self.written}{name and f' {name!r}'})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A tensor of the interface, or a result: type as ONNX names it, and shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An ONNX file whose shapes are known.

    Attributes:
        nodes: in an order in which each value is made before it is read.
        values: those whose shapes are known, by name.
        constants: the values that are known, by name.
        total: nodes that the file has.
    """

    nodes: tuple[Node, ...]
    values: Mapping[str, Value]
    constants: Mapping[str, Array]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    total: int


def short(name: str) -> str:
    """Cut a name of the file that is too long for a message."""
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 3]}..."
