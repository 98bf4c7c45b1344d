# SPDX-License-Identifier: Apache-2.0
"""Loop programs of the convolutions equal their references for random options."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.effort import cases

from atoll.ir.graph import Graph, Tensor
from atoll.ops.registry import kind_of

ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")
SEEDS = range(cases(16, least=2))
MOST_INTERPRETED = 13_000
"""Products of a convolution that the interpreter computes as well."""
Check = Callable[..., None]


def window(rng: np.random.Generator, kernel: list[int]) -> dict[str, Any]:
    options: dict[str, Any] = {"activation": ACTIVATIONS[rng.integers(4)]}
    for side, extent, before, after in zip(
        "hw", kernel, ("top", "left"), ("bottom", "right"), strict=True
    ):
        dilation = int(rng.choice([1, 1, 2, 3]))
        reach = (extent - 1) * dilation + 1
        options[f"stride_{side}"] = int(rng.integers(1, 4))
        options[f"dilation_{side}"] = dilation
        options[f"pad_{before}"] = int(rng.integers(0, reach))
        options[f"pad_{after}"] = int(rng.integers(0, reach))
    return options


def places(size: int, kernel: int, options: dict[str, Any], side: str) -> int:
    before, after = {"h": ("top", "bottom"), "w": ("left", "right")}[side]
    padded = size + options[f"pad_{before}"] + options[f"pad_{after}"]
    reach = (kernel - 1) * options[f"dilation_{side}"] + 1
    return int((padded - reach) // options[f"stride_{side}"] + 1)


def convolution(make: Any, *, multiplier: int = 0) -> Graph:
    """Make a random convolution, depthwise with `multiplier` > 0."""
    rng = make.rng
    kernel = [int(rng.integers(1, 5)) for _ in "hw"]
    options = window(rng, kernel)
    image = [
        int(rng.integers(13, 17)) if max(kernel) > 2 else int(rng.integers(4, 8)) for _ in "hw"
    ]
    channels = int(rng.integers(1, 9))
    outputs = channels * multiplier if multiplier else int(rng.integers(1, 13))
    shape = (1, *kernel, outputs) if multiplier else (outputs, *kernel, channels)
    weights = rng.integers(-127, 128, shape).astype(np.int8)
    scales = rng.uniform(0.001, 0.02, outputs if rng.random() < 0.8 else 1).tolist()
    bias = make.constant("bias", rng.integers(-9000, 9000, outputs).astype(np.int32))
    rows, columns = (
        places(size, extent, options, side)
        for size, extent, side in zip(image, kernel, "hw", strict=True)
    )
    batch = int(rng.integers(1, 3))
    graph: Graph = make.graph(
        "depthwise_conv_2d" if multiplier else "conv_2d",
        [
            make.activation("x", (batch, *image, channels)),
            make.constant("weights", weights, scales, axis=3 if multiplier else 0),
            bias if rng.random() < 0.8 else None,
        ],
        make.activation("y", (batch, rows, columns, outputs)),
        **options,
        **({"depth_multiplier": multiplier} if multiplier else {}),
    )
    return graph


def products(graph: Graph) -> int:
    """Return how many products a convolution is made of."""
    (op,) = graph.operators
    weights, result = graph.tensor(op.inputs[1]), graph.tensor(op.outputs[0])
    outputs = weights.shape[3] if op.kind == "depthwise_conv_2d" else weights.shape[0]
    return result.elements * weights.elements // outputs


@pytest.mark.parametrize("seed", SEEDS)
def test_conv_2d(seed: int, make: Any, equals_reference: Check) -> None:
    maker = make(seed)
    graph = convolution(maker)
    equals_reference(graph, maker.rng, interpreted=products(graph) <= MOST_INTERPRETED)


@pytest.mark.parametrize("seed", SEEDS)
def test_depthwise_conv_2d(seed: int, make: Any, equals_reference: Check) -> None:
    maker = make(100 + seed)
    multiplier = (1, 1, 2, 3, 8)[seed % 5]
    graph = convolution(maker, multiplier=multiplier)
    equals_reference(graph, maker.rng, interpreted=products(graph) <= MOST_INTERPRETED)


@pytest.mark.parametrize("seed", SEEDS)
def test_fully_connected(seed: int, make: Any, equals_reference: Check) -> None:
    maker = make(200 + seed)
    rows, inputs, outputs = (int(maker.rng.integers(1, high)) for high in (4, 40, 13))
    bias = maker.rng.integers(-9000, 9000, outputs).astype(np.int32)
    weights = maker.rng.integers(-127, 128, (outputs, inputs)).astype(np.int8)
    graph = maker.graph(
        "fully_connected",
        [
            maker.activation("x", (rows, inputs)),
            maker.constant("weights", weights, [0.01]),
            maker.constant("bias", bias) if seed % 3 else None,
        ],
        maker.activation("y", (rows, outputs)),
        activation=ACTIVATIONS[seed % 4],
        keep_num_dims=False,
    )
    equals_reference(graph, maker.rng)


def test_tables_hold_what_differs_between_channels(make: Any) -> None:
    maker = make(1)
    for scales, tables in (([0.01, 0.03], ["multiplier", "shift"]), ([0.01], [])):
        graph = maker.graph(
            "fully_connected",
            [
                maker.activation("x", (1, 3)),
                maker.constant("weights", np.ones((2, 3), np.int8), scales),
            ],
            maker.activation("y", (1, 2)),
            activation="none",
            keep_num_dims=False,
        )
        (op,) = graph.operators
        lowered = kind_of(op).lower(op, graph)
        made: list[Tensor] = list(lowered.constants)
        assert [tensor.name for tensor in made] == [f"fully_connected_0_{name}" for name in tables]
