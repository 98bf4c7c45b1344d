# SPDX-License-Identifier: Apache-2.0
"""The loop program of SOFTMAX and its scalar functions equal the reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.ir.interpreter import interpret

from atoll.ir.tir import Entry, IRModule
from atoll.ops import quantization
from atoll.ops.loops import fixed_point_loops
from atoll.ops.reductions import softmax

Check = Callable[..., None]
FUNCTIONS = (*fixed_point_loops.LIBRARY, *softmax.LIBRARY)
LIBRARY = IRModule("library", FUNCTIONS, Entry((), (), (), (), ()))
EDGES = (-(2**31), -(2**31) + 1, -(2**30), -1, 0, 1, 2**30, 2**31 - 1)


def scalar(name: str, *columns: NDArray[np.int64]) -> list[int | None]:
    rows = zip(*(np.broadcast_arrays(*columns)), strict=True)
    return [interpret(LIBRARY, name, [int(value) for value in row]) for row in rows]


def numbers(seed: int, low: int = -(2**31), high: int = 2**31) -> NDArray[np.int64]:
    drawn = np.random.default_rng(seed).integers(low, high, 300)
    edges = [edge for edge in EDGES if low <= edge < high]
    return np.concatenate([drawn, np.array(edges, np.int64), np.array(edges[::-1], np.int64)])


@pytest.mark.parametrize("depth", [1, 2, 12, 700])
@pytest.mark.parametrize("scale", [0.003, 0.05, 0.8])
def test_softmax(depth: int, scale: float, make: Any, equals_reference: Check) -> None:
    maker = make(depth)
    graph = maker.graph(
        "softmax",
        [maker.activation("x", (3, depth), scale=float(np.float32(scale)))],
        maker.activation("y", (3, depth), scale=1 / 256, zero=-128),
        beta=1.0,
    )
    equals_reference(graph, maker.rng, interpreted=depth < 100)


def test_more_equal_terms_than_the_output_can_share(make: Any, equals_reference: Check) -> None:
    """The scaling then asks for a shift by more than 31 bits."""
    maker = make(0)
    graph = maker.graph(
        "softmax",
        [maker.activation("x", (1, 4095), scale=float(np.float32(1e-6)))],
        maker.activation("y", (1, 4095), scale=1 / 256, zero=-128),
        beta=1.0,
    )
    equals_reference(graph, maker.rng, interpreted=False)


def test_srdhm() -> None:
    a, b = numbers(1), numbers(2)
    assert scalar("srdhm", a, b) == quantization.srdhm(a, b).tolist()


@pytest.mark.parametrize("exponent", [0, 1, 7, 30, 31])
def test_rdbp(exponent: int) -> None:
    x = numbers(3)
    assert scalar("rdbp", x, np.array(exponent)) == quantization.rdbp(x, exponent).tolist()


@pytest.mark.parametrize("shift", [-31, -9, 0, 1, 8, 30])
def test_mbqm(shift: int) -> None:
    x, multiplier = numbers(4), numbers(5, low=0)[:300]
    x = x[: len(multiplier)]
    expected = quantization.mbqm(x, multiplier, shift).tolist()
    assert scalar("mbqm", x, multiplier, np.array(shift)) == expected
    once = quantization.mbqm_once(x, multiplier, shift).tolist()
    assert scalar("mbqm_once", x, multiplier, np.array(shift)) == once


def test_sdhm() -> None:
    a, b = numbers(1), numbers(2)
    assert scalar("sdhm", a, b) == np.minimum(a * b >> 31, 2**31 - 1).tolist()


@pytest.mark.parametrize("right", [1, 2, 9, 22])
@pytest.mark.parametrize("zero_point", [-128, 0, 127])
def test_scaled_right(right: int, zero_point: int) -> None:
    """They are mbqm and mbqm_once with the zero point, where sums with the offset fit 31 bits."""
    multiplier = numbers(8, low=2**30)[:300]
    most = 2**31 - 1 - 129 * 2**right
    near_halves = (2 * np.arange(-70, 70) + 1) * 2**right
    x = np.concatenate([numbers(7, low=-most, high=most + 1), near_halves, [most, -most]])
    x, multiplier = x[-300:], np.resize(multiplier, 300)
    multiplier[::3] = 2**31 - 1
    offset = np.array((2 * zero_point + 1) * 2 ** (right - 1))
    doubled = (2 * multiplier).astype(np.uint32).view(np.int32).astype(np.int64)
    expected = (quantization.mbqm(x, multiplier, -right) + zero_point).tolist()
    assert scalar("scaled_right", x, doubled, np.array(right), offset) == expected
    once = (quantization.mbqm_once(x, multiplier, -right) + zero_point).tolist()
    assert scalar("scaled_right_once", x, doubled, np.array(right), offset) == once


def test_reciprocal() -> None:
    total = numbers(7, low=2**19)
    inverse, exponent = softmax.reciprocal(total)
    headroom = np.array(scalar("headroom", total))
    assert (softmax.SUM_INTEGER_BITS - headroom).tolist() == exponent.tolist()
    assert scalar("reciprocal", total, headroom) == inverse.tolist()
