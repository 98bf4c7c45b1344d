# SPDX-License-Identifier: Apache-2.0
"""LAYER_NORMALIZATION: within half a step of real numbers, and its kernel equals the reference."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.effort import seeded
from tests.kernels import hold

from atoll.diagnostics.errors import ModelError
from atoll.ir.graph import Graph, Operator, Quantization, Tensor
from atoll.ops import reference
from atoll.ops.reductions.layer_normalization import LAYER_NORMALIZATION, to_fixed_point

QUANTIZED = Quantization(scales=(0.05,), zero_points=(3,))
DEPTHS = (1, 2, 7, 32, 363, 1000, 65536)
Reals = NDArray[np.float64]
Counted = Callable[..., bool]


def network(
    rows: int, depth: int, factors: Reals, offsets: Reals, added: int, shift: int | None = None
) -> Graph:
    fixed = to_fixed_point(factors, offsets)
    assert fixed is not None
    held = [
        Tensor(name=name, shape=each.shape, dtype="int32", data=each.astype(np.int32).tobytes())
        for name, each in zip(("factors", "offsets"), fixed[:2], strict=True)
    ]
    x, y = (
        Tensor(name=name, shape=(rows, depth), dtype="int8", quantization=QUANTIZED)
        for name in "xy"
    )
    op = Operator(
        name="op",
        kind="layer_normalization",
        inputs=("x", "factors", "offsets"),
        outputs=("y",),
        attributes={"shift": fixed[2] if shift is None else shift, "added": added},
    )
    return Graph("built", (x, *held, y), (op,), ("x",), ("y",))


@pytest.mark.parametrize("channels", [1, 2, 5])
def test_factors_of_rows(channels: int) -> None:
    rng = np.random.default_rng(channels)
    factors, offsets = rng.normal(0, 30, (2, channels, 1))
    graph = network(3 * channels, 17, factors, offsets, 9)
    shape = (3, channels, 17)
    tensors = [replace(each, shape=shape) if each.name in "xy" else each for each in graph.tensors]
    graph = replace(graph, tensors=tuple(tensors))
    (op,), x = graph.operators, rng.integers(-128, 128, shape).astype(np.int8)
    LAYER_NORMALIZATION.check(op, graph)
    values = reference.run(graph, {"x": x})
    hold(LAYER_NORMALIZATION.lower(op, graph), values, values["y"], interpreted=True)
    for row in range(channels):
        single = network(3, 17, np.full(17, factors[row, 0]), np.full(17, offsets[row, 0]), 9)
        alone = reference.run(single, {"x": np.ascontiguousarray(x[:, row])})["y"]
        far = alone.astype(np.int64) - values["y"][:, row].astype(np.int64)
        assert np.abs(far).max() <= 1  # factors have as many bits as the greatest one leaves


def rows_of(rng: np.random.Generator, depth: int) -> NDArray[np.int8]:
    """Return rows of all kinds: noise, one value that differs, all the same, the ends."""
    noise = rng.integers(-128, 128, depth)
    single = np.where(np.arange(depth) == depth // 2, 5, 4)
    return np.array(
        [noise, noise // 30, single, np.full(depth, -128), np.where(noise > 0, 127, -128)], np.int8
    )


@pytest.mark.parametrize("depth", DEPTHS)
@seeded(144)
def test_rows(seed: int, depth: int, counted: Counted) -> None:
    if counted("LAYER_NORMALIZATION"):
        return
    rng = np.random.default_rng((seed, depth))
    factors = rng.normal(0, 10.0 ** rng.uniform(-3, 2), depth)
    offsets = rng.normal(0, 30, depth)
    added = int(rng.choice((0, 1, depth**2 // 50, depth**2 * 1000)))
    x = rows_of(rng, depth)
    graph = network(len(x), depth, factors, offsets, added)
    (op,) = graph.operators
    LAYER_NORMALIZATION.check(op, graph)
    values = reference.run(graph, {"x": x})
    hold(LAYER_NORMALIZATION.lower(op, graph), values, values["y"], interpreted=depth < 40)
    wide = x.astype(np.float64)
    far = depth * wide - wide.sum(axis=1, keepdims=True)
    spread = depth * (wide**2).sum(axis=1, keepdims=True) - wide.sum(axis=1, keepdims=True) ** 2
    exact = far / np.sqrt(np.maximum(spread + added, 1)) * factors + offsets
    assert np.abs(values["y"] - exact.clip(-128, 127)).max() < 0.51


@pytest.mark.parametrize(
    ("depth", "added", "shift", "fault"),
    [
        (65537, 1, None, "may be 1 to 65536"),
        (8, -1, None, "out of range"),
        (8, 2**44 + 1, None, "out of range"),
        (8, 1, 15, "out of range"),
        (8, 1, 47, "out of range"),
    ],
)
def test_refusals(depth: int, added: int, shift: int | None, fault: str) -> None:
    graph = network(1, depth, np.ones(depth), np.zeros(depth), added, shift)
    with pytest.raises(ModelError, match=fault):
        LAYER_NORMALIZATION.check(graph.operators[0], graph)


def test_what_is_too_large_has_no_fixed_point() -> None:
    assert to_fixed_point(np.array([2.0**24]), np.zeros(1)) is None
    assert to_fixed_point(np.ones(1), np.array([4096.0])) is None
    assert to_fixed_point(np.array([np.inf]), np.zeros(1)) is None
    assert to_fixed_point(np.array([2.0**24 - 2]), np.array([4095.0])) is not None
