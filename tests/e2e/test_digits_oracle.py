# SPDX-License-Identifier: Apache-2.0
"""Every held-out digit gets the scores of the reference runtime, and mostly the right class."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.tflm_process import TFLM

from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models

EXAMPLE = Path(__file__).parents[2] / "examples" / "01_digits"
MODEL = EXAMPLE / "digits_int8.tflite"
LEAST_ACCURACY = 0.97


@pytest.fixture(scope="module")
def held_out() -> tuple[NDArray[np.int8], NDArray[np.uint8]]:
    """Samples, int8 [N, 8, 8, 1], and their classes."""
    with np.load(EXAMPLE / "digits_test.npz") as arrays:
        return arrays["x"], arrays["y"]


@pytest.fixture(scope="module")
def outcome(held_out: tuple[NDArray[np.int8], NDArray[np.uint8]]) -> Outcome:
    """All samples on the native core with the accelerator's model."""
    compiled = compile_file(load_soc("lagoon"), MODEL)
    (name,) = compiled.graph.inputs
    samples = [{name: digit[np.newaxis]} for digit in held_out[0]]
    return run_models(
        (compiled,), (samples,), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )[0]


@pytest.fixture(scope="module")
def scores(outcome: Outcome) -> NDArray[Any]:
    """Scores of all samples, int8 [N, 10]."""
    return np.concatenate([array for sample in outcome.outputs for array in sample.values()])


def test_every_layer_of_every_sample_is_exact(outcome: Outcome) -> None:
    report = outcome.report
    assert report.passed
    assert report.samples >= 300
    assert report.layers_equal == report.layers_compared > 0


def test_every_sample_equals_the_reference_runtime(
    held_out: tuple[NDArray[np.int8], NDArray[np.uint8]], scores: NDArray[Any]
) -> None:
    pytest.importorskip("tflite_micro", reason="needs the wheel tflite-micro")
    samples = [[digit[np.newaxis]] for digit in held_out[0]]
    for number, (expected,) in enumerate(TFLM.run(MODEL.read_bytes(), samples, [0])):
        np.testing.assert_array_equal(scores[number], expected[0], err_msg=f"sample {number}")


def test_almost_every_class_is_right(
    held_out: tuple[NDArray[np.int8], NDArray[np.uint8]], scores: NDArray[Any]
) -> None:
    right = scores.argmax(axis=1) == held_out[1]
    assert right.mean() >= LEAST_ACCURACY
