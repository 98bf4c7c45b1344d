# SPDX-License-Identifier: Apache-2.0
"""Loop programs of ADD, MUL and QUANTIZE equal their references, broadcasting included."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from atoll.ops.elements.addition import tabled_sum_of, weighted_sum_of
from atoll.ops.registry import kind_of

ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")
SHAPES = (
    ((2, 3, 4, 5), (2, 3, 4, 5)),
    ((2, 3, 4, 5), (5,)),
    ((2, 1, 4, 5), (3, 1, 1)),
    ((1,), (7, 3)),
    ((4, 1), (1, 6)),
    ((1, 1), (1, 1)),
    ((2, 3, 1, 5), (1, 3, 4, 1)),
    ((3, 5, 19), (3, 5, 19)),
    ((3, 1, 19), (5, 1)),
)
Check = Callable[..., None]


def broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    size = max(len(left), len(right))
    padded = [(1,) * (size - len(shape)) + shape for shape in (left, right)]
    return tuple(max(pair) for pair in zip(*padded, strict=True))


@pytest.mark.parametrize("kind", ["add", "mul"])
@pytest.mark.parametrize("number", range(len(SHAPES)))
def test_binary(kind: str, number: int, make: Any, equals_reference: Check) -> None:
    left, right = SHAPES[number]
    maker = make(number)
    graph = maker.graph(
        kind,
        [maker.activation("a", left), maker.activation("b", right)],
        maker.activation("y", broadcast(left, right)),
        activation=ACTIVATIONS[number % 4],
    )
    equals_reference(graph, maker.rng)


@pytest.mark.parametrize("activation", ["none", "relu_n1_to_1"])
def test_halves_that_no_weights_round(activation: str, make: Any, equals_reference: Check) -> None:
    """Sums of these scales are halves for many of all pairs: tables and a sign round them."""
    maker, every = make(0), np.arange(-128, 128, dtype=np.int8).tobytes()
    operands = (
        maker.activation("a", (256, 1), 0.05, 3),
        maker.activation("b", (1, 256), 0.031, -5),
    )
    graph = maker.graph(
        "add",
        [replace(each, data=every) for each in operands],
        maker.activation("y", (256, 256), 0.07, -9),
        activation=activation,
    )
    (op,) = graph.operators
    assert weighted_sum_of(op, graph) is None
    tables = tabled_sum_of(op, graph)
    assert tables is not None
    assert tables.away is not None
    equals_reference(graph, maker.rng, interpreted=False)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(3, 5, 2), (3, 5, 19)])
def test_quantize(shape: tuple[int, ...], seed: int, make: Any, equals_reference: Check) -> None:
    maker = make(seed)
    graph = maker.graph("quantize", [maker.activation("x", shape)], maker.activation("y", shape))
    equals_reference(graph, maker.rng)


def test_equal_shapes_need_one_loop(make: Any) -> None:
    maker = make(0)
    graph = maker.graph(
        "add",
        [maker.activation("a", (2, 3, 4)), maker.activation("b", (2, 3, 4))],
        maker.activation("y", (2, 3, 4)),
        activation="none",
    )
    (op,) = graph.operators
    assert str(kind_of(op).lower(op, graph).function).count("for ") == 1
