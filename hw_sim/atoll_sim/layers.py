"""Hold every tensor that a run wrote against the exact reference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atoll.ir.graph import Graph
from atoll.ops import reference
from atoll.report.result import Mismatch
from atoll_sim.execution import Execution, SampleRun
from atoll_sim.samples import Sample


@dataclass(frozen=True, slots=True)
class LayerCheck:
    """How many tensors were compared, and those that differ."""

    compared: int
    mismatches: tuple[Mismatch, ...]


def check_layers(graph: Graph, samples: Sequence[Sample], execution: Execution) -> LayerCheck:
    """Compare each operator's results, and the outputs, of every sample with the reference.

    A tensor that a failed run never produced counts as compared and different.
    """
    compared, mismatches = 0, []
    for number, (sample, run) in enumerate(zip(samples, execution.samples, strict=True)):
        expected = reference.run(graph, sample)
        for index, op in enumerate(graph.operators):
            for name in op.outputs:
                actual = run.layers.get(index, {}).get(name)
                compared += 1
                if found := _compare(expected[name], actual):
                    mismatches.append(_mismatch(number, name, op.name, op.device, found))
        count, wrong = _check_outputs(number, expected, run)
        compared += count
        mismatches += wrong
    return LayerCheck(compared, tuple(mismatches))


@dataclass(frozen=True, slots=True)
class _Difference:
    first: int
    count: int
    expected: int
    actual: int


def _check_outputs(
    number: int, expected: Mapping[str, NDArray[np.generic]], run: SampleRun
) -> tuple[int, list[Mismatch]]:
    """Compare the output buffers after the run: they must still hold what was computed."""
    wrong = [
        _mismatch(number, name, "the end of the run", "the host", found)
        for name, data in run.outputs.items()
        if (found := _compare(expected[name], data))
    ]
    return len(run.outputs), wrong


def _compare(expected: NDArray[np.generic], data: bytes | None) -> _Difference | None:
    wanted = expected.reshape(-1)
    if data is None:
        return _Difference(0, wanted.size, int(wanted[0]), 0)
    actual = np.frombuffer(data, dtype=wanted.dtype)
    wrong = np.flatnonzero(actual != wanted)
    if not wrong.size:
        return None
    first = int(wrong[0])
    return _Difference(first, int(wrong.size), int(wanted[first]), int(actual[first]))


def _mismatch(
    sample: int, tensor: str, operator: str, device: str, found: _Difference
) -> Mismatch:
    return Mismatch(
        sample=sample,
        tensor=tensor,
        operator=operator,
        device=device,
        first=found.first,
        count=found.count,
        expected=found.expected,
        actual=found.actual,
    )
