# SPDX-License-Identifier: Apache-2.0
"""A network: loaded from a file, from the bytes of one, or made in memory."""

import shutil
import tempfile
import weakref
from dataclasses import field
from pathlib import Path
from typing import Any

from atoll.api.notebook import Row, html_table
from atoll.frontend.front_end import load_with
from atoll.frontend.network_names import identifier
from atoll.frontend.registry import IN_MEMORY, Source, load_source
from atoll.frontend.verify_graph import verify_graph
from atoll.ir.graph import Graph, Tensor
from atoll.records import dataclass


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Network:
    """A network whose every operator can be compiled.

    Attributes:
        name: prefix of every C name, made from the name of its file.
        graph: its operators and tensors.
    """

    name: str
    graph: Graph = field(repr=False)
    _source: Source = field(repr=False, compare=False)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tensors that the caller provides."""
        return self.graph.inputs

    @property
    def outputs(self) -> tuple[str, ...]:
        """The tensors that the caller reads."""
        return self.graph.outputs

    def tensor(self, name: str) -> Tensor:
        """Look a tensor up by name."""
        return self.graph.tensor(name)

    def rows(self) -> list[Row]:
        """Return the operators, in the order in which they run."""
        return [
            {
                "operator": op.name,
                "kind": op.kind,
                "inputs": list(filter(None, op.inputs)),
                "outputs": list(op.outputs),
                "attributes": dict(op.attributes),
            }
            for op in self.graph.operators
        ]

    def to_json(self) -> dict[str, Any]:
        """Return name, operators and tensors as plain data."""
        return {
            "network": self.name,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "operators": self.rows(),
            "tensors": [
                {
                    "tensor": each.name,
                    "shape": list(each.shape),
                    "dtype": each.dtype,
                    "size_bytes": each.size,
                    "constant": each.data is not None,
                }
                for each in self.graph.tensors
            ],
        }

    def _repr_html_(self) -> str:
        return html_table(self.name, self.rows())


NetworkSource = Network | Graph | Path | str | bytes
"""A network, or what `load_network` makes one of."""


def load_network(source: NetworkSource, *, name: str | None = None) -> Network:
    """Load a network and check that every operator of it can be compiled.

    Args:
        source: the path of a TFLite or ONNX file (``FILE#SIGNATURE`` for one of several functions),
            the bytes of such a file, or a graph made in memory.
        name: what it is called, where its file or graph shall not say so.

    Raises:
        ModelError: the network is damaged, or holds what Atoll does not support.
        AtollError: E112; a graph is not consistent.

    >>> import atoll
    >>> digits = atoll.load_network("examples/01_digits/digits_int8.tflite")
    >>> digits.name, digits.inputs
    ('digits_int8', ('image',))
    """
    if isinstance(source, Network):
        return source
    if isinstance(source, bytes):
        return _of_bytes(source, identifier(name or "network", "network"))
    if isinstance(source, str | Path):
        path = Path(source)
        graph, loaded = load_source(path)
        return (
            Network(graph.name, graph, loaded)
            if name is None
            else _name_network(graph, loaded, name)
        )
    return _of_graph(source, name)


def _of_graph(graph: Graph, name: str | None) -> Network:
    verify_graph(graph, "load_network", "was given", "correct the graph as docs/api.md shows")
    called = Path(identifier(name or graph.name, "network"))
    checked = load_with(lambda _: graph, called)
    text = f"{checked}\n".encode()
    return Network(checked.name, checked, Source(IN_MEMORY, text, called.with_suffix(IN_MEMORY)))


def _name_network(graph: Graph, source: Source, name: str) -> Network:
    called = identifier(name, "network")
    return Network(called, load_with(lambda _: graph, Path(called)), source)


def _of_bytes(data: bytes, name: str) -> Network:
    """Load what a file would hold; a copy lies in a folder for as long as the network is there."""
    folder = Path(tempfile.mkdtemp(prefix="atoll-"))
    path = folder / name
    try:
        path.write_bytes(data)
        graph, source = load_source(path)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    network = Network(graph.name, graph, source)
    weakref.finalize(network, shutil.rmtree, folder, ignore_errors=True)
    return network
