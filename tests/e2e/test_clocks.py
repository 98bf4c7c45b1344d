# SPDX-License-Identifier: Apache-2.0
"""Devices with clocks of their own: the same bytes, no finding, and times that fit the clocks."""

from pathlib import Path

import pytest
from tests.effort import in_gate
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.driver.pipeline import BuildOptions, compile_file
from atoll.report.result import RunReport
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
SHORE = str(ROOT / "tests" / "data" / "shore.yaml")
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"

pytestmark = pytest.mark.rtl


def ran(soc: str, *overrides: str, place: tuple[str, ...] = ()) -> RunReport:
    """Return the report of digits in RTL, which passed."""
    options = BuildOptions(requests=load_requests(None, place))
    compiled = compile_file(load_soc(soc, overrides), DIGITS, options)
    sample = random_sample(compiled.graph)
    rtl = AcceleratorKind.RTL
    report = run_models((compiled,), (sample,), cpu=CpuKind.RTL, accelerator=rtl)[0].report
    assert report.passed
    assert report.accesses > 0
    return report


@pytest.mark.slow
def test_three_clocks_and_memories_at_several_addresses_are_right() -> None:
    report = ran(SHORE, "devices.npu.params.vector=1")  # SOFTMAX on the core
    clocks = {layer.device: layer.clock for layer in report.by_layer}
    assert clocks == {"cpu": 160_000_000, "npu": 4 * 10**8, "dma": 2 * 10**8}
    assert report.host_clock == 160_000_000


@pytest.mark.parametrize("clock", in_gate(["2.5 MHz", "97.3 MHz", "250 MHz", "1 GHz"], 1))
def test_any_ratio_of_clocks_is_right(clock: str) -> None:
    """All ratios run on one model, the slowest that the bus has patience for included."""
    report = ran(SHORE, f"devices.npu.clock={clock}")
    npu = [layer for layer in report.by_layer if layer.device == "npu"]
    assert npu
    for layer in npu:
        assert layer.device_cycles == layer.worked * layer.clock // report.host_clock


@pytest.mark.slow
def test_a_second_core_with_a_clock_of_its_own_is_right() -> None:
    report = ran("twin", "devices.dsp.clock=62.7 MHz", place=("add_3=dsp", "softmax_9=dsp"))
    assert {layer.clock for layer in report.by_layer if layer.device == "dsp"} == {62_700_000}


def test_a_slower_engine_takes_longer_by_its_clock() -> None:
    """What a depthwise layer computes takes the time of the engine's cycles."""
    slow, fast = (
        next(each for each in report.by_layer if each.kind == "depthwise_conv_2d")
        for report in (ran(SHORE, f"devices.npu.clock={mhz} MHz") for mhz in (5, 10))
    )
    assert slow.worked == pytest.approx(2 * fast.worked, rel=0.1)
    assert slow.estimate == pytest.approx(slow.cycles, rel=0.1)
