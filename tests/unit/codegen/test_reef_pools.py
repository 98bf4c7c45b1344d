# SPDX-License-Identifier: Apache-2.0
"""MAX_POOL_2D and AVERAGE_POOL_2D on reef: commands, run by the model, equal the reference."""

from types import MappingProxyType

import numpy as np
import pytest
from tests.effort import cases
from tests.unit.codegen.test_reef_commands import (
    activation,
    npu,
    out_extent,
    run,
    scalar_result,
)

from atoll.ir.graph import Graph, Operator
from atoll_sim.engines.interface import Outcome


def random_pool(seed: int, kind: str) -> Graph:
    """Make a pool; only windows of maxima reach into padding."""
    rng = np.random.default_rng(seed)
    kernel, stride, size = rng.integers(1, 5, 2), rng.integers(1, 4, 2), rng.integers(4, 12, 2)
    pads = [int(rng.integers(0, kernel[i % 2])) for i in range(4)]  # top, left, bottom, right
    if kind == "average_pool_2d":
        pads = [0] * 4
    made = [out_extent(size[i], pads[i], pads[i + 2], kernel[i], stride[i]) for i in range(2)]
    samples, depth = int(rng.integers(1, 3)), int(rng.integers(1, 30))
    scale, zero = float(np.float32(rng.uniform(0.001, 0.1))), int(rng.integers(-128, 128))
    x = activation("x", (samples, int(size[0]), int(size[1]), depth), scale, zero)
    y = activation("y", (samples, *map(int, made), depth), scale, zero)
    names = ("filter_h", "filter_w", "stride_h", "stride_w")
    steps = dict(zip(names, map(int, (*kernel, *stride)), strict=True))
    pad_names = ("pad_top", "pad_left", "pad_bottom", "pad_right")
    chosen = str(rng.choice(["none", "relu", "relu6"]))
    op = Operator(
        name=f"{kind}_0",
        kind=kind,
        inputs=("x",),
        outputs=("y",),
        attributes=MappingProxyType(
            {**steps, **dict(zip(pad_names, pads, strict=True)), "activation": chosen}
        ),
        device="npu",
    )
    return Graph(name="m", tensors=(x, y), operators=(op,), inputs=("x",), outputs=("y",))


@pytest.mark.parametrize(("input_lanes", "output_lanes"), [(4, 4), (8, 8), (4, 16)])
@pytest.mark.parametrize("seed", range(cases(25)))
@pytest.mark.parametrize("kind", ["average_pool_2d", "max_pool_2d"])
def test_model_runs_the_commands_bit_exact(
    kind: str, seed: int, input_lanes: int, output_lanes: int
) -> None:
    graph = random_pool(seed, kind)
    shape = graph.tensor("x").shape
    x = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    outcome, y, _ = run(graph, npu(input_lanes, output_lanes, 16), x)
    assert outcome == Outcome(0, 0, shape[0])
    np.testing.assert_array_equal(y, scalar_result(graph, x))
