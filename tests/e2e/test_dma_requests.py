# SPDX-License-Identifier: Apache-2.0
"""P1, P6: pins and wishes for devices on a chip whose memories only a DMA engine connects."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.requests import load_requests

from atoll.artifacts.samples import random_sample
from atoll.cli import main
from atoll.driver.pipeline import BuildOptions, Compiled, compile_file
from atoll.place.plan_devices import plan_devices
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models

ROOT = Path(__file__).parents[2]
ISLANDS = ROOT / "tests" / "data" / "islands_dma.yaml"
DIGITS = ROOT / "examples" / "01_digits" / "digits_int8.tflite"

Wishes = tuple[tuple[str, ...], tuple[str, ...]]

# Operators and pins asked for, and the copies that come of it.
WISHES: dict[str, tuple[Wishes, int]] = {
    "nothing": (((), ()), 10),
    "operator to the core": ((("depthwise_conv_2d_1=cpu",), ()), 9),
    "where it is made": (((), ("add_3_out=only_cpu:out",)), 10),
    "into a memory of the core": (((), ("conv_2d_0_out=only_cpu:in",)), 9),
    "input into a memory out of the core's reach": (((), ("image=only_a:in",)), 10),
    "out of the core's reach": (((), ("add_3_out=only_b:in",)), 10),
    "both sides": (((), ("conv_2d_2_out=only_a:out", "conv_2d_2_out=only_cpu:in")), 10),
    "operator and pin": (
        (("depthwise_conv_2d_1=cpu",), ("depthwise_conv_2d_1_out=only_a:in",)),
        9,
    ),
}


def compiled(wishes: Wishes) -> Compiled:
    options = BuildOptions(requests=load_requests(None, *wishes))
    return compile_file(load_soc(str(ISLANDS)), DIGITS, options)


@pytest.mark.parametrize("name", WISHES)
def test_p1_wishes_are_held_and_the_engine_moves_what_they_need(name: str) -> None:
    wishes, count = WISHES[name]
    found = compiled(wishes)
    graph = found.graph
    copies = [op for op in graph.operators if op.kind == "copy"]
    assert ({op.device for op in copies}, len(copies)) == ({"dma"}, count)
    devices = {op.name: op.device for op in graph.operators}
    for operator, _, device in (wish.partition("=") for wish in wishes[0]):
        assert devices[operator] == device
    for tensor, _, place in (pin.partition("=") for pin in wishes[1]):
        pool, _, side = place.partition(":")
        replicas = [op.outputs[0] for op in copies if op.inputs[0] == tensor]
        held = {found.plan.placements[each].pool for each in (tensor, *replicas)}
        assert pool in held, (tensor, side)
    assert plan_devices(graph, found.soc).graph == graph
    assert plan_devices(graph, found.soc, found.options.requests).graph == graph
    kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    assert run_models((found,), (random_sample(graph),), **kinds)[0].report.passed  # type: ignore[arg-type]


def test_c5_explain_shows_a_copy_with_start_and_wait_once() -> None:
    found = compiled(((), ()))
    numbers = [step.number for step in found.module.entry.steps]
    split = {step.operator for step in found.module.entry.steps if numbers.count(step.number) > 1}
    assert split
    for story in explanation(found).buffers:
        operators = [use.operator for use in story.uses if use.step is not None]
        assert len(operators) == len(set(operators)), story.name


@pytest.mark.rtl
def test_p1_a_pin_out_of_the_cores_reach_runs_in_rtl(capsys: pytest.CaptureFixture[str]) -> None:
    wishes = ["--pin", "add_3_out=only_b:in", "--pin", "conv_2d_0_out=only_a:out"]
    assert main(["run", str(ISLANDS), str(DIGITS), *wishes, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["placement"]["violations"] == []
    assert report["cycles"]["at_once"] > 0
