# SPDX-License-Identifier: Apache-2.0
"""Each elementwise kind runs on chips, and in full RTL, as its reference says."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.differential.oracle import random_inputs
from tests.effort import in_gate
from tests.element_samples import elements, wide_elements
from tests.requests import load_requests

from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

Sample = Callable[[ModuleType], Any]


@pytest.mark.parametrize("overlap", ["free", "all"])
@pytest.mark.parametrize("chip", in_gate(["atoll2", "twin"], 1))
@pytest.mark.parametrize("sample", [elements, wide_elements])
def test_results_over_operands(
    sample: Sample, chip: str, overlap: str, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(sample(tflite_builder)))
    options = BuildOptions(requests=load_requests(None, overlap=overlap))
    compiled = compile_file(load_soc(chip), path, options)
    drawn = random_inputs(compiled.graph, 2, 2)
    (outcome,) = run_models(
        (compiled,), (drawn,), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    assert outcome.report.passed


@pytest.mark.rtl
@pytest.mark.parametrize("sample", [elements, wide_elements])
def test_in_full_rtl(sample: Sample, tmp_path: Path, tflite_builder: ModuleType) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(sample(tflite_builder)))
    compiled = compile_file(load_soc("lagoon"), path, BuildOptions())
    (outcome,) = run_models((compiled,), (random_inputs(compiled.graph, 1, 1),))
    assert outcome.report.passed
    assert outcome.report.layers_compared >= len(compiled.graph.operators)
