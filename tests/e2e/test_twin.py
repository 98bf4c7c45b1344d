# SPDX-License-Identifier: Apache-2.0
"""The chip with two cores, two accelerators and a DMA engine, all in RTL."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from atoll.driver.pipeline import Compiled, compile_file
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, Outcome, run_models

pytestmark = pytest.mark.rtl

DIGITS = Path(__file__).parents[2] / "examples" / "01_digits"


@dataclass(frozen=True, slots=True)
class Ran:
    """A network and what came of it."""

    compiled: Compiled
    outcome: Outcome


def ran(model: Path, image: NDArray[np.int8]) -> Ran:
    compiled = compile_file(load_soc("twin"), model)
    name = compiled.graph.inputs[0]
    sample = {name: image.reshape(compiled.graph.tensor(name).shape)}
    (outcome,) = run_models(
        (compiled,), ([sample],), cpu=CpuKind.RTL, accelerator=AcceleratorKind.RTL
    )
    return Ran(compiled, outcome)


@pytest.fixture(scope="module")
def digits() -> Ran:
    return ran(DIGITS / "digits_int8.tflite", np.load(DIGITS / "digits_test.npz")["x"][0])


def test_digits_are_bit_exact_and_nothing_is_out_of_place(digits: Ran) -> None:
    report = digits.outcome.report
    assert (report.mismatches, report.violations, report.notes) == ((), (), ())
    assert report.passed
    used = {op.device for op in digits.compiled.graph.operators}
    assert used >= {"cpu", "npu_large", "npu_small", "dma"}


def test_p6_a_copy_runs_while_an_accelerator_computes(digits: Ran) -> None:
    report = digits.outcome.report
    copies = [layer for layer in report.by_layer if layer.device == "dma"]
    others = [layer for layer in report.by_layer if layer.device.startswith("npu")]
    shared = [
        min(copy.begin + copy.worked, other.begin + other.worked) - max(copy.begin, other.begin)
        for copy in copies
        for other in others
    ]
    assert sum(max(0, cycles) for cycles in shared) > 500
    parts = sum(report.concurrency.by_device.values())
    assert report.concurrency.working == parts - report.concurrency.saved < parts


def test_kws_equals_the_goldens(shared_models: Path) -> None:
    golden = np.load(shared_models / "golden" / "kws_ref_model.npz")
    kws = ran(shared_models / "kws_ref_model.tflite", golden["inputs"][0])
    report = kws.outcome.report
    assert (report.mismatches, report.violations) == ((), ())
    assert report.passed
    output = kws.outcome.outputs[0][kws.compiled.graph.outputs[0]]
    assert output.tobytes() == golden["outputs_tflm"][0].tobytes()
