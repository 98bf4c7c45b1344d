# SPDX-License-Identifier: Apache-2.0
"""Hold every tensor that a run wrote against the exact reference."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from atoll.artifacts.samples import Sample
from atoll.diagnostics.progress import Steps, tell
from atoll.ir.graph import Graph, Tensor
from atoll.ops import reference
from atoll.ops.rounding import ROUNDED, ROUNDING
from atoll.records import dataclass
from atoll.report.result import Mismatch
from atoll.resolve.soc import Engine, ResolvedSoc
from atoll_sim.trace.simulation import SimResult

RESULTS = "A12"
"""The rule that an accelerator breaks whose results differ."""


@dataclass(frozen=True, slots=True)
class LayerCheck:
    """How many tensors were compared, and those that differ."""

    compared: int
    mismatches: tuple[Mismatch, ...]


@dataclass(frozen=True, slots=True)
class _Result:
    """Bytes that should be a tensor; None where the run ended before it wrote them."""

    tensor: str
    operator: str
    device: str
    data: bytes | None


def check_layers(
    graph: Graph,
    samples: Sequence[Sample],
    result: SimResult,
    soc: ResolvedSoc | None = None,
    network: Graph | None = None,
    *,
    outputs_alone: bool = False,
) -> LayerCheck:
    """Compare each operator's results, and the outputs, of every sample with the reference.

    It is that of its accelerator on `soc`, where that rounds in its own way; of stripes, that of
    the rows of `network`, which was cut into them. A tensor that a failed run never produced counts
    as compared and different. With `outputs_alone` nobody saw the other tensors.
    """
    compared = 0
    mismatches: list[Mismatch] = []
    apart = _rounds(graph, soc) or (
        network is not None and _roundings(network) != _roundings(graph)
    )
    rows = None if apart else network
    wholes = _wholes(graph, samples, rows)
    computed = reference.run_in_turn(graph, samples, soc)
    steps = Steps(len(samples), tell)
    for number, (expected, whole) in enumerate(zip(computed, wholes, strict=True)):
        steps.tell(number, f"comparing '{graph.name}': sample {number + 1} of {len(samples)}")
        expected |= _rows(graph, whole)
        for found in _results(graph, number, result, outputs_alone=outputs_alone):
            compared += 1
            tensor = graph.tensor(found.tensor)
            rule = RESULTS if soc and _is_engine(soc, found.device) else ""
            mismatches += _compare(number, found, tensor, expected[found.tensor], rule)
    return LayerCheck(compared, tuple(mismatches))


def _is_engine(soc: ResolvedSoc, name: str) -> bool:
    return any(engine.name == name for engine in soc.engines)


def _rounds(graph: Graph, soc: ResolvedSoc | None) -> bool:
    """Tell whether a device computes by a reference of its own."""
    devices = ((soc.device(op.device), op.kind) for op in graph.operators) if soc else ()
    return any(
        isinstance(device, Engine) and bool(device.spec.support(kind).reference)
        for device, kind in devices
    )


def _roundings(graph: Graph) -> frozenset[bool]:
    """Return whether operators round as ONNX says: accelerators may do otherwise than asked."""
    return frozenset(ROUNDING in op.attributes for op in graph.operators if op.kind in ROUNDED)


def _wholes(
    graph: Graph, samples: Sequence[Sample], network: Graph | None
) -> Iterator[Mapping[str, NDArray[np.generic]]]:
    """Yield for each sample the tensors of the network that was cut into stripes, if it was."""
    cut = any(tensor.rows_of for tensor in graph.tensors)
    yield from reference.run_in_turn(network, samples) if network and cut else ({},) * len(samples)


def _rows(graph: Graph, whole: Mapping[str, NDArray[np.generic]]) -> dict[str, NDArray[np.generic]]:
    """Return what stripes must hold by the reference of the network that was cut into them.

    Those of a state are not among them: `whole` has what it became, they what it was before.
    """
    states = graph.states
    return {
        part.name: whole[part.rows_of][:, part.first_row : part.first_row + part.shape[1]]
        for part in graph.tensors
        if part.rows_of and whole and part.rows_of not in states
    }


def _results(
    graph: Graph, sample: int, result: SimResult, *, outputs_alone: bool
) -> Iterator[_Result]:
    """Yield what each operator wrote, then the outputs after the run: they must still hold it."""
    layers = result.layers[sample] if sample < len(result.layers) else {}
    for index, op in enumerate(() if outputs_alone else graph.operators):
        for name in op.outputs:
            yield _Result(name, op.name, op.device, layers.get(index, {}).get(graph.buffer(name)))
    outputs = result.outputs[sample] if sample < len(result.outputs) else {}
    for name in graph.outputs:
        yield _Result(name, "the end of the run", "the host", outputs.get(name))


def _compare(
    sample: int, found: _Result, tensor: Tensor, expected: NDArray[np.generic], rule: str
) -> Iterator[Mismatch]:
    """Yield that values differ; what a layout only fills up may be anything."""
    wanted = np.frombuffer(tensor.bytes_of(expected), tensor.dtype)
    held = tensor.layout.sources() >= 0 if tensor.layout else np.full(wanted.size, fill_value=True)
    actual = None if found.data is None else np.frombuffer(found.data, tensor.dtype)
    wrong = np.flatnonzero(held if actual is None else held & (actual != wanted))
    if wrong.size:
        first = int(wrong[0])
        yield Mismatch(
            sample=sample,
            tensor=found.tensor,
            operator=found.operator,
            device=found.device,
            first=first,
            count=int(wrong.size),
            expected=int(wanted[first]),
            actual=None if actual is None else int(actual[first]),
            number=rule,
        )
