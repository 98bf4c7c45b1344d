# SPDX-License-Identifier: Apache-2.0
"""What TFLM makes of a network, and how its tensors belong to those of Atoll's graph.

TFLM accepts everything that the generator draws: interfaces that declare a tensor twice, outputs
that are inputs or constants, inputs that nobody reads, operators whose results nobody reads, and
networks without operators. Its input of a float32 edge is float32 where Atoll's has 8 or 16 bits.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.differential.network import MULTIPLIED
from tests.tflite_builder import Model, write
from tests.tflm_process import TFLM

from atoll.ir.graph import Graph, Tensor

Array = NDArray[Any]


def run_tflm(model: Model, samples: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Return the outputs of each sample, in the order in which the file declares them.

    Raises:
        RefusedError: it does not accept the network.
    """
    return TFLM.run(write(model), samples, range(len(model.outputs)))


def random_inputs(graph: Graph, seed: int, count: int) -> list[Mapping[str, Array]]:
    """Draw samples for a graph: random bytes first, then a constant from one end of the range."""
    rng = np.random.default_rng(seed)
    samples: list[Mapping[str, Array]] = []
    for number in range(count):
        sample = {}
        for tensor in map(graph.tensor, graph.inputs):
            shape, dtype = tensor.shape, np.dtype(tensor.dtype)
            span = np.iinfo(dtype) if tensor.dtype != "bool" else None
            ends = (span.min, span.max) if span else (False, True)
            values = rng.integers(*ends, shape, dtype=dtype, endpoint=True)
            sample[tensor.name] = np.full_like(values, rng.choice(ends)) if number % 2 else values
        samples.append(sample)
    return samples


def file_inputs(model: Model, graph: Graph, sample: Mapping[str, Array]) -> list[Array]:
    """Return a sample of the graph as the file's inputs take it."""
    pairs = zip(model.inputs, graph.inputs, strict=True)
    return [_as_in_file(model, number, graph.tensor(name), sample[name]) for number, name in pairs]


def file_outputs(model: Model, graph: Graph, outputs: Mapping[str, Array]) -> Iterator[Array]:
    """Yield outputs of the graph as the file declares them."""
    for number, name in zip(model.outputs, graph.outputs, strict=True):
        yield _as_in_file(model, number, graph.tensor(name), outputs[name])


def _as_in_file(model: Model, number: int, tensor: Tensor, values: Array) -> Array:
    """Dequantise values if the file's tensor is float32 and the graph's is not."""
    if model.tensors[number].dtype != "float32" or tensor.dtype not in MULTIPLIED:
        return values
    assert tensor.quantization is not None
    (scale,), (point,) = tensor.quantization.scales, tensor.quantization.zero_points
    return (scale * (values.astype(np.float64) - point)).astype(np.float32)
