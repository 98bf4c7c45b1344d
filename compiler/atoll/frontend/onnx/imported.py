# SPDX-License-Identifier: Apache-2.0
"""An imported network with the values of its file: which tensor holds each, and how."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from atoll.frontend.onnx import layout
from atoll.frontend.onnx.graph import convert, finish
from atoll.frontend.onnx.model import Array
from atoll.frontend.onnx.onnx_values import Stored
from atoll.frontend.onnx.reader import read
from atoll.frontend.onnx.worker import settler
from atoll.ir.graph import Graph
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A network as the front end makes it.

    Attributes:
        graph: without a pass over it.
        integers: the quantised results that a tensor of the graph holds, by names of the file.
        types: of these, as the file has them.
    """

    graph: Graph
    integers: Mapping[str, Stored]
    types: Mapping[str, str]


def import_file(path: Path) -> Imported:
    """Import a file that the front end accepts.

    Raises:
        ModelError: as `graph_of`.
    """
    with settler() as settled:
        file = read(settled(path.read_bytes()))
    with np.errstate(all="ignore"):
        c = convert(file)
        graph = finish(c)
    held = {tensor.name for tensor in graph.tensors}
    integers = {
        name: part
        for name, part in c.parts.items()
        if isinstance(part, Stored) and not part.real and part.grid and part.tensor in held
    }
    types = {name: file.values[name].dtype for name in integers}
    return Imported(graph=graph, integers=integers, types=types)


def in_order_of_file(value: Stored, elements: Array) -> Array:
    """Return what a tensor holds with the extents and the order of axes that ONNX gives it."""
    shape, order = value.shape, value.order
    if value.folded:
        leading = elements.shape[:-1]
        whole = elements.reshape(*leading, *value.folded)
        tail = (len(leading) + axis for axis in value.unfolded)
        elements = whole.transpose(*range(len(leading)), *tail).reshape(elements.shape)
    stored = elements.reshape(layout.permute(shape, order))
    return stored.transpose([order.index(axis) for axis in range(len(shape))])
