# SPDX-License-Identifier: Apache-2.0
"""A network goes unasked to the faster of two unlike cores, and computes the same there."""

from pathlib import Path

import pytest

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
UNLIKE = str(ROOT / "tests" / "data" / "unlike.yaml")


@pytest.mark.parametrize(
    "cpu", [CpuKind.ISS, pytest.param(CpuKind.RTL, marks=[pytest.mark.slow, pytest.mark.rtl])]
)
def test_the_faster_core_computes_the_same(cpu: CpuKind) -> None:
    program = compile_file(load_soc(UNLIKE, ()), DIGITS)
    samples = random_sample(program.graph)
    (outcome,) = run_models((program,), (samples,), cpu=cpu, accelerator=AcceleratorKind.MODEL)
    report = outcome.report
    assert (report.mismatches, report.violations, report.notes) == ((), (), ())
    assert {layer.device for layer in report.by_layer} == {"quick"}
