# SPDX-License-Identifier: Apache-2.0
"""Samples with labels, from a file of NumPy arrays."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from atoll.artifacts.samples import Sample, batches_of, load_arrays
from atoll.diagnostics.errors import UsageError
from atoll.ir.graph import Graph, Tensor
from atoll.records import dataclass

LABELS = ("labels", "y")
"""Names of the array with the number of the right class of each sample."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Samples of a network, and the class of each.

    Attributes:
        batches: one array [N, ...] for each input, by name, in the input's type.
        labels: int64 [N].
    """

    batches: Mapping[str, NDArray[np.generic]]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.labels)

    def sample(self, number: int) -> Sample:
        """Return one sample."""
        return {name: batch[number] for name, batch in self.batches.items()}


def load_labelled(path: Path, graph: Graph) -> Labelled:
    """Read a .npz with the array `labels`, or `y`, and one for each input.

    An array of floating-point numbers is quantised as its input says; with one input it may have
    any name.

    Raises:
        UsageError: E093; the file is damaged, an array is missing or has another shape or type.
    """
    arrays = load_arrays(path)
    named = [name for name in LABELS if isinstance(arrays, dict) and name in arrays]
    if not isinstance(arrays, dict) or not named:
        raise _fault(path, f"has no array '{LABELS[0]}'", _HOW)
    labels = _labels(path, named[0], arrays.pop(named[0]), graph)
    if len(graph.inputs) == 1 and len(arrays) == 1:
        arrays = {graph.inputs[0]: next(iter(arrays.values()))}
    arrays = {name: _quantise(arrays[name], graph, name) for name in arrays}
    batches = batches_of(path, arrays, graph)
    for name, batch in batches.items():
        if len(batch) != len(labels):
            what = f"has {len(labels)} labels, and {len(batch)} samples of input '{name}'"
            raise _fault(path, what, "give every sample one label")
    return Labelled(batches, labels)


_HOW = f"save it with numpy.savez(file, {LABELS[0]}=..., and one array for each input)"


def classes_of(graph: Graph) -> int:
    """Return how many classes the first output tells apart.

    Raises:
        UsageError: E093; it is one number, so that it has no class of greatest value.
    """
    output = graph.tensor(graph.outputs[0])
    if output.elements < 2:
        what = f"output '{output.name}' is one number, and classes are told apart by several"
        raise UsageError("E093", what, remedy="leave --dataset out")
    return output.elements


def _labels(path: Path, name: str, found: object, graph: Graph) -> NDArray[np.int64]:
    labels = np.asarray(found)
    classes = classes_of(graph)
    if labels.dtype.kind not in "iu" or labels.ndim == 0 or labels.size != len(labels):
        what = f"array '{name}' is {labels.dtype}{list(labels.shape)}, not one integer a sample"
        raise _fault(path, what, _HOW)
    if not labels.size:
        raise _fault(path, "has no samples", _HOW)
    flat = labels.reshape(-1).astype(np.int64)
    wrong = flat[(flat < 0) | (flat >= classes)]
    if wrong.size:
        what = f"label {wrong[0]} is none of the classes 0 to {classes - 1} of the first output"
        raise _fault(path, what, "number the classes as the network's output does")
    return flat


def _quantise(array: object, graph: Graph, name: str) -> object:
    """Return floating-point numbers as an input stands for them, anything else as it is."""
    tensor = graph.by_name.get(name)
    values = np.asarray(array)
    if tensor is None or values.dtype.kind != "f" or tensor.quantization is None:
        return array
    return quantise(values, tensor)


def quantise(values: NDArray[np.floating], tensor: Tensor) -> NDArray[np.generic]:
    """Round real numbers to those that a tensor has; what is beyond becomes the nearest one."""
    assert tensor.quantization is not None
    span = np.iinfo(np.dtype(tensor.dtype))
    scale, point = tensor.quantization.scales[0], tensor.quantization.zero_points[0]
    steps = np.round(values.astype(np.float64) / scale) + point
    return np.clip(np.nan_to_num(steps), span.min, span.max).astype(tensor.dtype)


def _fault(path: Path, what: str, remedy: str) -> UsageError:
    return UsageError("E093", f"{path}: {what}", remedy=remedy)
