# SPDX-License-Identifier: Apache-2.0
"""What `quantize_static` makes in its modes: each value a step from onnxruntime, or refused."""

import logging
from pathlib import Path

import pytest
from tests.effort import seeded
from tests.onnx_quantised import verdict


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)


@seeded(200, first=40)
def test_one_step_from_onnxruntime(seed: int, tmp_path: Path) -> None:
    made = verdict(seed, tmp_path)
    assert isinstance(made, list) or made.passed, str(made)
