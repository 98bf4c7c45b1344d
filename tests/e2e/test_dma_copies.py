# SPDX-License-Identifier: Apache-2.0
"""Private memories and a DMA engine: digits with all copies on it, some beside computing."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atoll.artifacts.build_tree import build, interface_of
from atoll.artifacts.samples import Sample
from atoll.cli import main
from atoll.contract.contract import Span
from atoll.driver.pipeline import Compiled, compile_file
from atoll.frontend.tflite.load import load_tflite
from atoll.ir.tir import AcceleratorStart, AcceleratorWait
from atoll.place.copy_engines import assign_copies
from atoll.place.plan_devices import plan_devices
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll_sim.chip.plan import merge_spans
from atoll_sim.protocol.records import AccessKind
from atoll_sim.runs.checked_run import AcceleratorKind, CpuKind, run_models
from atoll_sim.simulate.rtl_run import run_firmware
from atoll_sim.trace.findings import violations
from atoll_sim.trace.simulation import SimResult, Touched

ROOT = Path(__file__).parents[2]
ISLANDS = str(ROOT / "tests" / "data" / "islands_dma.yaml")
DIGITS = ROOT / "examples" / "01_digits"
MODEL = str(DIGITS / "digits_int8.tflite")
SAMPLES = 2


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return compile_file(load_soc(ISLANDS), Path(MODEL))


@pytest.fixture(scope="module")
def samples(compiled: Compiled) -> tuple[Sample, ...]:
    (name,) = compiled.graph.inputs
    images = np.load(DIGITS / "digits_test.npz")["x"][:SAMPLES]
    return tuple({name: image.reshape(compiled.graph.tensor(name).shape)} for image in images)


@pytest.fixture(scope="module")
def result(
    compiled: Compiled, samples: tuple[Sample, ...], tmp_path_factory: pytest.TempPathFactory
) -> SimResult:
    """Return what the RTL did."""
    tree = build((compiled,), tmp_path_factory.mktemp("dma") / "build")
    return run_firmware((compiled,), (tree.firmware.elf,), (samples,))


def copied(compiled: Compiled, result: SimResult) -> list[Touched]:
    """Return what the engine wrote, phase by phase."""
    (dma,) = compiled.soc.dmas
    touched = [touch for phase in result.phases for touch in phase.touched]
    return [t for t in touched if t.master == dma.name and t.kind is AccessKind.WRITE]


def destinations(compiled: Compiled) -> list[Span]:
    copies = [op.name for op in compiled.graph.operators if op.kind == "copy"]
    phases = compiled.contract.phases.values()
    return [span for phase in phases if phase.operator in copies for span in phase.writes]


def test_p6_the_model_of_the_engine_copies_bit_exactly(
    compiled: Compiled, samples: tuple[Sample, ...]
) -> None:
    kinds = {"cpu": CpuKind.NATIVE, "accelerator": AcceleratorKind.MODEL}
    assert run_models((compiled,), (samples,), **kinds)[0].report.passed  # type: ignore[arg-type]


def test_p6_the_run_function_is_handed_the_engine(compiled: Compiled) -> None:
    assert interface_of(compiled).devices == ("npu_a", "npu_b", "dma")


def test_p3_planning_copies_of_the_engine_again_changes_nothing() -> None:
    soc = load_soc(ISLANDS)
    graph = assign_copies(plan_devices(load_tflite(Path(MODEL)), soc).graph, soc)
    assert plan_devices(graph, soc).graph == graph


def test_c5_explain_knows_who_touches_a_copy(compiled: Compiled) -> None:
    found = {story.name: story for story in explanation(compiled).buffers}
    copies = [op.outputs[0] for op in compiled.graph.operators if op.kind == "copy"]
    for name in set(copies) - set(compiled.graph.outputs):
        assert found[name].what == "copy"
        assert found[name].uses[0].device == "dma"
        assert explanation(compiled).text(name)


@pytest.mark.slow
@pytest.mark.rtl
def test_p6_copies_on_the_engine_are_bit_exact_and_overlap(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", ISLANDS, MODEL, "--json"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["bit_exact"] is True
    assert report["placement"]["violations"] == []
    layers = report["cycles"]["by_layer"]
    copies = [layer for layer in layers if layer["kind"] == "copy"]
    assert len(copies) == 10
    assert {layer["device"] for layer in copies} == {"dma"}
    spent = max(layer["end"] for layer in layers) - min(layer["begin"] for layer in layers)
    assert report["cycles"]["working"] < sum(report["cycles"]["by_device"].values())
    assert report["cycles"]["working"] < spent
    beside = [
        (copy["operator"], other["operator"])
        for copy in copies
        for other in layers
        if other["device"] != "dma"
        and max(copy["begin"], other["begin"])
        < min(layer["begin"] + layer["worked"] for layer in (copy, other))
    ]
    assert beside
    assert report["cycles"]["overlapped"] > 0


@pytest.mark.rtl
def test_p5_the_engine_writes_exactly_the_bytes_of_the_plan(
    compiled: Compiled, result: SimResult
) -> None:
    expected = destinations(compiled)
    written = copied(compiled, result)
    assert sum(t.transferred for t in written) == SAMPLES * sum(span.size for span in expected)
    spans = merge_spans(span for touch in written for span in touch.spans)
    assert spans == merge_spans(range(span.address, span.end) for span in expected)


@pytest.mark.rtl
def test_p6_several_operators_are_under_way_at_once(compiled: Compiled, result: SimResult) -> None:
    shared = [phase.operators for phase in result.phases if len(phase.operators) > 1]
    devices = [{compiled.graph.operators[number].device for number in each} for each in shared]
    assert all(len(found) == 2 and "dma" in found for found in devices)
    beside, waiting = set[int](), set[int]()
    for step in compiled.module.entry.steps:
        if isinstance(step.action, AcceleratorWait):
            waiting.discard(step.number)
            continue
        beside |= {step.number, *waiting} if waiting else set()
        waiting |= {step.number} if isinstance(step.action, AcceleratorStart) else set()
    assert {number for each in shared for number in each} == beside
    assert len(shared) == SAMPLES * (len(beside) - 1), "the first one begins alone"


@pytest.mark.rtl
def test_p6_a_copy_to_other_bytes_is_noticed(
    compiled: Compiled, samples: tuple[Sample, ...], result: SimResult, tmp_path: Path
) -> None:
    """Held against a plan that promises less, the same run breaks it."""
    assert violations(result) == ()
    number, phase = next(
        (number, phase)
        for number, phase in compiled.contract.phases.items()
        if phase.device == "dma"
    )
    promised = {**compiled.contract.phases, number: replace(phase, writes=())}
    changed = replace(compiled, contract=replace(compiled.contract, phases=promised))
    tree = build((compiled,), tmp_path / "build")
    found = violations(run_firmware((changed,), tree.firmware.elves, (samples,)))
    rules = {v.rule for v in found if v.device == "dma" and v.operator == phase.operator}
    assert rules == {"outside any live buffer", "copy moved other bytes"}
