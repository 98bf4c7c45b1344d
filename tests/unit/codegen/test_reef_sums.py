# SPDX-License-Identifier: Apache-2.0
"""MEAN and SUM on reef: commands, run by the model, equal the reference; features say which."""

from math import prod
from types import MappingProxyType

import numpy as np
import pytest
from tests.effort import cases
from tests.unit.codegen.test_reef_commands import activation, constant, npu, run, scalar_result

from atoll.ir.graph import Graph, Operator
from atoll.ops.registry import kind_of
from atoll_sim.engines.interface import Outcome


def reduction(
    kind: str, shape: tuple[int, ...], axes: tuple[int, ...], scales: tuple[float, float]
) -> Graph:
    seed = prod(shape)
    vanish = {axis % len(shape) for axis in axes}
    made = tuple(1 if axis in vanish else extent for axis, extent in enumerate(shape))
    x = activation("x", shape, scales[0], seed % 256 - 128)
    y = activation("y", made, scales[1], 100 - seed % 200)
    table = constant("axes", np.array(axes, np.int32), (1.0,))
    op = Operator(
        name=f"{kind}_0",
        kind=kind,
        inputs=("x", "axes"),
        outputs=("y",),
        attributes=MappingProxyType({"keep_dims": True}),
        device="npu",
    )
    return Graph(name="m", tensors=(x, table, y), operators=(op,), inputs=("x",), outputs=("y",))


def random_reduction(seed: int, kind: str) -> Graph:
    """Make one of neighbouring axes, from any that do not matter; results rarely saturate."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(extent) for extent in rng.integers(1, 9, int(rng.integers(1, 5))))
    first = int(rng.integers(0, len(shape)))
    last = int(rng.integers(first, len(shape)))
    count = prod(shape[first : last + 1])
    axes = [*range(first, last + 1), *(axis for axis, extent in enumerate(shape) if extent == 1)]
    axes = [axis - len(shape) * int(rng.integers(0, 2)) for axis in rng.permutation(axes)]
    scale = float(np.float32(rng.uniform(0.01, 0.05)))
    gain = float(rng.uniform(0.3, 2)) * (count**0.5 if kind == "sum" else 1)
    return reduction(kind, shape, tuple(map(int, axes)), (scale, scale * gain))


def check(graph: Graph, device: tuple[int, int, int] = (8, 8, 8)) -> None:
    x = np.random.default_rng(1).integers(-128, 128, graph.tensor("x").shape).astype(np.int8)
    outcome, y, _ = run(graph, npu(*device), x)
    assert outcome == Outcome(0, 0, 1)
    np.testing.assert_array_equal(y, scalar_result(graph, x))


@pytest.mark.parametrize(("input_lanes", "output_lanes"), [(4, 4), (8, 8), (4, 16)])
@pytest.mark.parametrize("seed", range(cases(40)))
@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_model_runs_the_commands_bit_exact(
    kind: str, seed: int, input_lanes: int, output_lanes: int
) -> None:
    check(random_reduction(seed, kind), (input_lanes, output_lanes, 16))


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("gain", [2.0**-20, 2.0**-31, 2.0**12, 2.0**29])
def test_factors_of_any_size(kind: str, gain: float) -> None:
    """Shifts that are far from 0, and results that saturate."""
    check(reduction(kind, (1, 7, 9, 11), (1, 2), (gain, 1.0)))


@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_as_many_values_as_there_may_be(kind: str) -> None:
    check(reduction(kind, (2, 64, 32, 3), (1, 2), (0.05, 0.05 * (45 if kind == "sum" else 1))))


@pytest.mark.parametrize(
    ("axes", "told"),
    [
        ((1, 2), (2, 12, 5, 0)),
        ((1,), (2, 3, 20, 0)),
        ((-1,), (24, 5, 1, 0)),
        ((0, 1, 2, 3), (1, 120, 1, 0)),
        ((1, 3), (2, 15, 1, 1)),
    ],
)
def test_features_say_how_values_lie(axes: tuple[int, ...], told: tuple[int, ...]) -> None:
    graph = reduction("mean", (2, 3, 4, 5), axes, (0.05, 0.05))
    found = kind_of(graph.operators[0]).features(graph.operators[0], graph)
    assert tuple(found[name] for name in ("rows", "reduced", "channels", "apart")) == told
