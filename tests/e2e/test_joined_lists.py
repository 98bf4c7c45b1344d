# SPDX-License-Identifier: Apache-2.0
"""P10: an engine goes from one operator to the next by itself, and what it does is judged."""

from itertools import pairwise
from pathlib import Path

import pytest

from atoll.artifacts.samples import random_samples
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.resolve import load_soc
from atoll_sim.backends.session import AcceleratorKind, CpuKind
from atoll_sim.engines.reef.descriptor import Link
from atoll_sim.runs.checked_run import Outcome, run_models

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"
LINK = "atoll_sim.engines.reef.emitter.ReefEmitter.link"
PLAYED = (
    (CpuKind.RTL, AcceleratorKind.RTL),
    (CpuKind.RTL, AcceleratorKind.MODEL),
    (CpuKind.ISS, AcceleratorKind.RTL),
    (CpuKind.ISS, AcceleratorKind.MODEL),
    (CpuKind.NATIVE, AcceleratorKind.MODEL),
)

pytestmark = pytest.mark.rtl


def run(cpu: CpuKind, accelerator: AcceleratorKind, *overrides: str) -> Outcome:
    model = compile_file(load_soc("lagoon", overrides), DIGITS, BuildOptions())
    samples = random_samples(model.graph, 2)
    (outcome,) = run_models([model], [samples], cpu=cpu, accelerator=accelerator)
    return outcome


@pytest.mark.parametrize(("cpu", "accelerator"), PLAYED)
def test_every_operator_is_compared_and_judged(cpu: CpuKind, accelerator: AcceleratorKind) -> None:
    report = run(cpu, accelerator).report
    assert report.passed
    assert report.layers_compared == 2 * 10


@pytest.mark.parametrize(("cpu", "accelerator"), PLAYED[:-1])
def test_one_begins_as_the_one_before_ends(cpu: CpuKind, accelerator: AcceleratorKind) -> None:
    listed = run(cpu, accelerator).report.by_layer
    assert len(listed) == 9
    for before, layer in pairwise(listed):
        assert layer.begin == before.begin + before.cycles


def test_a_core_begins_when_the_list_before_has_ended() -> None:
    outcome = run(CpuKind.RTL, AcceleratorKind.RTL, "devices.npu.params.vector=1")
    *listed, softmax = outcome.report.by_layer
    assert outcome.report.passed
    assert len(listed) == 8
    assert softmax.begin > listed[-1].begin + listed[-1].cycles


def test_a_link_that_leaves_an_operator_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = compile_file(load_soc("lagoon"), DIGITS, BuildOptions())
    lists = [each.address for each in model.contract.successions]

    def wrong(self: object, address: int, count: int) -> bytes:
        return Link(address=lists[3] if address == lists[2] else address, count=count).encode()

    monkeypatch.setattr(LINK, wrong)
    report = run(CpuKind.RTL, AcceleratorKind.RTL).report
    assert not report.bit_exact
    assert "wrong operator" in {each.rule for each in report.violations}
