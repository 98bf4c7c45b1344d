# SPDX-License-Identifier: Apache-2.0
"""Operators with windows, of 16 bits, that reduce, that move, of what is computed, in full RTL."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.differential.oracle import random_inputs
from tests.effort import in_gate
from tests.operator_samples import computed, moves, picks, sixteen_bits, windows_and_reductions
from tests.requests import load_requests

from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

SAMPLES = (windows_and_reductions, sixteen_bits, moves, picks, computed)


@pytest.mark.parametrize("overlap", ["none", "free", "all"])
@pytest.mark.parametrize("chip", ["atoll2", "twin"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_results_over_operands(
    sample: Callable[[ModuleType], Any],
    chip: str,
    overlap: str,
    tmp_path: Path,
    tflite_builder: ModuleType,
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
@pytest.mark.parametrize("chip", in_gate(["lagoon", "twin"], 0))
@pytest.mark.parametrize("sample", SAMPLES)
def test_in_full_rtl(
    sample: Callable[[ModuleType], Any], chip: str, tmp_path: Path, tflite_builder: ModuleType
) -> None:
    path = tmp_path / "network.tflite"
    path.write_bytes(tflite_builder.write(sample(tflite_builder)))
    compiled = compile_file(load_soc(chip), path, BuildOptions())
    (outcome,) = run_models((compiled,), (random_inputs(compiled.graph, 1, 1),))
    assert outcome.report.passed
    assert outcome.report.layers_compared >= len(compiled.graph.operators)
