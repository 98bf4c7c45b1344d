# SPDX-License-Identifier: Apache-2.0
"""SOFTMAX on reef: commands, run by the model, equal the operator's reference."""

from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import cases
from tests.unit.codegen.test_reef_commands import activation, npu, run, scalar_result

from atoll.ir.graph import Graph, Operator
from atoll.ops.reductions.softmax import GREATEST_DEPTH
from atoll_sim.engines.interface import Outcome
from atoll_sim.engines.reef.emitter import ReefEmitter

MEASURED = {(1, 2): 205, (1, 12): 235, (1, 1000): 3194, (50, 12): 3976}
"""Cycles that `benches/reef_shares.py` measured, by rows and the values of each."""


def softmax(shape: tuple[int, ...], scale: float, beta: float = 1.0) -> Graph:
    x, y = activation("x", shape, scale, 7), activation("y", shape, 1 / 256, -128)
    op = Operator(
        name="softmax_0",
        kind="softmax",
        inputs=("x",),
        outputs=("y",),
        attributes=MappingProxyType({"beta": beta}),
        device="npu",
    )
    return Graph(name="m", tensors=(x, y), operators=(op,), inputs=("x",), outputs=("y",))


def check(graph: Graph, x: NDArray[np.int8]) -> None:
    outcome, y, _ = run(graph, npu(), x)
    assert outcome == Outcome(0, 0, 1)
    np.testing.assert_array_equal(y, scalar_result(graph, x))


@pytest.mark.parametrize("seed", range(cases(200)))
def test_model_runs_the_command_bit_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = (*(int(extent) for extent in rng.integers(1, 5, seed % 3)), int(rng.integers(1, 60)))
    graph = softmax(shape, float(2 ** rng.uniform(-26, 3)), float(rng.uniform(0.5, 2)))
    low, high = sorted(rng.integers(-128, 128, 2))
    check(graph, rng.integers(low, high + 1, shape).astype(np.int8))


@pytest.mark.parametrize("scale", [2.0**-20, 0.01, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("depth", [1, 2, 256, GREATEST_DEPTH])
def test_rows_of_any_length_and_scale(depth: int, scale: float) -> None:
    """Rows of one value, and sums between the least and the greatest."""
    graph = softmax((1, depth), scale)
    for step in (0, 1, 7):
        values = (np.arange(depth) * step % 256 - 128).astype(np.int8)
        check(graph, values.reshape(1, depth))


def test_every_sum_of_two_values() -> None:
    """All distances: each sum is one of 256, and each result depends on it."""
    values = np.stack([np.full(256, 127), np.arange(-128, 128)], axis=1).astype(np.int8)
    for scale in (0.003, 0.02, 0.1):
        check(softmax((256, 2), scale), values)


@pytest.mark.parametrize(("rows", "depth"), MEASURED)
def test_estimates_are_near_what_the_bench_measured(rows: int, depth: int) -> None:
    graph = softmax((rows, depth), 0.1)
    cycles = ReefEmitter().busy(graph.operators[0], graph, npu()).cycles
    assert cycles == pytest.approx(MEASURED[rows, depth], rel=0.05)
