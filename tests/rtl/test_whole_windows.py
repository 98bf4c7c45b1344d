# SPDX-License-Identifier: Apache-2.0
"""Windows over a whole image, or over rows of it, between operators of a systolic array."""

import sys
from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_graph
from atoll.resolve import load_soc
from atoll_sim.accelerator_test.accelerator_kit import NOWHERE
from atoll_sim.core_calibration.random_layers import random_network
from atoll_sim.runs.checked_run import run_models

pytestmark = pytest.mark.rtl
FOLDER = Path(__file__).parents[2] / "examples" / "11_systolic_array"


@pytest.mark.parametrize(
    "seed", [22258, *(pytest.param(each, marks=pytest.mark.slow) for each in (22580, 24318, 25192))]
)
def test_patches_of_whole_images_are_no_images(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their elements come in one order, and are blocks of other channels."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    compiled = compile_graph(load_soc(FOLDER / "chip.yaml"), random_network(seed), NOWHERE)
    (outcome,) = run_models([compiled], [random_sample(compiled.graph)])
    assert (outcome.report.mismatches, outcome.report.violations) == ((), ())
