# SPDX-License-Identifier: Apache-2.0
"""Loop programs that move elements, and MEAN, equal their references."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

Check = Callable[..., None]
PADDINGS = (
    ((0, 1), (1, 2), (2, 1), (0, 0)),
    ((0, 0), (0, 0), (0, 0), (0, 0)),
    ((0, 0), (0, 0), (0, 0), (3, 1)),
    ((2, 0), (0, 0), (0, 0), (0, 0)),
    ((0, 0), (1, 1), (1, 1), (0, 0)),
)


@pytest.mark.parametrize("pairs", PADDINGS)
def test_pad(pairs: tuple[tuple[int, int], ...], make: Any, equals_reference: Check) -> None:
    maker = make(0)
    x = maker.activation("x", (2, 3, 4, 5))
    shape = tuple(
        size + before + after for size, (before, after) in zip(x.shape, pairs, strict=True)
    )
    table = maker.constant("paddings", np.array(pairs, np.int32))
    equals_reference(maker.graph("pad", [x, table], replace(x, name="y", shape=shape)), maker.rng)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_concatenation(axis: int, make: Any, equals_reference: Check) -> None:
    maker = make(1)
    x = maker.activation("x0", (2, 3, 4))
    extents = (x.shape[axis], 1, 5)
    parts = []
    for number, extent in enumerate(extents):
        shape = list(x.shape)
        shape[axis] = extent
        parts.append(replace(x, name=f"x{number}", shape=tuple(shape)))
    shape[axis] = sum(extents)
    graph = maker.graph(
        "concatenation",
        parts,
        replace(x, name="y", shape=tuple(shape)),
        axis=axis,
        activation="none",
    )
    equals_reference(graph, maker.rng)


@pytest.mark.parametrize("kind", ["reshape", "copy"])
def test_copies(kind: str, make: Any, equals_reference: Check) -> None:
    maker = make(2)
    x = maker.activation("x", (2, 3, 4))
    shape = (6, 4) if kind == "reshape" else x.shape
    equals_reference(maker.graph(kind, [x], replace(x, name="y", shape=shape)), maker.rng)


@pytest.mark.parametrize("axes", [(1, 2), (0,), (3,), (0, 2), (0, 1, 2, 3), (-1, -3)])
@pytest.mark.parametrize("keep", [True, False])
def test_mean(axes: tuple[int, ...], keep: bool, make: Any, equals_reference: Check) -> None:
    maker = make(3)
    x = maker.activation("x", (2, 5, 3, 4))
    gone = {axis % 4 for axis in axes}
    shape = tuple(
        1 if axis in gone else size for axis, size in enumerate(x.shape) if keep or axis not in gone
    )
    graph = maker.graph(
        "mean",
        [x, maker.constant("axes", np.array(axes, np.int32))],
        maker.activation("y", shape),
        keep_dims=keep,
    )
    equals_reference(graph, maker.rng)
