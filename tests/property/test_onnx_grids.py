# SPDX-License-Identifier: Apache-2.0
"""Results that meet several grids behind what only hands values on: a step from onnxruntime."""

from collections import Counter
from pathlib import Path

import numpy as np
from tests.effort import cases, seeded
from tests.onnx_builder import Builder, Grid, steps_between
from tests.onnx_grids import MOST_REFUSED, differences

FINE, COARSE = Grid("int8", 0.002, 0), Grid("int8", 0.1, 5)


@seeded(600, first=300)
def test_one_step_from_onnxruntime(seed: int, tmp_path: Path) -> None:
    steps = differences(seed, tmp_path / "built.onnx")
    assert isinstance(steps, str) or steps.max() <= 1


def test_few_are_refused(tmp_path: Path) -> None:
    count = cases(100)
    found = Counter(type(differences(seed, tmp_path / "built.onnx")) for seed in range(count))
    assert found[str] <= MOST_REFUSED * count


def test_a_sum_that_is_split(tmp_path: Path) -> None:
    b = Builder()
    total = b.node("Add", [b.x((1, 4, 5, 5)), b.x((1, 4, 5, 5))])
    halves = b.many("Split", [total, b.plain([2, 2])], 2, axis=1)
    made = [b.quantized(half, to) for half, to in zip(halves, (FINE, COARSE), strict=True)]
    assert steps_between(b, made, tmp_path / "built.onnx").max() <= 1


def test_a_pooled_convolution_that_two_read(tmp_path: Path) -> None:
    b = Builder()
    made = b.node("Conv", [b.x((1, 4, 5, 5)), b.weights((4, 4, 1, 1), 0)])
    made = b.node("MaxPool", [made], kernel_shape=[2, 2])
    both = [b.quantized(made, to) for to in (FINE, COARSE)]
    assert steps_between(b, both, tmp_path / "built.onnx").max() <= 1


def test_joined_values_that_are_reshaped_and_split(tmp_path: Path) -> None:
    b = Builder()
    made = b.node("Concat", [b.x((1, 2, 5, 5)), b.x((1, 2, 5, 5))], axis=1)
    made = b.node("Reshape", [made, b.plain([1, 4, 25])])
    halves = b.many("Split", [made, b.plain([2, 2])], 2, axis=1)
    both = [b.quantized(half, to) for half, to in zip(halves, (FINE, COARSE), strict=True)]
    assert steps_between(b, both, tmp_path / "built.onnx").max() <= 1


def test_a_bound_beside_the_grid_of_what_is_clamped(tmp_path: Path) -> None:
    """A convolution reads the bound itself, not the step nearest to it."""
    b = Builder()
    x = b.x((1, 8, 4, 4), Grid("int8", 0.04, 0))
    made = b.node("Clip", [x, b.plain(-0.01, "float32"), b.plain(0.06, "float32")])
    made = b.node("Conv", [made, b.weights((2, 8, 3, 3))])
    to = b.suited(made)
    steps = steps_between(b, [b.quantized(made, to)], tmp_path / "built.onnx")
    assert steps.max() <= 1, np.bincount(steps)
