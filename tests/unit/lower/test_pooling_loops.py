# SPDX-License-Identifier: Apache-2.0
"""Loop programs of the pooling kinds equal their references for random windows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

Check = Callable[..., None]
ACTIVATIONS = ("none", "relu", "relu6", "relu_n1_to_1")


@pytest.mark.parametrize("kind", ["average_pool_2d", "max_pool_2d"])
@pytest.mark.parametrize("seed", range(8))
def test_pooling(kind: str, seed: int, make: Any, equals_reference: Check) -> None:
    maker = make(seed)
    rng = maker.rng
    filters, strides = rng.integers(1, 5, 2).tolist(), rng.integers(1, 4, 2).tolist()
    pads = [int(rng.integers(0, extent)) for extent in filters]
    image, channels = rng.integers(4, 9, 2).tolist(), int(rng.integers(1, 10))
    rows, columns = (
        (size + 2 * pad - extent) // stride + 1
        for size, pad, extent, stride in zip(image, pads, filters, strides, strict=True)
    )
    x = maker.activation("x", (2, *image, channels))
    graph = maker.graph(
        kind,
        [x],
        replace(x, name="y", shape=(2, rows, columns, channels)),
        filter_h=filters[0],
        filter_w=filters[1],
        stride_h=strides[0],
        stride_w=strides[1],
        pad_top=pads[0],
        pad_bottom=pads[0],
        pad_left=pads[1],
        pad_right=pads[1],
        activation=ACTIVATIONS[seed % 4],
    )
    equals_reference(graph, rng, interpreted=seed < 3)


def test_global_average(make: Any, equals_reference: Check) -> None:
    maker = make(9)
    x = maker.activation("x", (1, 5, 5, 6))
    graph = maker.graph(
        "average_pool_2d",
        [x],
        replace(x, name="y", shape=(1, 1, 1, 6)),
        filter_h=5,
        filter_w=5,
        stride_h=5,
        stride_w=5,
        pad_top=0,
        pad_bottom=0,
        pad_left=0,
        pad_right=0,
        activation="none",
    )
    equals_reference(graph, maker.rng)
