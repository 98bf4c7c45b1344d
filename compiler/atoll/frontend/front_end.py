# SPDX-License-Identifier: Apache-2.0
"""What a front end is: the one interface of Atoll's own and of other packages'."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from atoll.diagnostics.errors import Fault, ModelError
from atoll.frontend.network_names import network_name
from atoll.frontend.unsupported import operator_faults
from atoll.ir.graph import Graph
from atoll.ops.composed import in_parts
from atoll.ops.kernel_builder import ELEMENT_TYPES as TYPES


class FrontEnd(ABC):
    """Reads the networks of one file format.

    Attributes:
        suffix: of the files, such as ``.tflite``.
    """

    suffix: str

    def recognises(self, path: Path) -> bool:
        """Tell whether a readable file is of this format: by its suffix, or by its content."""
        return path.suffix.lower() == self.suffix

    def data(self, path: Path) -> bytes:
        """Return the bytes of a network that was loaded: the file's, or part of them."""
        return path.read_bytes()

    @abstractmethod
    def load(self, path: Path) -> Graph:
        """Turn a file into a graph of kinds that Atoll knows; others check its operators.

        The network is named after the file, whatever the graph is called.

        Raises:
            ModelError: with all faults of the stage that found some, none with the path.
        """


def load_with(load: Callable[[Path], Graph], path: Path) -> Graph:
    """Turn a model file into a graph whose every operator can be compiled.

    Raises:
        ModelError: E050 to E056; all faults of the stage that found some, each with the path.
    """
    try:
        graph = replace(load(path), name=network_name(path))
        if faults := operator_faults(graph):
            raise ModelError.all(faults)
        _check_interface(graph)
        return in_parts(graph)
    except ModelError as error:
        raise error.about(str(path)) from error


def _check_interface(graph: Graph) -> None:
    """Refuse a port of a type that no buffer has; of those that operators touch, they judged."""
    faults = [
        Fault(
            code="E055",
            message=f"the model's {side}, tensor {tensor.index} ('{tensor.name}'): has type "
            f"{tensor.dtype}, which is not supported",
            remedy=f"remove it from the model, or give it one of the types {', '.join(TYPES)}",
        )
        for side, names in (("input", graph.inputs), ("output", graph.outputs))
        for tensor in map(graph.tensor, names)
        if tensor.dtype not in TYPES
    ]
    if faults:
        raise ModelError.all(faults)
