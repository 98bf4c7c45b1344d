# SPDX-License-Identifier: Apache-2.0
"""Constants that are copied ahead: what can be, what is worth it, and what is computed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.streaming import CHIP, Layer, network, streaming

from atoll.artifacts.samples import random_sample
from atoll.cost.network import cycles_of
from atoll.driver.compiled import Compiled
from atoll.driver.pipeline import compile_file
from atoll.ops import reference
from atoll.ops.registry import COPY, RELAYOUT
from atoll.report.estimates import estimates_of
from atoll.report.explanation import explanation
from atoll.resolve import load_soc
from atoll.stream import channel_parts
from atoll.stream.channel_parts import counts_of, mover_of_parts, relayout_of, with_parts
from atoll.stream.choose import Chooser
from atoll_sim.backends.session import AcceleratorKind, CpuKind
from atoll_sim.runs.checked_run import run_models

SMALL: tuple[Layer, ...] = ((64, 3, 1), (64, 3, 1), (32,), (10,))
IMAGE = (1, 8, 8, 32)
LITTLE_ROOM = "pools.shared.size=48 KiB"
UNREACHED = "pools.external.reach.npu=none"


def compiled(
    folder: Path, word: str, *settings: str, layers: tuple[Layer, ...] = SMALL
) -> Compiled:
    path = folder / "network.tflite"
    path.write_bytes(network(IMAGE, layers))
    return compile_file(load_soc(str(CHIP), settings), path, streaming(word))


def runs(made: Compiled) -> None:
    (run,) = run_models(
        (made,), (random_sample(made.graph),), cpu=CpuKind.NATIVE, accelerator=AcceleratorKind.MODEL
    )
    assert run.report.passed, (run.report.mismatches, run.report.violations)


def order(made: Compiled) -> list[str]:
    """Return what begins and ends, in order."""
    return [f"{str(s.action).split()[0]} {s.operator}" for s in made.module.entry.steps]


def test_constants_are_copied_once_and_read_from_the_copy(tmp_path: Path) -> None:
    made = compiled(tmp_path, "always", "memories.external.read_latency=8")
    operators = {op.name: op for op in made.graph.operators}
    op, copy = operators["conv_2d_0"], operators["copy_0"]
    assert (copy.kind, copy.device) == (COPY, "dma")
    assert op.packed == ("conv_2d_0_weights_streamed", "conv_2d_0_parameters_streamed")
    assert {made.graph.storage(name) for name in op.packed} == {*copy.outputs}
    weights, parameters = (made.plan.placements[name] for name in op.packed)
    assert (weights.pool, parameters.pool) == ("shared", "shared")
    assert made.plan.placements["conv_2d_0_constants"].pool == "external"
    assert not made.jobs["conv_2d_0"].constants
    touched = {name for step in made.module.entry.steps for name in step.reads}
    assert "conv_2d_0_weights" not in touched
    runs(made)


def test_a_copy_runs_while_the_operator_before_computes(tmp_path: Path) -> None:
    events = order(compiled(tmp_path, "always", LITTLE_ROOM))
    assert events.index("start conv_2d_0") < events.index("run copy_1")
    assert events.index("run copy_1") < events.index("wait conv_2d_0")
    assert events.index("run copy_1") < events.index("start conv_2d_1_part0")


def test_what_is_too_large_is_cut_by_output_channels(tmp_path: Path) -> None:
    made = compiled(tmp_path, "always", LITTLE_ROOM)
    streams = {each.operator: each for each in made.streaming.streams}
    assert streams["conv_2d_1"].parts == 2
    assert [op.kind for op in made.graph.operators if op.name == "conv_2d_1_join"] == [RELAYOUT]
    largest = max(tensor.size for tensor in made.graph.tensors if tensor.name.endswith("streamed"))
    assert 2 * largest <= 48 * 1024
    runs(made)


@pytest.mark.parametrize("name", ["conv_2d_1", "fully_connected_2"])
def test_parts_compute_what_the_operator_computes(name: str, tmp_path: Path) -> None:
    whole = compiled(tmp_path, "never")
    (op,) = (each for each in whole.graph.operators if each.name == name)
    (sample,) = random_sample(whole.graph)
    right = reference.run(whole.graph, sample)
    counts = counts_of(op, whole.graph)
    assert counts[:2] == (1, 2)
    for count in counts[1:]:
        cut, parts = with_parts(whole.graph, whole.soc, name, count)
        assert len(parts) == count
        made = reference.run(cut, sample)
        np.testing.assert_array_equal(made[op.outputs[0]], right[op.outputs[0]])


@pytest.mark.parametrize(
    ("changes", "covers", "mover"),
    [(True, True, "dma"), (True, False, "cpu"), (False, True, "cpu"), (False, False, "cpu")],
)
def test_parts_are_joined_by_an_engine_that_can_and_gets_there(
    changes: bool, covers: bool, mover: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = compiled(tmp_path, "never")
    assert whole.soc.host == "cpu"
    monkeypatch.setattr(channel_parts, "changes_layouts", lambda dma: changes)
    monkeypatch.setattr(channel_parts, "covers", lambda *_: covers)
    op = next(each for each in whole.graph.operators if each.name == "conv_2d_1")
    move, graph = relayout_of(op, whole.graph, 2)
    assert mover_of_parts(move, graph, whole.soc, op.device) == mover


def test_scales_go_with_their_channels(tmp_path: Path) -> None:
    whole = compiled(tmp_path, "never").graph
    (op,) = (each for each in whole.operators if each.name == "conv_2d_1")
    weights = whole.tensor(op.inputs[1])
    assert weights.quantization
    scales = tuple((1 + number) * 1e-4 for number in range(64))
    quantization = replace(weights.quantization, scales=scales, zero_points=(0,) * 64)
    tensors = tuple(
        replace(each, quantization=quantization) if each.name == weights.name else each
        for each in whole.tensors
    )
    graph = replace(whole, tensors=tensors)
    cut, _ = with_parts(graph, load_soc(str(CHIP)), "conv_2d_1", 4)
    (sample,) = random_sample(graph)
    right, made = (reference.run(each, sample) for each in (graph, cut))
    np.testing.assert_array_equal(made[op.outputs[0]], right[op.outputs[0]])


def test_only_what_is_worth_it_is_streamed(tmp_path: Path) -> None:
    near = ("memories.external.read_latency=1", "memories.external.width=8")
    made = compiled(tmp_path, "auto", *near)
    assert made.streaming.possible
    assert not made.streaming.chosen
    assert not any(op.kind == COPY for op in made.graph.operators)
    deep: tuple[Layer, ...] = ((64, 3, 1), (64, 3, 1), (128, 3, 1), (128, 3, 2))
    made = compiled(tmp_path, "auto", layers=deep)
    story = explanation(made).streaming
    assert story is not None
    assert story.streaming.direct is not None
    assert story.cycles < story.streaming.direct
    assert story.streaming.chosen
    never = compiled(tmp_path, "never", layers=deep)
    assert never.streaming.streams == ()
    assert explanation(never).streaming is None


def test_what_is_copied_is_read_from_the_copy_by_estimate(tmp_path: Path) -> None:
    made = compiled(tmp_path, "always")
    cycles = cycles_of(made.graph, made.soc)
    assert cycles_of(made.graph, made.soc, constants={"conv_2d_0": "external"}) == cycles
    whole = compiled(tmp_path, "never")
    far = cycles_of(whole.graph, whole.soc, constants={"conv_2d_0": "external"})
    assert far["conv_2d_0"] > cycles["conv_2d_0"] * 1.1


def test_what_an_accelerator_does_not_reach_is_brought_to_it(tmp_path: Path) -> None:
    settings = (UNREACHED, "pools.weights.size=8 KiB")
    without = compiled(tmp_path, "never", *settings)
    assert "cpu" in {op.device for op in without.graph.operators}
    made = compiled(tmp_path, "auto", *settings)
    assert made.streaming.direct is None
    assert {op.device for op in made.graph.operators} == {"npu", "dma"}
    runs(made)


def test_parts_keep_to_the_limits_of_their_accelerator(tmp_path: Path) -> None:
    chip = load_soc(str(CHIP), (LITTLE_ROOM,))
    whole = compiled(tmp_path, "never", LITTLE_ROOM)
    npu = next(each for each in chip.npus)

    def parts(least: int) -> dict[str, int]:
        supports = tuple(
            replace(each, limits={**each.limits, "out_channels": (least, 64)})
            for each in npu.spec.operators
        )
        limited = replace(npu, spec=replace(npu.spec, operators=supports))
        devices = tuple(limited if each.name == npu.name else each for each in chip.devices)
        chooser = Chooser(whole.graph, replace(chip, devices=devices), whole.homes)
        return {each.stream.operator: each.stream.parts for each in chooser.possible}

    assert parts(1)["conv_2d_1"] == parts(32)["conv_2d_1"] == 2
    assert parts(33)["conv_2d_1"] == 1


def test_without_a_dma_engine_that_moves_so_nothing_is_streamed(tmp_path: Path) -> None:
    made = compiled(tmp_path, "always", "devices.dma.moves=[[sram, sram]]")
    assert made.streaming.possible == ()


def test_the_story_is_told_to_people_and_programs(tmp_path: Path) -> None:
    told = explanation(compiled(tmp_path, "always", LITTLE_ROOM))
    assert "Constants copied ahead" in told.text()
    streaming_told = told.as_json()["streaming"]
    assert isinstance(streaming_told, dict)
    first = streaming_told["operators"][0]
    assert (first["operator"], first["source"], first["target"], first["mover"]) == (
        *("conv_2d_0", "external", "shared", "dma"),
    )
    assert first["size_bytes"] == 64 * 32 * 9 + 64 * 16


def test_estimates_count_the_bytes_where_they_are_read(tmp_path: Path) -> None:
    made = compiled(tmp_path, "always", LITTLE_ROOM)
    (estimate,) = estimates_of((made,))
    layers = {each.operator: each for each in estimate.layers}
    moved = {each.memory: each for each in layers["conv_2d_1_part0"].traffic}
    weights = 32 * 64 * 9
    assert moved["sram"].read > weights
    assert moved["sram"].written == 8 * 8 * 32
    assert moved["external"].read == 64  # its command
    copy = {each.memory: each for each in layers["copy_1"].traffic}
    assert copy["sram"].written == weights + 32 * 16
